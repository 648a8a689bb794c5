//! The thread that feeds a device.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mip_plan::Plan;
use mip_runtime::memory::ManagerOptions;
use mip_runtime::{
    DagScheduler, RunInput, RunReport, RunRequest, Session, SessionOptions, SessionRing, Ticket,
};

use super::plans::{DevicePlan, Slot};
use super::queue::{Job, Next, Queue};
use crate::device::is_lost;
use crate::pipeline::cause;
use crate::{Device, Error};

/// Plans that a device keeps itself ready for.
const KEPT: usize = 4;

/// Losses after which a device that could be opened again is not asked any more.
const MAX_LOSSES: usize = 3;

pub(super) struct Worker {
    pub(super) index: usize,
    pub(super) device: Device,
    pub(super) queue: Arc<Queue>,
    pub(super) scheduler: Arc<DagScheduler>,
    pub(super) memory: ManagerOptions,
    pub(super) poison: bool,
    pub(super) replay: bool,
}

/// What a device has at hand.
#[derive(Default)]
struct State {
    /// Most recently used last.
    kept: Vec<(Arc<Plan>, Result<SessionRing, Error>)>,
    under_way: VecDeque<(Job, Ticket)>,
    /// Whether the device cannot be used any more.
    gone: bool,
}

/// Threads that open devices or make them ready, also for pipelines that are gone.
static STARTING: AtomicUsize = AtomicUsize::new(0);

/// Devices that are being opened or compiled for in the background at this moment, also for pipelines that are gone
/// ([`crate::PipelineConfig::start_in_background`]). A program that ends meanwhile had better do so without what C's `exit` runs:
/// a driver may not like that from another thread.
pub fn devices_starting() -> usize {
    STARTING.load(Ordering::SeqCst)
}

/// Counts in [`devices_starting`] while it is there.
struct Starting;

impl Starting {
    fn begin() -> Self {
        STARTING.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        STARTING.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Worker {
    /// Opens the device, unless somebody has, and works.
    pub(super) fn open_and_work(&self) {
        let starting = Starting::begin();
        let opened = self.device.info();
        drop(starting);
        match opened {
            Ok(info) => {
                self.queue.opened(self.index, &info);
                // One run takes all cores; a second would only wait, where a faster device may be free.
                self.work(if info.unified_memory { 1 } else { usize::MAX });
            }
            Err(error) => {
                self.queue.refuse(self.index, error.to_string());
                self.queue.leave(self.index);
            }
        }
    }

    /// Does jobs until there are none, or the device is gone; so many at a time at most, whatever jobs allow.
    fn work(&self, max_width: usize) {
        let mut state = State::default();
        while !state.gone {
            // One that a device was lost with is alone.
            let full = state.under_way.len() >= max_width
                || state.under_way.front().is_some_and(|(job, _)| !job.lost_with.is_empty());
            if full {
                self.finish_oldest(&mut state);
                continue;
            }
            let knows = |plan: &Arc<Plan>| state.kept.iter().any(|(kept, _)| Arc::ptr_eq(kept, plan));
            match self.queue.next(self.index, state.under_way.len(), knows) {
                Next::Job(job) => self.start(job, &mut state),
                Next::Prepare(plans) => self.prepare(&plans[self.index], &mut state),
                Next::Nothing => self.finish_oldest(&mut state),
                Next::End => return,
            }
        }
        self.queue.leave(self.index);
    }

    /// Loads a plan. What is wrong with it is said when a job is to run by it.
    fn prepare(&self, plan: &Slot, state: &mut State) {
        let _starting = Starting::begin();
        let plan = match plan.make(&self.device) {
            Ok(DevicePlan { plan, .. }) => plan,
            Err(error) => return self.queue.refuse(self.index, error.to_string()),
        };
        if state.kept.len() == KEPT {
            drop(state.kept.remove(0));
        }
        let made = self.session(plan).map(|session| SessionRing::new(Arc::new(session)));
        state.kept.push((plan.clone(), made));
    }

    fn session(&self, plan: &Arc<Plan>) -> Result<Session, Error> {
        let options =
            SessionOptions { poison: self.poison, replay: self.replay, scheduler: self.scheduler.clone() };
        Ok(Session::new(self.device.open()?, self.device.memory(&self.memory)?, plan.clone(), options)?)
    }

    fn start(&self, job: Job, state: &mut State) {
        let Some(images) = job.images.clone() else {
            let plan = self.plan(&job).plan.clone();
            let kept = state.kept.iter().find(|(kept, _)| Arc::ptr_eq(kept, &plan));
            let error = kept.and_then(|(_, made)| made.as_ref().err().cloned());
            return match error {
                Some(error) => self.failed(job, error, state),
                None => job.finish(Ok(RunReport {
                    outputs: Vec::new(),
                    device_outputs: Vec::new(),
                    tasks: Vec::new(),
                    error: None,
                })),
            };
        };
        match self.submit(&job, images, &mut state.kept) {
            Ok(ticket) => state.under_way.push_back((job, ticket)),
            Err(error) => self.failed(job, error, state),
        }
    }

    fn submit(
        &self,
        job: &Job,
        images: Vec<RunInput>,
        kept: &mut Vec<(Arc<Plan>, Result<SessionRing, Error>)>,
    ) -> Result<Ticket, Error> {
        let own = self.plan(job);
        let place = kept.iter().position(|(kept, _)| Arc::ptr_eq(kept, &own.plan));
        let used = kept.remove(place.expect("jobs are started when the device is ready for them"));
        kept.push(used);
        let (_, made) = kept.last_mut().expect("pushed above");
        let ring = made.as_mut().map_err(|error| error.clone())?;
        let session = ring.turn(job.width)?;
        let request = RunRequest {
            uniforms: own.uniforms.clone(),
            cancel: job.cancel.clone(),
            ..RunRequest::of(images)
        };
        Ok(session.submit(request)?)
    }

    fn plan<'a>(&self, job: &'a Job) -> &'a DevicePlan {
        job.plans[self.index].get().expect("devices get jobs that there is a plan for")
    }

    /// A job that could not be started.
    fn failed(&self, job: Job, error: Error, state: &mut State) {
        if self.is_loss(&error) {
            self.lose(vec![(job, Err(error))], state);
        } else {
            job.finish(Err(error));
        }
    }

    fn finish_oldest(&self, state: &mut State) {
        let Some((job, ticket)) = state.under_way.pop_front() else { return };
        if let Some((job, result)) = self.wait(job, ticket) {
            self.lose(vec![(job, result)], state);
        }
    }

    /// Waits for a run. Gives it back where it went down with the device.
    fn wait(&self, job: Job, ticket: Ticket) -> Option<(Job, Result<RunReport, Error>)> {
        let report = match catch_unwind(AssertUnwindSafe(|| ticket.wait())) {
            Ok(report) => report,
            Err(panic) => {
                job.finish_with(Err(panic));
                return None;
            }
        };
        let lost = report.error.clone().is_some_and(|error| self.is_loss(&error.into()));
        if lost {
            return Some((job, Ok(report)));
        }
        self.queue.count(self.index, job.frames());
        job.finish(Ok(report));
        None
    }

    /// Whether an error tells that the device was lost.
    fn is_loss(&self, error: &Error) -> bool {
        let of_device = match error {
            Error::Run(error) => cause(error),
            Error::Device(error) => Some(error),
            _ => None,
        };
        // One that is not there any more is lost whatever it said.
        of_device.is_some_and(|error| self.device.open().map_or(true, |device| is_lost(&*device, error)))
    }

    /// The device was lost with `jobs`, and with what else is under way: other devices do it. This one goes on with what
    /// comes after it when it can be opened again.
    fn lose(&self, mut jobs: Vec<(Job, Result<RunReport, Error>)>, state: &mut State) {
        let old = self.device.open();
        let rest = std::mem::take(&mut state.under_way);
        jobs.extend(rest.into_iter().filter_map(|(job, ticket)| self.wait(job, ticket)));
        state.kept.clear();
        let text = |result: &Result<RunReport, Error>| match result {
            Ok(report) => report.error.as_ref().map(ToString::to_string).unwrap_or_default(),
            Err(error) => error.to_string(),
        };
        let why = jobs.first().map(|(_, result)| text(result)).unwrap_or_default();
        let again = old.and_then(|old| self.device.reopen(&old, false));
        let losses = self.queue.note_loss(self.index, why);
        state.gone = again.is_err() || losses >= MAX_LOSSES;
        for (mut job, result) in jobs {
            job.lost_with.push(self.index);
            if let Err(job) = self.queue.give_back(job) {
                job.finish(result);
            }
        }
    }
}
