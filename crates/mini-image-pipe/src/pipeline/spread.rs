//! Running on several devices.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::Arc;

use mip_core::ImageDesc;
use mip_graph::TaskGraph;
use mip_runtime::{CancelToken, GraphStats, RunInput};

use super::execute::Collected;
use super::{Pipeline, plan_on};
use crate::spread::{Begins, DevicePlan, Done, Maker, Plans, Request, Spread, reorder};
use crate::{Device, DeviceReport, Error, PipelineConfig};

/// Chunks of a batch that each device has under way: while one is computed, the next is copied.
const CHUNKS_UNDER_WAY: NonZero<usize> = NonZero::new(2).unwrap();

impl Pipeline {
    /// What each device has done since the pipeline was made or reset, where there are several
    /// ([`crate::PipelineConfig::more_devices`]); empty before the first run, and on one device.
    pub fn device_reports(&self) -> Vec<DeviceReport> {
        self.spread.as_ref().map(Spread::reports).unwrap_or_default()
    }

    /// The names of all devices.
    pub(super) fn device_names(&self) -> Result<String, Error> {
        match &self.spread {
            None => Ok(self.config.device.info()?.name),
            Some(spread) => {
                let background = self.config.starts_in_background();
                let working = spread
                    .reports()
                    .into_iter()
                    .filter(|report| report.frames > 0 || !background && !report.standby);
                Ok(working.map(|report| report.name).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// How runs were submitted so far: by graphs or directly.
    pub fn graph_stats(&self) -> GraphStats {
        let mut stats = self.scheduler.graph_stats();
        if let Some(spread) = &self.spread {
            stats.add(&spread.graph_stats());
        }
        stats
    }

    /// The devices, opened.
    pub(super) fn spread(&mut self) -> Result<&mut Spread, Error> {
        let spread = match self.spread.take() {
            Some(spread) => spread,
            None => Spread::new(&self.config, &self.scheduler)?,
        };
        Ok(self.spread.insert(spread))
    }

    /// A plan for each device.
    pub(super) fn spread_plans(&mut self, inputs: &[ImageDesc], batch: usize) -> Result<Plans, Error> {
        let versions = [self.graph.topology_version(), self.graph.uniform_version()];
        self.spread()?;
        let mut spread = self.spread.take().expect("made above");
        let make = |device: &_| device_plan((&self.graph, &self.config), device, (inputs, batch));
        let later = || {
            let (graph, config, inputs) = (self.graph.clone(), self.config.clone(), inputs.to_vec());
            Maker::new(move |device| device_plan((&graph, &config), device, (&inputs, batch)))
        };
        let plans = spread.plans((inputs, batch), versions, (&make, &later), |plan| {
            Ok(mip_graph::uniforms(&self.graph, inputs, plan)?)
        });
        self.spread = Some(spread);
        plans
    }

    /// Queues a run; what is wrong with it comes out in its place.
    pub(super) fn submit_spread(
        &mut self,
        images: Result<Vec<RunInput>, Error>,
        cancel: &CancelToken,
        width: NonZero<usize>,
        (begins, number): (&Begins<Done>, u64),
    ) {
        if let Err(error) = images.and_then(|images| self.request(images, cancel, width, (begins, number))) {
            begins.buffer().finish(number, Done { names: Vec::new(), result: Ok(Err(error)) });
        }
    }

    fn request(
        &mut self,
        images: Vec<RunInput>,
        cancel: &CancelToken,
        width: NonZero<usize>,
        results: (&Begins<Done>, u64),
    ) -> Result<(), Error> {
        if images.iter().any(|image| matches!(image, RunInput::Device(_))) {
            let text = "an image in the memory of a device cannot be read by several devices; give it in host \
                        memory, or run on its device alone";
            return Err(Error::Usage(text.to_owned()));
        }
        let descs: Vec<ImageDesc> = images.iter().map(|image| *image.desc()).collect();
        let batch = images.first().map_or(1, RunInput::batch_size);
        let plans = self.spread_plans(&descs, batch)?;
        let names = self.graph.outputs().into_iter().map(|task| self.graph.name(task).map(str::to_owned));
        let names = names.collect::<Result<_, _>>()?;
        let request = Request { images, names, plans, cancel: cancel.clone(), width, results };
        self.spread()?.submit(request);
        Ok(())
    }

    /// Runs the chunks of an execution. After one that failed no more are begun.
    pub(super) fn run_spread(
        &mut self,
        chunks: Vec<Vec<RunInput>>,
        cancel: &CancelToken,
        all: &mut Collected,
    ) -> Result<(), Error> {
        let window = self.spread()?.window(CHUNKS_UNDER_WAY);
        let (begins, mut results) = reorder(window);
        let mut chunks = chunks.into_iter();
        loop {
            if !begins.is_full()
                && let Some(images) = chunks.next()
            {
                let number = begins.begin().expect("results are taken below");
                self.submit_spread(Ok(images), cancel, CHUNKS_UNDER_WAY, (&begins, number));
                continue;
            }
            let Some((_, Done { result, .. })) = results.next_under_way() else { return Ok(()) };
            let report = result.unwrap_or_else(|panic| resume_unwind(panic))?;
            if !all.add(report) {
                return Ok(());
            }
        }
    }

    /// Has every device make itself ready.
    pub(super) fn warm_up_spread(&mut self, inputs: &[ImageDesc], batch: usize) -> Result<(), Error> {
        let plans = self.spread_plans(inputs, batch)?;
        self.spread()?.prepare(&plans)
    }

    /// Gives back the memory of all devices; what they were ready for they have to be made ready for again.
    pub(super) fn trim_spread(&mut self) -> usize {
        self.spread = None;
        let options = self.config.manager_options();
        // One that is lost for good, or not open yet, has nothing.
        let background = self.config.starts_in_background();
        let managers = self
            .config
            .devices()
            .chain(&self.config.standby)
            .filter(|device| !background || device.opened().is_some())
            .filter_map(|device| device.memory(&options).ok());
        managers.map(|manager| manager.trim()).sum()
    }
}

/// What a device is to do with images of such shapes; opens it.
fn device_plan(
    (graph, config): (&TaskGraph, &PipelineConfig),
    device: &Device,
    (inputs, batch): (&[ImageDesc], usize),
) -> Result<DevicePlan, Error> {
    let plan = Arc::new(plan_on(graph, config, device, (inputs, batch))?);
    Ok(DevicePlan { uniforms: mip_graph::uniforms(graph, inputs, &plan)?, plan })
}
