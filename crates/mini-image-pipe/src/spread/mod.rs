//! Several devices: runs go to whoever is free, results come out in order.
//!
//! ```text
//! Slot      the plan of a device, made where the run was asked for or, in the background, by the device's thread
//! Reorder   results in the order in which runs were begun; no more under way than its window
//! Queue     runs that wait for a device
//! Worker    a thread a device: makes itself ready, takes runs, hands those of a lost device to the others
//! ```

mod plans;
mod queue;
mod reorder;
mod worker;

use std::num::NonZero;
use std::sync::Arc;
use std::thread::JoinHandle;

use mip_core::{ImageDesc, threads};
use mip_runtime::device::{DeviceError, DeviceInfo};
use mip_runtime::{CancelToken, DagScheduler, GraphStats, RunInput};

pub(crate) use plans::{DevicePlan, Maker};
use plans::{Make, Slot};
pub(crate) use queue::Done;
use queue::{Job, Place, Queue};
pub(crate) use reorder::{Begins, Results, reorder};
use worker::Worker;
pub use worker::devices_starting;

use crate::{Device, DeviceReport, Error, PipelineConfig};

/// Shapes whose plans are kept, as a pipeline on one device does.
const KEPT: usize = 4;

/// Runs beyond twice those under way that a device may be ahead of one of another kind, which may be much slower.
const AHEAD_OF_ANOTHER_KIND: usize = 16;

/// The devices of a pipeline that has several.
#[derive(Debug)]
pub(crate) struct Spread {
    devices: Vec<Device>,
    queue: Arc<Queue>,
    schedulers: Vec<Arc<DagScheduler>>,
    threads: Vec<JoinHandle<()>>,
    /// Most recently used last.
    planned: Vec<Planned>,
    several_kinds: bool,
    background: bool,
}

/// Plans for inputs of some shapes.
#[derive(Debug)]
struct Planned {
    inputs: Vec<ImageDesc>,
    batch: usize,
    /// Of the graph's topology and of its uniforms.
    versions: [u64; 2],
    plans: Arc<[Slot]>,
}

/// A run for whichever device is free.
pub(crate) struct Request<'a> {
    pub(crate) images: Vec<RunInput>,
    pub(crate) names: Vec<String>,
    pub(crate) plans: Plans,
    pub(crate) cancel: CancelToken,
    /// Runs that each device may have under way.
    pub(crate) width: NonZero<usize>,
    /// Where its result goes, and its number there.
    pub(crate) results: (&'a Begins<Done>, u64),
}

/// A plan for each device.
#[derive(Debug, Clone)]
pub(crate) struct Plans(Arc<[Slot]>);

impl Spread {
    /// Opens all devices, and starts a thread for each; in the background, each thread opens its own.
    pub(crate) fn new(config: &PipelineConfig, scheduler: &Arc<DagScheduler>) -> Result<Self, Error> {
        let devices: Vec<Device> = config.devices().chain(&config.standby).cloned().collect();
        let background = config.starts_in_background();
        let last = devices.len() - 1;
        let info = |(index, device): (usize, &Device)| {
            if background && index < last { Ok(None) } else { device.info().map(Some) }
        };
        let infos = devices.iter().enumerate().map(info).collect::<Result<Vec<_>, _>>()?;
        let kind = |info: &Option<DeviceInfo>| info.as_ref().map(|info| info.kind);
        let several_kinds = infos.iter().any(|info| kind(info) != kind(&infos[0]));
        let report = |(info, device): (&Option<DeviceInfo>, &Device)| match info {
            Some(info) => DeviceReport::new(info),
            None => DeviceReport::unopened(device.id()),
        };
        let mut reports: Vec<_> = infos.iter().zip(&devices).map(report).collect();
        reports[last].standby = config.standby.is_some();
        let mut spread = Self {
            queue: Queue::new(reports, background),
            background,
            schedulers: devices.iter().map(|_| Arc::new(scheduler.sibling())).collect(),
            threads: Vec::new(),
            planned: Vec::new(),
            several_kinds,
            devices,
        };
        for index in 0..infos.len() {
            let worker = Worker {
                index,
                device: spread.devices[index].clone(),
                queue: spread.queue.clone(),
                scheduler: spread.schedulers[index].clone(),
                memory: config.manager_options(),
                poison: config.poison,
                replay: config.enable_graph_replay,
            };
            let thread = threads::spawn("mip-device", "feed a device", move || worker.open_and_work());
            let thread = thread.map_err(|refused| DeviceError::Unsupported(refused.to_string()))?;
            spread.threads.push(thread);
        }
        Ok(spread)
    }

    /// Runs that are begun and not given out at most, where each device may have `width` under way.
    pub(crate) fn window(&self, width: NonZero<usize>) -> NonZero<usize> {
        let ahead = if self.several_kinds { AHEAD_OF_ANOTHER_KIND } else { 0 };
        let each = width.get().saturating_mul(2).saturating_mul(self.devices.len());
        NonZero::new(each.saturating_add(ahead)).unwrap_or(width)
    }

    /// The plans for such inputs; those that are missing are made by `make`, or, of devices that are opened in the background,
    /// by what `later` gives.
    pub(crate) fn plans(
        &mut self,
        (inputs, batch): (&[ImageDesc], usize),
        versions: [u64; 2],
        (make, later): (&Make<'_>, &dyn Fn() -> Maker),
        uniforms: impl Fn(&mip_plan::Plan) -> Result<Vec<Arc<[mip_plan::Uniforms]>>, Error>,
    ) -> Result<Plans, Error> {
        let same = |kept: &Planned| kept.inputs == inputs && kept.batch == batch;
        let found = self.planned.iter().position(same).map(|place| self.planned.remove(place));
        let kept = found.filter(|kept| kept.versions[0] == versions[0]);
        let plans = match &kept {
            Some(kept) if kept.versions == versions => kept.plans.clone(),
            // The same plans with other numbers: devices stay ready for them.
            Some(kept) => {
                let renewed = kept.plans.iter().map(|own| match (own, own.get()) {
                    (_, Some(DevicePlan { plan, .. })) => {
                        Ok(Slot::Made(DevicePlan { plan: plan.clone(), uniforms: uniforms(plan)? }))
                    }
                    (Slot::Later { .. }, None) => Ok(Slot::later(later())),
                    (Slot::Nothing | Slot::Made(_), None) => Ok(Slot::Nothing),
                });
                renewed.collect::<Result<_, Error>>()?
            }
            None => {
                let last = self.devices.len() - 1;
                let made = self.devices.iter().enumerate().map(|(index, device)| {
                    if self.background && index < last {
                        return Ok(Slot::later(later()));
                    }
                    // One that is lost for good has none.
                    if device.open().is_err() { Ok(Slot::Nothing) } else { make(device).map(Slot::Made) }
                });
                made.collect::<Result<_, Error>>()?
            }
        };
        if self.planned.len() == KEPT {
            self.planned.remove(0);
        }
        self.planned.push(Planned { inputs: inputs.to_vec(), batch, versions, plans: plans.clone() });
        Ok(Plans(plans))
    }

    /// Queues a run.
    pub(crate) fn submit(&self, request: Request<'_>) {
        let Request { images, names, plans, cancel, width, results: (begins, number) } = request;
        self.queue.push(Job {
            images: Some(images),
            plans: plans.0,
            cancel,
            width,
            only: None,
            lost_with: Vec::new(),
            place: Place::new(begins.buffer(), number, names),
        });
    }

    /// Has every device make itself ready for plans, and waits for that. One that was opened in the background and cannot be used
    /// is none.
    pub(crate) fn prepare(&self, plans: &Plans) -> Result<(), Error> {
        let devices = NonZero::new(self.devices.len()).unwrap_or(NonZero::<usize>::MIN);
        let (begins, mut results) = reorder(devices);
        for (device, _) in plans.0.iter().enumerate().filter(|(_, plan)| plan.is_possible()) {
            let Some(number) = begins.begin() else { break };
            self.queue.push(Job {
                images: None,
                plans: plans.0.clone(),
                cancel: CancelToken::new(),
                width: NonZero::<usize>::MIN,
                only: Some(device),
                lost_with: Vec::new(),
                place: Place::new(begins.buffer(), number, Vec::new()),
            });
        }
        let mut last = Ok(());
        while let Some((_, Done { result, .. })) = results.next_under_way() {
            last = result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map(drop);
            // In the background it is enough that the one that stands by is ready: it comes last.
            if !self.background {
                last.clone()?;
            }
        }
        last
    }

    /// What each device has done.
    pub(crate) fn reports(&self) -> Vec<DeviceReport> {
        self.queue.reports()
    }

    /// How runs were submitted on all devices.
    pub(crate) fn graph_stats(&self) -> GraphStats {
        let mut sum = GraphStats::default();
        self.schedulers.iter().for_each(|scheduler| sum.add(&scheduler.graph_stats()));
        sum
    }
}

impl Drop for Spread {
    /// Waits for what is under way, but not for a device that is still being opened or compiled for in the background.
    fn drop(&mut self) {
        self.queue.end();
        for (device, thread) in self.threads.drain(..).enumerate() {
            if self.background && self.queue.is_starting(device) {
                continue;
            }
            // A panic of a worker is a fault of ours that showed where its result was waited for.
            let _ = thread.join();
        }
    }
}
