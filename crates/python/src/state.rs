//! What a pipeline of Python is made of: a description, and an engine made of it when it is needed.

use std::sync::Arc;

use mini_image_pipe::graph::PipelineSpec;
use mini_image_pipe::prelude::{DeviceImage, Value};
use mini_image_pipe::{Pipeline as Engine, PipelineConfig};

use crate::devices;
use crate::errors::Failed;
use crate::gpu::{self, Gateway, Jpegs, UnderWay};

/// A run that was queued, and its results by task.
pub(crate) type Started = (Arc<gpu::Run>, Vec<(String, DeviceImage)>);

/// How a pipeline runs: `PipelineConfig`, with the device by name.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) device: String,
    pub(crate) num_streams: u32,
    pub(crate) max_batch_size: usize,
    pub(crate) graph_replay: bool,
    pub(crate) fuse: bool,
    pub(crate) stream_ordered: bool,
    pub(crate) memory_limit: Option<usize>,
    /// Of the CPU; without a number as many as cores.
    pub(crate) threads: Option<usize>,
}

impl Settings {
    pub(crate) fn config(&self) -> Result<PipelineConfig, Failed> {
        let devices = devices::named(&self.device, self.threads)?;
        let cpu = devices::device("cpu", self.threads)?;
        let has_cpu = devices.iter().any(|device| device.info().is_ok_and(|info| info.id() == "cpu"));
        let config = PipelineConfig {
            // A fault on one GPU may cost the process all of them.
            standby: (devices.len() > 1 && !has_cpu).then_some(cpu),
            num_streams: self.num_streams,
            max_batch_size: self.max_batch_size,
            enable_graph_replay: self.graph_replay,
            fuse: self.fuse,
            prefer_async_allocator: self.stream_ordered,
            memory_limit: self.memory_limit,
            ..PipelineConfig::default()
        };
        Ok(config.on_devices(devices)?)
    }
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) spec: PipelineSpec,
    /// The engine and the process that it belongs to: its threads do not survive a fork.
    engine: Option<(u32, Engine)>,
    /// For tensors on a GPU: how runs over them are ordered, and those whose end has not been seen.
    gateway: Option<Arc<Gateway>>,
    under_way: UnderWay,
    /// What decodes JPEG files there.
    jpegs: Option<Arc<Jpegs>>,
}

impl State {
    pub(crate) fn new(spec: PipelineSpec) -> Self {
        Self { spec, engine: None, gateway: None, under_way: UnderWay::default(), jpegs: None }
    }

    /// Gives the engine up: the graph has changed.
    pub(crate) fn forget_engine(&mut self) {
        self.engine = None;
    }

    pub(crate) fn engine(&mut self, settings: &Settings) -> Result<&mut Engine, Failed> {
        let process = std::process::id();
        if let Some((_, foreign)) = self.engine.take_if(|(of, _)| *of != process) {
            // Letting go of it would wait for threads that this process does not have.
            std::mem::forget((
                foreign,
                self.gateway.take(),
                std::mem::take(&mut self.under_way),
                self.jpegs.take(),
            ));
        }
        if self.engine.is_none() {
            let engine = Engine::from_spec(&self.spec, settings.config()?)?;
            self.engine = Some((process, engine));
        }
        let Some((_, engine)) = &mut self.engine else { unreachable!("made above") };
        Ok(engine)
    }

    /// The order of the GPU that the pipeline runs on; `None` where that is none.
    pub(crate) fn gateway(&mut self, settings: &Settings) -> Result<Option<Arc<Gateway>>, Failed> {
        let config = self.engine(settings)?.config();
        if !config.more_devices.is_empty() {
            return Ok(None);
        }
        let device = config.device.clone();
        let runtime = device.open()?;
        // After a fault a device may have been opened anew.
        if !self.gateway.as_ref().is_some_and(|gateway| Arc::ptr_eq(gateway.runtime(), &runtime)) {
            self.gateway = Gateway::new(&device)?.map(Arc::new);
        }
        Ok(self.gateway.clone())
    }

    /// What decodes JPEG files on the GPU that the pipeline runs on.
    pub(crate) fn jpegs(&mut self, settings: &Settings) -> Result<Arc<Jpegs>, Failed> {
        let elsewhere = || {
            Failed::usage(
                "files are decoded on the GPU that the pipeline runs on, and it runs on none, or on several devices",
            )
        };
        let gateway = self.gateway(settings)?.ok_or_else(elsewhere)?;
        if let Some(jpegs) = self.jpegs.take_if(|jpegs| !jpegs.is_of(&gateway)) {
            drop(jpegs); // of a device that was opened anew
        }
        if let Some(jpegs) = &self.jpegs {
            return Ok(jpegs.clone());
        }
        let decoder = self.engine(settings)?.jpeg_decoder()?;
        Ok(self.jpegs.insert(Arc::new(Jpegs::new(decoder, gateway))).clone())
    }

    /// The input of a pipeline that has one, and one output.
    pub(crate) fn only_input(&mut self, settings: &Settings) -> Result<String, Failed> {
        let graph = self.engine(settings)?.task_graph();
        match (graph.inputs(), graph.outputs().len()) {
            ([input], 1) => Ok(input.clone()),
            (inputs, outputs) => Err(Failed::usage(format!(
                "run_batch feeds one pipeline input and gives one output, but this pipeline has {} inputs ({}) and {outputs} outputs",
                inputs.len(),
                inputs.join(", ")
            ))),
        }
    }

    /// Queues a run over images on the GPU.
    pub(crate) fn start(
        &mut self,
        settings: &Settings,
        gateway: &Gateway,
        orders: &gpu::Orders,
        images: &[(&str, &DeviceImage)],
    ) -> Result<Started, Failed> {
        self.under_way.look()?;
        let after = orders.events(gateway)?;
        let run = match self.engine(settings)?.run_on_device(images, &after) {
            // What is under way holds results and inputs that nobody may need any more.
            Err(error) if error.is_out_of_memory() && self.under_way.finish()? => {
                self.engine(settings)?.run_on_device(images, &after)?
            }
            other => other?,
        };
        let outputs = run.outputs().to_vec();
        let run = gpu::Run::new(run);
        self.under_way.push(run.clone());
        orders.end(gateway, run.done())?;
        Ok((run, outputs))
    }

    pub(crate) fn set(&mut self, settings: &Settings, path: &str, value: Value) -> Result<(), Failed> {
        self.engine(settings)?.set(path, value.clone())?;
        // The engine has taken it, so the path names a task and a parameter.
        let (task, parameter) = path.split_once('.').unwrap_or_default();
        let names = self.spec.names()?;
        for (spec, _) in self.spec.tasks.iter_mut().zip(names).filter(|(_, name)| name == task) {
            match spec.params.iter_mut().find(|(name, _)| name.value == parameter) {
                Some((_, old)) => *old = value.clone().into(),
                None => spec.params.push((parameter.into(), value.clone().into())),
            }
        }
        Ok(())
    }
}

/// The inputs that images go to: those that are named, and the first ones for the others.
pub(crate) fn names_of<'a>(
    engine: &Engine,
    names: impl Iterator<Item = Option<&'a str>>,
) -> Result<Vec<String>, Failed> {
    let inputs = engine.task_graph().inputs();
    let (mut found, mut in_order) = (Vec::with_capacity(1), 0);
    for name in names {
        if name.is_none() {
            in_order += 1;
        }
        let next = || inputs.get(in_order - 1).cloned();
        found.push(name.map_or_else(next, |name| Some(name.to_owned())));
    }
    let found: Option<Vec<String>> = found.into_iter().collect();
    found.ok_or_else(|| {
        Failed::usage(format!(
            "{in_order} images given, but this pipeline takes {} ({})",
            inputs.len(),
            inputs.join(", ")
        ))
    })
}
