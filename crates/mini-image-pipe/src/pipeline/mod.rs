//! [`Pipeline`]: the short way in `run`, `builder` and `param`; building here, giving images in `inputs`, running in `execute`, reading in `outputs`, after a fault in `recover`.

mod batch;
mod builder;
mod execute;
mod frame_memory;
mod inputs;
#[cfg(feature = "cuda")]
mod jpeg;
mod on_device;
mod outputs;
mod param;
#[cfg(feature = "profiling")]
mod profile;
mod recover;
mod run;
mod sessions;
mod spread;
mod stream;
mod upkeep;
mod video;
#[cfg(feature = "cuda")]
mod video_decoder;

use std::sync::Arc;

use mip_core::ImageDesc;
use mip_graph::{PipelineSpec, PlanRequest, TaskGraph, TaskHandle, VideoInput};
use mip_ops::{Change, Operator, Value};
use mip_plan::{Plan, TaskId};
use mip_runtime::RunInput;
use mip_runtime::memory::MemoryManager;
use mip_runtime::{DagScheduler, RuntimeError};

use crate::spread::Spread;
use crate::{Device, Error, PipelineConfig};
pub use builder::PipelineBuilder;
pub use frame_memory::FrameMemory;
#[cfg(feature = "cuda")]
pub use jpeg::{DeviceJpegDecoder, DeviceJpegLane};
pub use on_device::DeviceRun;
use outputs::Results;
pub use param::{Param, ParamType};
pub(crate) use recover::cause;
use sessions::Sessions;
pub use stream::{
    FrameError, FrameResult, FrameResults, FrameSource, FrameStream, StreamOptions, StreamedFrame,
};
pub use video::DeviceFrame;
#[cfg(feature = "cuda")]
pub use video_decoder::{DecodedFrame, DeviceVideoDecoder};

/// A graph of operators together with the images it works on and the device that runs it.
///
/// Build it once, then set inputs and execute as often as there are frames. Plans, loaded kernels and memory
/// are kept from one execution to the next for as long as shapes and structure stay the same.
#[derive(Debug)]
pub struct Pipeline {
    config: PipelineConfig,
    graph: TaskGraph,
    /// One for each input of the graph, in declared order.
    bound: Vec<Option<RunInput>>,
    /// Those of the inputs that are planes of video.
    video: Vec<VideoInput>,
    sessions: Sessions,
    results: Results,
    scheduler: Arc<DagScheduler>,
    /// Where there are several devices, from the first run on.
    spread: Option<Spread>,
}

impl Pipeline {
    /// An empty pipeline. The device is opened at the first execution.
    pub fn new(config: PipelineConfig) -> Self {
        Self::from_graph(TaskGraph::new(), config)
    }

    /// A pipeline around a finished graph.
    pub fn from_graph(graph: TaskGraph, config: PipelineConfig) -> Self {
        let scheduler = DagScheduler::with_probe(config.probe());
        Self {
            config,
            graph,
            bound: Vec::new(),
            video: Vec::new(),
            sessions: Sessions::default(),
            results: Results::default(),
            scheduler: Arc::new(scheduler),
            spread: None,
        }
    }

    /// A pipeline from a parsed file or one-line form.
    ///
    /// # Errors
    /// When the description does not build, with the place in the text.
    pub fn from_spec(spec: &PipelineSpec, config: PipelineConfig) -> Result<Self, Error> {
        Ok(Self::from_graph(spec.build()?, config))
    }

    /// Adds an operator under a unique name.
    ///
    /// # Errors
    /// When the name is taken or not a name.
    pub fn add_operator(
        &mut self,
        name: &str,
        operator: impl Operator + 'static,
    ) -> Result<TaskHandle, Error> {
        Ok(self.graph.add_task(name, Box::new(operator))?)
    }

    /// Feeds the result of `from` to the next free input of `to`, in declared order.
    ///
    /// # Errors
    /// When that closes a cycle, or `to` has no free input; the graph is then as it was.
    pub fn connect(&mut self, from: TaskHandle, to: TaskHandle) -> Result<(), Error> {
        Ok(self.graph.add_dependency(from, to)?)
    }

    /// Feeds the result of `from` to the input of `to` named `slot`.
    ///
    /// # Errors
    /// As [`Pipeline::connect`], and when there is no such input.
    pub fn connect_slot(&mut self, from: TaskHandle, to: TaskHandle, slot: &str) -> Result<(), Error> {
        Ok(self.graph.add_dependency_slot(from, to, slot)?)
    }

    /// Makes the result of `task` an output. Without any such call every task that nothing consumes is one.
    ///
    /// # Errors
    /// When the handle is another pipeline's.
    pub fn mark_output(&mut self, task: TaskHandle) -> Result<(), Error> {
        Ok(self.graph.mark_output(task)?)
    }

    /// Sets a parameter, to take effect at the next execution. The result tells what that costs: nothing for a
    /// uniform parameter, a new plan for a structural one.
    ///
    /// # Errors
    /// When there is no such parameter or the value is not allowed; the old value stays.
    pub fn set_parameter(
        &mut self,
        task: TaskHandle,
        parameter: &str,
        value: impl Into<Value>,
    ) -> Result<Change, Error> {
        Ok(self.graph.set_parameter(task, parameter, value.into())?)
    }

    /// The task of that name.
    ///
    /// # Errors
    /// When there is none, with the closest name.
    pub fn task(&self, name: &str) -> Result<TaskHandle, Error> {
        Ok(self.graph.task(name)?)
    }

    /// The graph.
    pub const fn task_graph(&self) -> &TaskGraph {
        &self.graph
    }

    /// What launches tasks: its counters cover all executions of this pipeline.
    pub fn scheduler(&self) -> &DagScheduler {
        &self.scheduler
    }

    /// Sets the callback that is called once for each task that fails: its number in the plan, its name, what
    /// happened. Called from whatever thread finds the failure.
    pub fn set_error_callback(&self, callback: impl Fn(TaskId, &str, &RuntimeError) + Send + Sync + 'static) {
        self.scheduler.set_error_callback(callback);
    }

    /// How it runs.
    pub const fn config(&self) -> &PipelineConfig {
        &self.config
    }

    /// What would happen for inputs of these shapes (in declared order) and this many frames at once, on the first device
    /// where there are several. Opens the device, which says what scratch memory it needs.
    ///
    /// # Errors
    /// When the graph does not fit the shapes, or the plan exceeds the memory limit.
    pub fn plan_for(&self, inputs: &[ImageDesc], batch: usize) -> Result<Plan, Error> {
        plan_on(&self.graph, &self.config, &self.config.device, (inputs, batch))
    }

    /// The memory manager that this pipeline shares with others of the same settings on its device; on the first that can be
    /// used of several.
    ///
    /// # Errors
    /// When the device cannot be opened.
    pub fn memory(&self) -> Result<Arc<MemoryManager>, Error> {
        self.frame_memory().manager()
    }

    /// Where to take memory for frames from, for a thread that makes them beside the pipeline.
    pub fn frame_memory(&self) -> FrameMemory {
        FrameMemory::of(&self.config)
    }

    /// Forgets images, results, plans and counters; keeps the graph and its parameters. Memory goes back to the
    /// device's pool, results still held by the caller stay valid.
    pub fn reset(&mut self) {
        self.bound.clear();
        self.sessions = Sessions::default();
        self.spread = None;
        self.results = Results::default();
        self.scheduler.forget_runs();
    }
}

/// A plan for a device, which is opened for it.
fn plan_on(
    graph: &TaskGraph,
    config: &PipelineConfig,
    device: &Device,
    (inputs, batch): (&[ImageDesc], usize),
) -> Result<Plan, Error> {
    let device = device.open()?;
    let request = PlanRequest {
        inputs,
        batch,
        streams: config.num_streams,
        fuse: config.fuse,
        horizontal_fusion: device.fuses_horizontally(),
        memory_limit: config.plan_limit(device.info().unified_memory),
        workspace: &|group, layouts| device.workspace_bytes(group, layouts),
    };
    Ok(mip_graph::plan(graph, &request)?)
}
