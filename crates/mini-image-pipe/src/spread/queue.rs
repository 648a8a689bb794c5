//! What waits for a device.

use std::any::Any;
use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use mip_plan::Plan;
use mip_runtime::device::{DeviceError, DeviceInfo};
use mip_runtime::{CancelToken, RunInput, RunReport, RuntimeError};

use super::plans::Slot;
use super::reorder::Reorder;
use crate::{DeviceReport, Error};

/// A run that any of several devices may do.
#[derive(Debug)]
pub(super) struct Job {
    /// One image (batch) an input; none where a device is only to make itself ready.
    pub(super) images: Option<Vec<RunInput>>,
    pub(super) plans: Arc<[Slot]>,
    pub(super) cancel: CancelToken,
    /// Runs of its kind that a device may have under way.
    pub(super) width: NonZero<usize>,
    /// The only device that may take it.
    pub(super) only: Option<usize>,
    /// The devices that were lost with it: then it runs alone, and on others.
    pub(super) lost_with: Vec<usize>,
    pub(super) place: Place,
}

/// Where a job's result goes.
#[derive(Debug)]
pub(super) struct Place {
    results: Arc<Reorder<Done>>,
    number: u64,
    /// Names of the outputs.
    names: Vec<String>,
    filled: bool,
}

impl Place {
    pub(super) const fn new(results: Arc<Reorder<Done>>, number: u64, names: Vec<String>) -> Self {
        Self { results, number, names, filled: false }
    }

    fn fill(&mut self, result: Result<Result<RunReport, Error>, Panic>) {
        if !std::mem::replace(&mut self.filled, true) {
            self.results.finish(self.number, Done { names: std::mem::take(&mut self.names), result });
        }
    }
}

impl Drop for Place {
    /// Nobody waits forever for a job whose thread is gone.
    fn drop(&mut self) {
        let error = DeviceError::Unsupported("internal error: the thread that feeds it has ended".to_owned());
        self.fill(Ok(Err(error.into())));
    }
}

/// What a thread panicked with.
pub(crate) type Panic = Box<dyn Any + Send>;

/// What became of a job.
#[derive(Debug)]
pub(crate) struct Done {
    /// Names of the outputs.
    pub(crate) names: Vec<String>,
    /// The outer error: what the error callback panicked with.
    pub(crate) result: Result<Result<RunReport, Error>, Panic>,
}

impl Job {
    pub(super) fn frames(&self) -> usize {
        self.images.as_ref().map_or(0, |images| images.first().map_or(1, RunInput::batch_size))
    }

    pub(super) fn finish(self, result: Result<RunReport, Error>) {
        self.finish_with(Ok(result));
    }

    pub(super) fn finish_with(mut self, result: Result<Result<RunReport, Error>, Panic>) {
        // Given up first: whoever gets the result may want their memory.
        self.images = None;
        self.place.fill(result);
    }

    /// Whether a device can do it and was not lost with it.
    fn is_for(&self, device: usize) -> bool {
        let named = self.only.is_none_or(|only| only == device);
        named && self.plans[device].is_possible() && !self.lost_with.contains(&device)
    }

    /// Whether nobody wants its result.
    fn is_abandoned(&self) -> bool {
        self.place.results.is_abandoned()
    }

    /// Whether both are of one stream, and this one comes after the other.
    fn follows(&self, other: &Self) -> Option<bool> {
        let same = Arc::ptr_eq(&self.place.results, &other.place.results);
        same.then_some(self.place.number > other.place.number)
    }
}

/// Jobs in the order in which they came, and who takes them.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// Whether the standby device works while no other one is ready.
    background: bool,
}

#[derive(Debug)]
struct State {
    jobs: VecDeque<Job>,
    devices: Vec<DeviceState>,
    ended: bool,
}

#[derive(Debug)]
struct DeviceState {
    report: DeviceReport,
    /// Jobs that it has under way; `None` while it is opened or makes itself ready.
    under_way: Option<usize>,
}

impl DeviceState {
    const fn is_starting(&self) -> bool {
        self.under_way.is_none() && !self.report.left
    }
}

/// What a device is to do next.
#[derive(Debug)]
pub(super) enum Next {
    /// Start this.
    Job(Job),
    /// Make itself ready for this; the job stays where it is.
    Prepare(Arc<[Slot]>),
    /// See to what it has under way.
    Nothing,
    /// There is nothing more, ever.
    End,
}

impl Queue {
    /// `background`: devices but the one that stands by are still to be opened.
    pub(super) fn new(devices: Vec<DeviceReport>, background: bool) -> Arc<Self> {
        let ready = |report: &DeviceReport| !background || report.standby;
        let device = |report: DeviceReport| DeviceState { under_way: ready(&report).then_some(0), report };
        let devices = devices.into_iter().map(device).collect();
        let state = State { jobs: VecDeque::new(), devices, ended: false };
        Arc::new(Self { state: Mutex::new(state), changed: Condvar::new(), background })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job; it fails at once where no device is left.
    pub(super) fn push(&self, job: Job) {
        let mut state = self.state();
        if let Some(error) = state.nobody(&job) {
            drop(state);
            return job.finish(Err(error));
        }
        state.jobs.push_back(job);
        drop(state);
        self.changed.notify_all();
    }

    /// Lets other devices have a job, before those of its stream that come after it; gives it back where there is none.
    pub(super) fn give_back(&self, job: Job) -> Result<(), Job> {
        let mut state = self.state();
        if state.nobody(&job).is_some() {
            return Err(job);
        }
        let place = state.jobs.iter().position(|other| other.follows(&job).unwrap_or(true));
        let place = place.unwrap_or(state.jobs.len());
        state.jobs.insert(place, job);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// What `device` does next, with so many jobs under way; waits where it has none. `knows`: whether it is ready for a
    /// plan.
    pub(super) fn next(&self, device: usize, under_way: usize, knows: impl Fn(&Arc<Plan>) -> bool) -> Next {
        let mut state = self.state();
        state.devices[device].under_way = Some(under_way);
        loop {
            let stands_by = state.stands_by(device, self.background);
            // One that stands by does what no other can do.
            let free = |job: &Job| {
                job.is_for(device) && (!stands_by || job.only.is_some() || state.is_only(device, job))
            };
            let Some(place) = state.jobs.iter().position(free) else {
                match (state.ended, under_way) {
                    (true, 0) => return Next::End,
                    (_, 0) => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                    _ => return Next::Nothing,
                }
                continue;
            };
            let job = &state.jobs[place];
            if job.is_abandoned() {
                let job = state.jobs.remove(place).expect("found above");
                drop(state);
                // Its place is filled all the same, for whoever waits for all that was begun.
                drop(job);
                state = self.state();
                continue;
            }
            if job.plans[device].get().is_none_or(|own| !knows(&own.plan)) {
                let plans = job.plans.clone();
                state.devices[device].under_way = None;
                drop(state);
                if self.background {
                    // The one that stands by has work now.
                    self.changed.notify_all();
                }
                return Next::Prepare(plans);
            }
            let left_to_another = job.only.is_none() && state.has_idler(device);
            if under_way > 0 && (under_way >= job.width.get() || !job.lost_with.is_empty() || left_to_another)
            {
                return Next::Nothing;
            }
            let job = state.jobs.remove(place).expect("found above");
            state.devices[device].under_way = Some(under_way + 1);
            return Next::Job(job);
        }
    }

    /// Notes what a device has done.
    pub(super) fn count(&self, device: usize, frames: usize) {
        self.state().devices[device].report.frames += frames as u64;
    }

    /// Notes that a device was lost, and how often it has been by now.
    pub(super) fn note_loss(&self, device: usize, why: String) -> usize {
        let losses = &mut self.state().devices[device].report.losses;
        losses.push(why);
        losses.len()
    }

    /// A device was opened that had not been.
    pub(super) fn opened(&self, device: usize, info: &DeviceInfo) {
        let report = &mut self.state().devices[device].report;
        (report.device, report.name) = (info.id(), info.name.clone());
    }

    /// Notes why a device cannot be used: at all, or for some jobs. What only it could do fails.
    pub(super) fn refuse(&self, device: usize, why: String) {
        let mut state = self.state();
        state.devices[device].report.unusable = Some(why);
        self.fail_impossible(state);
    }

    /// Whether a device is still being opened or makes itself ready.
    pub(super) fn is_starting(&self, device: usize) -> bool {
        self.state().devices[device].is_starting()
    }

    /// A device takes no more jobs. What only it, or nobody else, could do fails.
    pub(super) fn leave(&self, device: usize) {
        let mut state = self.state();
        state.devices[device].report.left = true;
        state.devices[device].under_way = None;
        self.fail_impossible(state);
    }

    /// Jobs that no device can do any more fail.
    fn fail_impossible(&self, mut state: MutexGuard<'_, State>) {
        let jobs = std::mem::take(&mut state.jobs);
        let mut failing = Vec::new();
        for job in jobs {
            match state.nobody(&job) {
                Some(error) => failing.push((job, error)),
                None => state.jobs.push_back(job),
            }
        }
        drop(state);
        self.changed.notify_all();
        for (job, error) in failing {
            job.finish(Err(error));
        }
    }

    /// Devices end when all jobs are done.
    pub(super) fn end(&self) {
        self.state().ended = true;
        self.changed.notify_all();
    }

    /// What each device has done so far.
    pub(super) fn reports(&self) -> Vec<DeviceReport> {
        let report =
            |device: &DeviceState| DeviceReport { starting: device.is_starting(), ..device.report.clone() };
        self.state().devices.iter().map(report).collect()
    }
}

impl State {
    /// Whether a device has to wait until all others are lost, or until none of them is ready.
    fn stands_by(&self, device: usize, background: bool) -> bool {
        let goes_on = |other: &DeviceState| {
            !other.report.standby && !other.report.left && (!background || other.under_way.is_some())
        };
        self.devices[device].report.standby && self.devices.iter().any(goes_on)
    }

    /// Whether no other device could do a job.
    fn is_only(&self, device: usize, job: &Job) -> bool {
        let mut others = self.devices.iter().enumerate().filter(|&(index, _)| index != device);
        others.all(|(index, other)| other.report.left || !job.is_for(index))
    }

    /// Whether another device is ready and has nothing to do.
    fn has_idler(&self, device: usize) -> bool {
        let idles =
            |other: &DeviceState| other.under_way == Some(0) && !other.report.left && !other.report.standby;
        self.devices.iter().enumerate().any(|(index, other)| index != device && idles(other))
    }

    /// Why a job can be done by nobody, if so.
    fn nobody(&self, job: &Job) -> Option<Error> {
        let mut devices = self.devices.iter().enumerate();
        if devices.clone().any(|(index, device)| !device.report.left && job.is_for(index)) {
            return None;
        }
        let why = devices.try_fold(String::new(), |text, (_, device)| {
            let DeviceReport { device, losses, unusable, .. } = &device.report;
            let Some(last) = losses.last().or(unusable.as_ref()) else { return Some(text) };
            Some(format!("{text}; {device}: {last}"))
        });
        let error = DeviceError::Lost(format!("no device is left{}", why.unwrap_or_default()));
        Some(RuntimeError::Device { what: "the run".to_owned(), error }.into())
    }
}
