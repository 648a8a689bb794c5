use std::time::Duration;

use mini_image_pipe::Pipeline;
use mip_core::text;
use mip_runtime::{AllocatorMode, GraphStats};
use serde::Serialize;

use super::arrays::Shard;
use super::decoders::Share as DecoderShare;
use super::{Derived, Input, Numbers, Outcome};
use crate::devices::{Names, Share, shares};
use crate::failure::Failure;
use crate::interrupt::Signal;
use crate::stages::Stages;

/// What `mip run --json` prints. Keys may be added, never changed.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    /// As `--device` takes it.
    device: String,
    pub(crate) device_name: String,
    /// What each did, where there are several.
    devices: Vec<Share>,
    /// Images that went through and were written.
    pub(crate) frames: usize,
    /// Images that failed.
    pub(crate) failed: usize,
    /// Images that were not tried, after a failure or a signal.
    pub(crate) not_tried: usize,
    /// The signal that ended the run early.
    pub(crate) interrupted: Option<&'static str>,
    /// Files written, in the order of their inputs; arrays of all of them, and their index.
    pub(crate) outputs: Vec<String>,
    /// What is in arrays of all results.
    arrays: Vec<Shard>,
    /// Results that are a few numbers: histograms, statistics.
    numbers: Vec<Numbers>,
    /// What operators say beside pixels: the scale of a letterbox, and where the image lies in it.
    derived: Vec<Derived>,
    /// How long frames of animations are shown that went through.
    delays: Vec<Delay>,
    /// What decoded the images after the pipeline, and how many.
    decoders: Vec<DecoderShare>,
    /// From the start of the command's work to its end, decoding and encoding included.
    pub(crate) elapsed_ms: f64,
    /// Images that went through and were written, by that time.
    pub(crate) images_per_second: f64,
    #[serde(flatten)]
    pub(crate) stages: Option<Stages>,
    allocator: Allocator,
    graph: GraphStats,
    memory: Memory,
    tasks: Vec<Task>,
    /// What was written to stderr beside failures.
    warnings: Vec<String>,
    errors: Vec<InputError>,
}

#[derive(Debug, Serialize)]
struct Allocator {
    requested: AllocatorMode,
    effective: AllocatorMode,
    /// Why they differ.
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct Memory {
    /// Allocations that reached the driver, device and pinned together.
    driver_allocations: u64,
    /// Most device memory held from the driver at once.
    peak_device_bytes: usize,
    /// Most pinned memory held at once.
    pinned_bytes: usize,
    /// Most memory of the machine that pictures, results and what lies between may take; nothing without a limit.
    limit_bytes: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Task {
    name: String,
    op: String,
    /// Starts over all executions: one a batch, not one an image.
    invocations: u64,
    /// After the last execution.
    state: String,
}

#[derive(Debug, Serialize)]
struct Delay {
    input: String,
    ms: f64,
}

#[derive(Debug, Serialize)]
struct InputError {
    input: String,
    error: String,
}

impl Summary {
    pub(crate) fn new(
        pipeline: &Pipeline,
        files: &[Input],
        outcome: &Outcome,
        elapsed: Duration,
    ) -> Result<Self, Failure> {
        let memory = pipeline.memory()?;
        let stats = memory.stats();
        let (effective, reason) = memory.effective_mode();
        let failed = |input: &usize| outcome.failures.contains_key(input);
        let error = |(input, failure): (&usize, &Failure)| InputError {
            input: files[*input].name(),
            error: failure.message().unwrap_or_default().to_owned(),
        };
        let frames = outcome.written.keys().filter(|input| !failed(input)).count();
        let names = Names::of(pipeline)?;
        Ok(Self {
            device: names.ids,
            device_name: names.names,
            devices: shares(pipeline),
            frames,
            failed: outcome.failures.len(),
            not_tried: files.len() - frames - outcome.failures.len(),
            interrupted: outcome.interrupted.map(Signal::name),
            outputs: outcome.files().map(|path| text::path(path).into_owned()).collect(),
            arrays: outcome.arrays.shards.clone(),
            numbers: outcome.numbers.clone(),
            derived: outcome.derived.clone(),
            delays: outcome.written.keys().filter_map(|input| delay(&files[*input])).collect(),
            decoders: outcome.decoders.shares(),
            elapsed_ms: elapsed.as_secs_f64() * 1e3,
            images_per_second: frames as f64 / elapsed.as_secs_f64().max(1e-9),
            stages: outcome.stages.clone(),
            allocator: Allocator { requested: memory.requested_mode(), effective, reason },
            graph: outcome.graph.clone(),
            memory: Memory {
                driver_allocations: stats.device.driver_allocations + stats.pinned.driver_allocations,
                peak_device_bytes: stats.device.peak,
                pinned_bytes: stats.pinned.peak,
                limit_bytes: limit_bytes(pipeline),
            },
            tasks: tasks(pipeline, outcome)?,
            warnings: outcome.warnings.clone(),
            errors: outcome.failures.iter().map(error).collect(),
        })
    }
}

fn delay(input: &Input) -> Option<Delay> {
    let delay = input.page?.delay?;
    Some(Delay { input: input.name(), ms: delay.as_secs_f64() * 1e3 })
}

/// What `--memory-limit` comes to.
pub(crate) fn limit_bytes(pipeline: &Pipeline) -> Option<usize> {
    let limit = pipeline.config().memory_budget.as_ref().map(|budget| budget.limit());
    limit.filter(|&limit| limit < usize::MAX)
}

/// All tasks in topological order, also when nothing was executed.
fn tasks(pipeline: &Pipeline, outcome: &Outcome) -> Result<Vec<Task>, Failure> {
    let graph = pipeline.task_graph();
    let describe = |handle| {
        let name = graph.name(handle)?.to_owned();
        let report = outcome.tasks.iter().find(|t| *t.name == *name);
        Ok(Task {
            op: graph.operator(handle)?.spec().name.to_owned(),
            invocations: report.map_or(0, |r| r.invocations),
            state: report.map_or_else(|| "pending".to_owned(), |r| r.state.to_string()),
            name,
        })
    };
    graph.topological_order().into_iter().map(describe).collect()
}
