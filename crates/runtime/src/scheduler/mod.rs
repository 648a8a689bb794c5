//! Launches a plan's groups onto streams, orders them with events, follows failures through the graph.

mod attribution;
mod bindings;
mod cancel;
mod loaded;
mod outcome;
mod run_state;
mod stats;
mod submission;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use mip_plan::TaskId;

pub use bindings::{Bindings, Download, Upload};
pub use cancel::CancelToken;
pub use loaded::LoadedPlan;
pub use outcome::{RunOutcome, TaskReport, TaskState};
pub use stats::SchedulerStats;
pub use submission::PendingRun;

use crate::RuntimeError;
use run_state::RunState;
use submission::Submission;

/// Told once for each failing task: its id in the plan, its name, what happened. Called from whatever thread
/// finds the failure, while other tasks may still run; a panic inside comes out of the call that waits for the run.
pub type ErrorCallback = Arc<dyn Fn(TaskId, &str, &RuntimeError) + Send + Sync>;

/// Executes loaded plans: launches in plan order on one stream a lane, waits where the plan says so.
///
/// Holds no plan itself, so that one scheduler, with its callback and counters, serves a pipeline through all
/// its plans. May be used from several threads, each with its own [`LoadedPlan`].
#[derive(Default)]
pub struct DagScheduler {
    callback: Mutex<Option<ErrorCallback>>,
    stats: Mutex<SchedulerStats>,
}

impl DagScheduler {
    /// A scheduler without a callback.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what is told about failing tasks, from the next execution on; replaces an earlier one.
    pub fn set_error_callback(&self, callback: impl Fn(TaskId, &str, &RuntimeError) + Send + Sync + 'static) {
        *self.callback.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(callback));
    }

    /// Counters since creation.
    pub fn stats(&self) -> SchedulerStats {
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a plan and waits for it. The same `plan` must not be executed from two threads at once.
    pub fn execute(&self, plan: &Arc<LoadedPlan>, bindings: Bindings, cancel: &CancelToken) -> RunOutcome {
        self.submit(plan, bindings, cancel).join()
    }

    /// Queues everything a plan needs, without waiting. The same `plan` must not be submitted again before
    /// the run was joined. The run keeps what it works with alive until then.
    pub fn submit(&self, plan: &Arc<LoadedPlan>, bindings: Bindings, cancel: &CancelToken) -> PendingRun {
        let callback = self.callback.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let state = Arc::new(RunState::new(plan.plan().clone(), cancel.clone(), callback));
        let mut submission = Submission::new(plan.clone(), bindings, state);
        submission.upload_inputs();
        for group in 0..plan.plan().groups.len() {
            Self::insert_synchronization(&mut submission, group);
            submission.launch(group);
            submission.record(group);
            submission.download_outputs(group);
        }
        let (run, counted) = submission.finish();
        self.stats.lock().unwrap_or_else(PoisonError::into_inner).add(&counted);
        run
    }

    /// Makes a group's lane wait for everything on other lanes that the group needs and no earlier wait implies.
    fn insert_synchronization(submission: &mut Submission, group: usize) {
        submission.wait_for_inputs(group);
        submission.wait_for_groups(group);
    }
}

impl fmt::Debug for DagScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DagScheduler").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
