use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use mip_plan::{BufferId, TaskId};
use serde::Serialize;

use super::run_state::{Phase, RunState};
use crate::RuntimeError;
use crate::device::DeviceError;

/// What became of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TaskState {
    /// Not finished yet.
    Pending,
    /// Finished on the device.
    Completed,
    /// Failed itself, or did not run because a task whose result it needs failed.
    Failed {
        /// The task that failed: the task itself, or the first of those it depends on.
        cause: TaskId,
    },
    /// Did not run because the run was cancelled.
    Cancelled,
}

impl fmt::Display for TaskState {
    /// `pending`, `completed`, `failed` or `cancelled`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled => "cancelled",
        })
    }
}

/// One task after an execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskReport {
    /// The user's name.
    pub name: Arc<str>,
    /// Operator name.
    pub op: Arc<str>,
    /// What became of it.
    pub state: TaskState,
    /// How often it was started in this execution.
    pub invocations: u64,
}

/// An execution after its end.
#[derive(Debug)]
pub struct SchedulerReport {
    /// All tasks, in plan order.
    pub tasks: Vec<TaskReport>,
    /// The failure of each failing task.
    pub errors: BTreeMap<TaskId, RuntimeError>,
    /// Outputs that were computed but could not be copied out, by buffer.
    pub lost_outputs: BTreeMap<BufferId, RuntimeError>,
    /// What the error callback panicked with, to be resumed by whoever waits.
    pub panic: Option<Box<dyn Any + Send>>,
}

impl SchedulerReport {
    /// The first error in plan order: of tasks, then of copies, then that the run was cancelled. A lost device takes
    /// every task with it, so one that failed otherwise comes first: it is the cause.
    pub fn error(&self) -> Option<RuntimeError> {
        let cancelled = || {
            let unfinished = self.tasks.iter().filter(|t| t.state == TaskState::Cancelled).count();
            (unfinished > 0).then_some(RuntimeError::Cancelled { unfinished, tasks: self.tasks.len() })
        };
        let all = || self.errors.values().chain(self.lost_outputs.values());
        let cause = all().find(|error| !says_lost(error));
        cause.or_else(|| all().next()).cloned().or_else(cancelled)
    }
}

fn says_lost(error: &RuntimeError) -> bool {
    matches!(
        error,
        RuntimeError::Task { error: DeviceError::Lost(_), .. }
            | RuntimeError::Upload { error: DeviceError::Lost(_), .. }
            | RuntimeError::Download { error: DeviceError::Lost(_), .. }
    )
}

/// Reads the final states. All streams have been waited for.
pub(super) fn of(state: &RunState) -> SchedulerReport {
    let mut progress = state.progress();
    let report = |(index, task): (usize, &mip_plan::PlanTask)| TaskReport {
        name: task.name.clone(),
        op: task.op.clone(),
        state: match (progress.causes[task.group], progress.phases[task.group]) {
            (Some(cause), _) => TaskState::Failed { cause },
            (None, Phase::Ended) => TaskState::Completed,
            (None, Phase::Cancelled) => TaskState::Cancelled,
            (None, _) => TaskState::Pending,
        },
        invocations: progress.invocations[index],
    };
    let tasks = state.plan.tasks.iter().enumerate().map(report).collect();
    SchedulerReport {
        tasks,
        errors: std::mem::take(&mut progress.errors),
        lost_outputs: std::mem::take(&mut progress.lost_outputs),
        panic: progress.panic.take(),
    }
}
