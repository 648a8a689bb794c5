//! Running: one execution, or a batch in chunks.

use std::time::Instant;

use mip_core::ImageBuffer;
use mip_runtime::profiling::Kind;
use mip_runtime::{CancelToken, DeviceImage, RunInput, RunReport, RunRequest, RuntimeError, TaskReport};

use super::Pipeline;
use super::outputs::Results;
use crate::report::AllocatorReport;
use crate::{Error, ExecutionReport};

impl Pipeline {
    /// Runs every task once on the images set. When it returns, all outputs are complete.
    ///
    /// # Errors
    /// A request that does not fit is refused before anything runs. When a task fails, what does not depend on it
    /// runs to its end; the first failure is returned, and outputs that completed can be read.
    pub fn execute(&mut self) -> Result<ExecutionReport, Error> {
        self.execute_with(&CancelToken::new())
    }

    /// [`Pipeline::execute`] that another thread can cancel: tasks that have not begun are then left out.
    ///
    /// # Errors
    /// As [`Pipeline::execute`], and [`mip_runtime::RuntimeError::Cancelled`].
    pub fn execute_with(&mut self, cancel: &CancelToken) -> Result<ExecutionReport, Error> {
        self.config.check()?;
        self.graph.validate()?;
        let images = self.bound_inputs()?;
        if let Some(batched) = images.iter().find(|i| i.batch_size() != 1) {
            return Err(Error::Usage(format!(
                "execute takes single images, but one holds {}; use execute_batch",
                batched.batch_size()
            )));
        }
        self.run_chunks(vec![images], 1, cancel)
    }

    /// Runs the pipeline, which must have exactly one input, over frames of one shape: each task is invoked once
    /// for up to `max_batch_size` frames. Results are in [`Pipeline::batch_outputs`], in order.
    ///
    /// An image of [`ImageBuffer::batch_size`] n counts as n frames. No frames give empty results.
    ///
    /// # Errors
    /// As [`Pipeline::execute`], and [`Error::MixedBatch`] naming the first frame that differs. When a chunk
    /// fails the chunks after it are not run.
    pub fn execute_batch(&mut self, frames: &[ImageBuffer]) -> Result<ExecutionReport, Error> {
        self.config.check()?;
        self.check_only_input("execute_batch")?;
        let total = super::batch::check(frames)?;
        self.graph.validate()?;
        let host = |chunk: Vec<ImageBuffer>| chunk.into_iter().map(RunInput::Host).collect();
        let chunks = self.chunks(frames)?.into_iter().map(host).collect();
        self.run_chunks(chunks, total, &CancelToken::new())
    }

    /// [`Pipeline::execute_batch`] of images that lie in the device's memory, at most `max_batch_size` of them, which are read
    /// in place ([`DeviceImage::joined`]).
    ///
    /// # Errors
    /// As [`Pipeline::execute_batch`], and when there are more images.
    pub fn execute_device_batch(&mut self, images: &DeviceImage) -> Result<ExecutionReport, Error> {
        self.config.check()?;
        self.check_only_input("execute_device_batch")?;
        let (frames, max) = (images.layout().batch_size, self.config.max_batch_size);
        if frames > max {
            return Err(Error::Usage(format!(
                "a batch of {frames} images, but max_batch_size is {max}; give parts of it"
            )));
        }
        self.graph.validate()?;
        self.run_chunks(vec![vec![RunInput::Device(images.clone())]], frames, &CancelToken::new())
    }

    fn check_only_input(&self, call: &str) -> Result<(), Error> {
        let inputs = self.graph.inputs();
        if inputs.len() > 1 {
            return Err(Error::Usage(format!(
                "{call} feeds one pipeline input, but this pipeline has {}: {}",
                inputs.len(),
                inputs.join(", ")
            )));
        }
        Ok(())
    }

    /// Runs chunks, one after another on one device; each is one image (batch) for each input.
    pub(super) fn run_chunks(
        &mut self,
        chunks: Vec<Vec<RunInput>>,
        frames: usize,
        cancel: &CancelToken,
    ) -> Result<ExecutionReport, Error> {
        let start = Instant::now();
        let _span = self.scheduler.probe().span(Kind::Execute, || match frames {
            1 => String::new(),
            several => format!("{several} frames"),
        });
        // Given up first: their memory is what this execution's results go into, unless the caller holds them.
        self.results = Results::default();
        let names = self.graph.outputs().into_iter().map(|t| self.graph.name(t).map(str::to_owned));
        let outputs: Vec<(String, Vec<ImageBuffer>)> =
            names.map(|n| Ok((n?, Vec::new()))).collect::<Result<_, Error>>()?;
        let mut all = Collected { outputs, tasks: Vec::new(), error: None };
        if self.config.has_one_device() {
            for images in chunks {
                if !all.add(self.run_chunk(images, cancel)?) {
                    break;
                }
            }
        } else {
            self.run_spread(chunks, cancel, &mut all)?;
        }
        let Collected { outputs, tasks, error } = all;
        let manager = self.memory()?;
        let (effective, reason) = manager.effective_mode();
        let report = ExecutionReport {
            device: self.device_names()?,
            devices: self.device_reports(),
            frames,
            elapsed: start.elapsed(),
            tasks,
            memory: manager.stats(),
            allocator: AllocatorReport { requested: manager.requested_mode(), effective, reason },
            graph: self.graph_stats(),
            error: error.clone(),
        };
        self.results = Results { outputs, report: Some(report.clone()), handed_over: false };
        error.map_or(Ok(report), |e| Err(e.into()))
    }

    pub(super) fn run_chunk_once(
        &mut self,
        images: Vec<RunInput>,
        cancel: &CancelToken,
    ) -> Result<RunReport, Error> {
        let descs: Vec<_> = images.iter().map(|i| *i.desc()).collect();
        let batch = images.first().map_or(1, RunInput::batch_size);
        let ready = self.ready(&descs, batch)?;
        let request =
            RunRequest { uniforms: ready.uniforms, cancel: cancel.clone(), ..RunRequest::of(images) };
        Ok(ready.session.submit(request)?.wait())
    }
}

/// What the chunks of an execution have given so far.
pub(super) struct Collected {
    /// By output.
    outputs: Vec<(String, Vec<ImageBuffer>)>,
    tasks: Vec<TaskReport>,
    error: Option<RuntimeError>,
}

impl Collected {
    /// Adds the next chunk's; whether those after it are to be run.
    pub(super) fn add(&mut self, chunk: RunReport) -> bool {
        for ((_, frames), image) in self.outputs.iter_mut().zip(chunk.outputs) {
            frames.extend(image.iter().flat_map(|i| (0..i.batch_size()).map(|f| i.frame(f))));
        }
        merge(&mut self.tasks, chunk.tasks);
        self.error = chunk.error;
        self.error.is_none()
    }
}

/// Adds a chunk's task reports to those before it: invocations add up, the latest state counts.
fn merge(all: &mut Vec<TaskReport>, chunk: Vec<TaskReport>) {
    if all.is_empty() {
        *all = chunk;
        return;
    }
    for (sum, new) in all.iter_mut().zip(chunk) {
        sum.invocations += new.invocations;
        sum.state = new.state;
    }
}
