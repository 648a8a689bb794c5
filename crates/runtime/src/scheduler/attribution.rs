//! Which task a failure belongs to, when the device names only a group, a kernel or a copy.

use mip_plan::{BufferId, GroupId, Operand, Plan, TaskId};

use crate::RuntimeError;
use crate::device::DeviceError;

/// The task a group's failure is attributed to: the only one whose kernel the error names, else the group's
/// first.
pub(super) fn task_of(plan: &Plan, group: GroupId, error: &DeviceError) -> TaskId {
    let group = &plan.groups[group];
    let named = match error {
        DeviceError::Kernel { kernel, .. } | DeviceError::Build { kernel, .. } => Some(kernel),
        _ => None,
    };
    let mut matching = group.stages.iter().filter(|s| Some(s.kernel.name()) == named.map(String::as_str));
    match (matching.next(), matching.next()) {
        (Some(stage), None) => stage.task,
        _ => group.tasks[0],
    }
}

/// The first task of a group that reads a buffer itself.
pub(super) fn reader_of(plan: &Plan, group: GroupId, buffer: BufferId) -> TaskId {
    let group = &plan.groups[group];
    let reads = |inputs: &[Operand]| inputs.contains(&Operand::Buffer(buffer));
    group.stages.iter().find(|stage| reads(&stage.inputs)).map_or(group.tasks[0], |stage| stage.task)
}

pub(super) fn task_error(plan: &Plan, task: TaskId, error: DeviceError) -> RuntimeError {
    let task = &plan.tasks[task];
    RuntimeError::Task { task: task.name.to_string(), op: task.op.to_string(), error }
}

pub(super) fn load_error(plan: &Plan, group: GroupId, error: DeviceError) -> RuntimeError {
    let task = &plan.tasks[task_of(plan, group, &error)];
    RuntimeError::Load { task: task.name.to_string(), op: task.op.to_string(), error }
}

pub(super) fn upload_error(plan: &Plan, task: TaskId, input: &str, error: DeviceError) -> RuntimeError {
    let task = &plan.tasks[task];
    RuntimeError::Upload { input: input.to_owned(), task: task.name.to_string(), error }
}
