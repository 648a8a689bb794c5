use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mip_plan::{BufferId, GroupId, Plan, TaskId};

use super::{CancelToken, ErrorCallback, attribution};
use crate::RuntimeError;
use crate::device::{DeviceError, LaunchDecision, LaunchObserver};

/// One execution as it goes: which groups ended, failed or must not run.
///
/// A group must not run when a task of it reads, through any number of steps, the result of a task that
/// failed. Handing over memory is no such dependency: what only waits for the memory of a failed group runs.
pub(super) struct RunState {
    pub(super) plan: Arc<Plan>,
    cancel: CancelToken,
    callback: Option<ErrorCallback>,
    progress: Mutex<Progress>,
}

/// The state of one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not begun.
    Queued,
    /// Begun, not ended.
    Running,
    /// The device said that it ended well; final only when the stream has been waited for.
    Ended,
    /// Failed by itself, attributed to this task.
    Failed(TaskId),
    /// Left out because the run was cancelled.
    Cancelled,
}

#[derive(Debug)]
pub(super) struct Progress {
    pub(super) phases: Vec<Phase>,
    /// By group: the first task by number whose failure it suffers from, its own included.
    pub(super) causes: Vec<Option<TaskId>>,
    /// By task.
    pub(super) invocations: Vec<u64>,
    /// By failing task.
    pub(super) errors: BTreeMap<TaskId, RuntimeError>,
    /// Outputs that could not be copied out, by buffer.
    pub(super) lost_outputs: BTreeMap<BufferId, RuntimeError>,
    /// What the callback panicked with, if it did.
    pub(super) panic: Option<Box<dyn Any + Send>>,
}

impl RunState {
    pub(super) fn new(plan: Arc<Plan>, cancel: CancelToken, callback: Option<ErrorCallback>) -> Self {
        let progress = Mutex::new(Progress {
            phases: vec![Phase::Queued; plan.groups.len()],
            causes: vec![None; plan.groups.len()],
            invocations: vec![0; plan.tasks.len()],
            errors: BTreeMap::new(),
            lost_outputs: BTreeMap::new(),
            panic: None,
        });
        Self { plan, cancel, callback, progress }
    }

    pub(super) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A group failed: while running, or because the device refused one of its commands.
    pub(super) fn fail(&self, group: GroupId, error: DeviceError) {
        let task = attribution::task_of(&self.plan, group, &error);
        self.fail_task(group, task, &attribution::task_error(&self.plan, task, error));
    }

    /// An input never arrived: every task that reads it fails.
    pub(super) fn fail_input(&self, input: usize, error: &DeviceError) {
        let input = &self.plan.inputs[input];
        for &group in &self.plan.buffers[input.buffer].consumers {
            let task = attribution::reader_of(&self.plan, group, input.buffer);
            let error = attribution::upload_error(&self.plan, task, &input.name, error.clone());
            self.fail_task(group, task, &error);
        }
    }

    /// A finished output could not be copied out. Its task stays what it is.
    pub(super) fn fail_download(&self, buffer: BufferId, error: DeviceError) {
        let output = self.plan.buffers[buffer].name.clone();
        let lost = RuntimeError::Download { output, error };
        self.progress().lost_outputs.entry(buffer).or_insert(lost);
    }

    /// A stream failed as a whole: nothing that ran on it can be trusted.
    pub(super) fn fail_stream(&self, stream: usize, error: &DeviceError) {
        for group in self.plan.groups.iter().enumerate().filter(|(_, g)| g.stream as usize == stream) {
            self.fail(group.0, error.clone());
        }
    }

    /// All streams have been waited for: a group without a completion has failed.
    pub(super) fn fail_unreported(&self) {
        for group in 0..self.plan.groups.len() {
            let phase = self.progress().phases[group];
            if matches!(phase, Phase::Queued | Phase::Running) {
                self.fail(group, DeviceError::Lost("it never reported the end of a launch".to_owned()));
            }
        }
    }

    /// The device refused to queue the groups without a completion.
    pub(super) fn fail_unqueued(&self, error: &DeviceError) {
        for group in 0..self.plan.groups.len() {
            let phase = self.progress().phases[group];
            if phase == Phase::Queued {
                self.fail(group, error.clone());
            }
        }
    }

    /// Whether a group was begun.
    pub(super) fn has_run(&self, group: GroupId) -> bool {
        let progress = self.progress();
        self.plan.groups[group].tasks.iter().any(|&task| progress.invocations[task] > 0)
    }

    /// Whether it is known already that a group does not run or has failed.
    pub(super) fn is_known_to_fail(&self, group: GroupId) -> bool {
        self.progress().causes[group].is_some()
    }

    /// Whether any group must not run.
    pub(super) fn has_failed(&self) -> bool {
        self.progress().causes.iter().any(Option::is_some)
    }

    fn fail_task(&self, group: GroupId, task: TaskId, error: &RuntimeError) {
        let mut progress = self.progress();
        if progress.causes[group].is_some() {
            return; // It failed before, or suffers from a failure that has been reported.
        }
        progress.phases[group] = Phase::Failed(task);
        progress.errors.insert(task, error.clone());
        self.spread(&mut progress);
        drop(progress);
        if let Some(callback) = &self.callback {
            let name = &self.plan.tasks[task].name;
            // A panic must not take a device's thread with it: it goes on in the thread that waits.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| callback(task, name, error))) {
                self.progress().panic.get_or_insert(panic);
            }
        }
    }

    /// Works out anew who suffers from whose failure. Groups come in launch order, producers first.
    fn spread(&self, progress: &mut Progress) {
        for (index, group) in self.plan.groups.iter().enumerate() {
            let producers = group.tasks.iter().flat_map(|&task| &self.plan.tasks[task].producers);
            let upstream = producers.map(|&p| self.plan.tasks[p].group).filter(|&g| g != index);
            let inherited = upstream.filter_map(|g| progress.causes[g]).min();
            progress.causes[index] = match progress.phases[index] {
                Phase::Failed(task) => Some(task),
                _ => inherited,
            };
        }
    }
}

impl LaunchObserver for RunState {
    fn begin(&self, group: GroupId) -> LaunchDecision {
        let mut progress = self.progress();
        if progress.causes[group].is_some() {
            return LaunchDecision::Skip;
        }
        if self.cancel.is_cancelled() {
            progress.phases[group] = Phase::Cancelled;
            return LaunchDecision::Skip;
        }
        progress.phases[group] = Phase::Running;
        for &task in &self.plan.groups[group].tasks {
            progress.invocations[task] += 1;
        }
        LaunchDecision::Run
    }

    fn end(&self, group: GroupId, result: Result<(), DeviceError>) {
        match result {
            Ok(()) => self.progress().phases[group] = Phase::Ended,
            Err(error) => self.fail(group, error),
        }
    }
}

impl fmt::Debug for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunState").field("progress", &self.progress).finish_non_exhaustive()
    }
}
