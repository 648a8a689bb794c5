//! From the pipeline's text to the first result, and the execution after that.

use std::sync::Arc;
use std::time::Instant;

use mini_image_pipe::{Device, PipelineConfig};
use mip_core::ImageBuffer;
use mip_plan::Plan;
use mip_runtime::{ManagerOptions, MemoryManager, RunRequest, Session, SessionOptions};

use super::suite::Workload;
use crate::failure::Failure;

/// Milliseconds of each part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FirstRun {
    plan: f64,
    load: f64,
    execute: f64,
}

/// What the first run has made.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) plan: Arc<Plan>,
    pub(crate) session: Session,
    pub(crate) first: FirstRun,
}

impl FirstRun {
    pub(crate) const fn total_ms(&self) -> f64 {
        self.plan + self.load + self.execute
    }

    pub(crate) const fn parts_ms(&self) -> [f64; 3] {
        [self.plan, self.load, self.execute]
    }
}

/// Settings of the memory managers: pinned memory for results of any workload stays pooled.
pub(crate) fn manager_options() -> ManagerOptions {
    ManagerOptions { pinned_pool_size: 4 << 30, ..ManagerOptions::default() }
}

/// Builds, plans, loads and executes once, from host memory to host memory, with a memory manager of its own.
pub(crate) fn first_run(
    device: &Device,
    workload: &Workload,
    config: &PipelineConfig,
    replay: bool,
    images: &[ImageBuffer],
) -> Result<Ready, Failure> {
    let opened = device.open()?;
    let batch = images.first().map_or(1, ImageBuffer::batch_size);
    let start = Instant::now();
    let config = PipelineConfig { device: device.clone(), ..config.clone() };
    let pipeline = workload.pipeline(config)?;
    let plan = Arc::new(pipeline.plan_for(&workload.inputs, batch)?);
    let planned = Instant::now();
    let manager = MemoryManager::new(opened.clone(), manager_options());
    let options = SessionOptions { replay, ..SessionOptions::default() };
    let session = Session::new(opened, manager, plan.clone(), options).map_err(running)?;
    let loaded = Instant::now();
    execute(&session, images)?;
    let first = FirstRun {
        plan: (planned - start).as_secs_f64() * 1e3,
        load: (loaded - planned).as_secs_f64() * 1e3,
        execute: loaded.elapsed().as_secs_f64() * 1e3,
    };
    Ok(Ready { plan, session, first })
}

/// Executes from host memory to host memory; milliseconds.
pub(crate) fn execute(session: &Session, images: &[ImageBuffer]) -> Result<f64, Failure> {
    let request = RunRequest::new(images.to_vec());
    let start = Instant::now();
    let report = session.execute(request).map_err(running)?;
    let elapsed = start.elapsed().as_secs_f64() * 1e3;
    report.error.map_or(Ok(elapsed), |error| Err(running(error)))
}

/// A failure of the runtime, as the command reports it.
pub(crate) fn running(error: mip_runtime::RuntimeError) -> Failure {
    mini_image_pipe::Error::from(error).into()
}
