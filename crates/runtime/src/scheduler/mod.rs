//! Launches a plan's groups onto streams, orders them with events, follows failures through the graph.

mod attribution;
mod bindings;
mod cancel;
mod graph_run;
mod loaded;
mod outcome;
mod replay;
mod run_state;
mod stats;
mod submission;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mip_plan::TaskId;

pub use bindings::{Bindings, Download, Ordered, Upload};
pub use cancel::CancelToken;
pub use loaded::LoadedPlan;
pub use outcome::{SchedulerReport, TaskReport, TaskState};
pub(crate) use replay::GroupTimestamps;
pub use replay::{DirtyReason, GraphSlot, GraphStats};
pub use stats::SchedulerStats;
pub use submission::PendingRun;

use crate::RuntimeError;
use crate::device::Device;
use crate::profiling::{Kind, Probe};
use graph_run::GraphRun;
use replay::{Decision, ReplayState, Signature};
use run_state::RunState;
use submission::Submission;

/// Called once for each failing task: its id in the plan, its name, what happened. Called from whatever
/// thread finds the failure, while other tasks may still run; a panic inside comes out of the call that waits
/// for the run.
pub type ErrorCallback = Arc<dyn Fn(TaskId, &str, &RuntimeError) + Send + Sync>;

/// Executes loaded plans: launches in plan order on one stream each, waits where the plan says so.
///
/// Holds no plan itself, so that one scheduler, with its callback and counters, serves a pipeline through all
/// its plans. May be used from several threads, each with its own [`LoadedPlan`].
#[derive(Default)]
pub struct DagScheduler {
    callback: Arc<Mutex<Option<ErrorCallback>>>,
    stats: Arc<Mutex<SchedulerStats>>,
    replay: Mutex<ReplayState>,
    probe: Probe,
}

impl DagScheduler {
    /// A scheduler without a callback.
    pub fn new() -> Self {
        Self::default()
    }

    /// A scheduler whose runs are recorded.
    pub fn with_probe(probe: Probe) -> Self {
        Self { probe, ..Self::default() }
    }

    /// A scheduler for another device of the same pipeline: it has the same callback, counters and records, but knows of its
    /// own graphs only.
    #[must_use]
    pub fn sibling(&self) -> Self {
        let Self { callback, stats, probe, .. } = self;
        Self {
            callback: callback.clone(),
            stats: stats.clone(),
            replay: Mutex::default(),
            probe: probe.clone(),
        }
    }

    /// What records its runs.
    pub const fn probe(&self) -> &Probe {
        &self.probe
    }

    /// Sets the callback for failing tasks, from the next execution on; replaces an earlier one.
    pub fn set_error_callback(&self, callback: impl Fn(TaskId, &str, &RuntimeError) + Send + Sync + 'static) {
        *self.callback.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(callback));
    }

    /// Counters since creation.
    pub fn stats(&self) -> SchedulerStats {
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a plan and waits for it. The same `plan` must not be executed from two threads at once.
    pub fn execute(
        &self,
        plan: &Arc<LoadedPlan>,
        bindings: Bindings,
        cancel: &CancelToken,
    ) -> SchedulerReport {
        self.submit(plan, bindings, cancel).join()
    }

    /// Queues everything a plan needs, without waiting. The same `plan` must not be submitted again before
    /// the run was joined. The run keeps what it works with alive until then.
    pub fn submit(&self, plan: &Arc<LoadedPlan>, bindings: Bindings, cancel: &CancelToken) -> PendingRun {
        let callback = self.callback.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let state = Arc::new(RunState::new(plan.plan().clone(), cancel.clone(), callback));
        let mut submission = Submission::new(plan.clone(), bindings, state, self.probe.run(plan));
        let span = submission.profile.span(Kind::Submit, "");
        submission.run();
        span.end();
        self.replay().stats.direct_runs += 1;
        self.finish(submission)
    }

    /// [`DagScheduler::submit`], by a captured graph where nothing has changed that one depends on. A run that is
    /// replayed can only be cancelled as a whole, before it is submitted.
    pub fn submit_replayed(
        &self,
        device: &dyn Device,
        plan: &Arc<LoadedPlan>,
        slot: &mut GraphSlot,
        bindings: Bindings,
        cancel: &CancelToken,
    ) -> PendingRun {
        if let Err(reason) = &device.info().graph_replay {
            self.replay().stats.reason = Some(reason.clone());
            return self.submit(plan, bindings, cancel);
        }
        let signature = Signature::of(plan.plan(), &bindings);
        let (decision, invalid) = self.replay().decide(&signature, slot, plan.wants_recapture());
        if let Some(reason) = invalid {
            self.probe.mark(|| invalidation(reason));
        }
        if decision == Decision::Direct || cancel.is_cancelled() {
            return self.submit(plan, bindings, cancel);
        }
        let callback = self.callback.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let state = Arc::new(RunState::new(plan.plan().clone(), CancelToken::new(), callback));
        let mut submission = Submission::new(plan.clone(), bindings, state, self.probe.run(plan));
        let span = submission.profile.span(Kind::Submit, "");
        let outcome = submission.run_graph(device, slot, signature);
        span.end();
        let mut replay = self.replay();
        match outcome {
            GraphRun::Captured => replay.stats.captures += 1,
            GraphRun::Replayed => replay.stats.replays += 1,
            GraphRun::Refused(reason) => {
                replay.invalidate(DirtyReason::ReplayRefused);
                self.probe.mark(|| invalidation(DirtyReason::ReplayRefused));
                replay.stats.reason = Some(reason);
                replay.stats.replays += 1;
            }
            GraphRun::Direct(refused_capture) => {
                replay.stats.direct_runs += 1;
                replay.stats.failed_captures += u64::from(refused_capture.is_some());
                replay.stats.reason = refused_capture.or(replay.stats.reason.take());
            }
        }
        drop(replay);
        self.finish(submission)
    }

    /// How runs were submitted since creation.
    pub fn graph_stats(&self) -> GraphStats {
        self.replay().stats.clone()
    }

    /// Starts counting graphs anew; the next run is the first of its workload.
    pub fn forget_runs(&self) {
        *self.replay() = ReplayState::default();
    }

    fn replay(&self) -> MutexGuard<'_, ReplayState> {
        self.replay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, submission: Submission) -> PendingRun {
        let (run, counted) = submission.finish();
        self.stats.lock().unwrap_or_else(PoisonError::into_inner).add(&counted);
        run
    }
}

/// What a profile says where a graph is given up.
fn invalidation(reason: DirtyReason) -> String {
    format!("graph invalidated: {}", reason.name())
}

impl fmt::Debug for DagScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DagScheduler").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
