use mip_core::{ALIGNMENT, BatchLayout};
use mip_plan::{BufferId, Group, Operand as Source, Place, Plan};

use super::Target;
use super::fused::{fused_code, fuses as branch_fuses};
use super::stage::{Context, Operand, StageCode, stage_code};
use super::text::Piece;

/// Where a stage's result goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A buffer of the plan.
    Buffer(BufferId),
    /// The group's workspace.
    Workspace {
        /// Bytes from its start.
        offset: usize,
        /// Strides.
        layout: BatchLayout,
    },
}

/// A branch as source and launches: one kernel for all of it, or one a stage (of some kernels several), in stage order, with
/// intermediates in the workspace.
#[derive(Debug, Clone)]
pub(crate) struct BranchCode {
    /// The whole program.
    pub source: String,
    /// Its kernels.
    pub stages: Vec<StageCode>,
    /// Why the launches are unfused; `None` when one kernel does all.
    pub unfused: Option<String>,
    /// By kernel, the line of the source it begins on; counted from 1.
    first_lines: Vec<usize>,
}

impl BranchCode {
    /// The stage that a compiler's log speaks of: that of the first line number inside a stage's own text.
    pub(crate) fn stage_of_log(&self, log: &str) -> usize {
        let numbers = log.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<usize>().ok());
        let kernel_of = |line: usize| self.first_lines.iter().rposition(|&first| line >= first);
        let lines = self.source.lines().count();
        self.stage_of(numbers.filter(|&n| n <= lines).find_map(kernel_of).unwrap_or(0))
    }

    /// The stage that gives a kernel's parameters their name: its own, or the first one of all.
    pub(crate) fn stage_of(&self, kernel: usize) -> usize {
        if self.unfused.is_some() { self.stages[kernel].outputs[0] } else { 0 }
    }
}

/// Where each stage's result goes, and the bytes of workspace that takes.
pub(crate) fn intermediates(group: &Group, layouts: &[BatchLayout]) -> (Vec<Destination>, usize) {
    let batch = group.writes().first().map_or(1, |&id| layouts[id].batch_size);
    let mut end = 0;
    let place = |stage: &mip_plan::Stage| {
        if let Some(id) = stage.store {
            return Destination::Buffer(id);
        }
        // The planner checked every shape and batch, with more bytes an image than this one has.
        let layout = BatchLayout::pitched(stage.output, batch, ALIGNMENT).expect("a checked shape");
        let offset = end;
        end = (offset + layout.span()).next_multiple_of(ALIGNMENT);
        Destination::Workspace { offset, layout }
    };
    let destinations = group.stages.iter().map(place).collect();
    (destinations, end)
}

/// Why a branch of a group runs as unfused launches; `Ok` when each branch is one kernel.
///
/// # Errors
/// The reason, in words.
pub(crate) fn fuses(group: &Group, layouts: &[BatchLayout], target: Target) -> Result<(), String> {
    let branches = group.branches();
    let target = target.of_branches(&branches);
    branches.iter().try_for_each(|stages| branch_fuses(&group.branch(stages), layouts, target))
}

/// The bytes of workspace a group needs: none when each of its branches is one kernel.
pub(crate) fn workspace(group: &Group, layouts: &[BatchLayout], target: Target) -> usize {
    if fuses(group, layouts, target).is_ok() { 0 } else { intermediates(group, layouts).1 }
}

/// Generates the program of a branch, a group of its own, for `at_once` like it in a launch.
///
/// # Errors
/// The stage's index in the branch and why it cannot be generated.
pub(super) fn branch_code(
    plan: &Plan,
    group: &Group,
    layouts: &[BatchLayout],
    target: Target,
    at_once: usize,
) -> Result<BranchCode, (usize, String)> {
    let fixed = |id: usize| matches!(plan.buffers[id].place, Place::Arena { .. });
    let name = |source: Source| match source {
        Source::Buffer(id) => format!("'{}'", plan.buffers[id].name.escape_default()),
        Source::Stage(stage) => {
            let stage = &group.stages[stage];
            let task = plan.tasks.get(stage.task).map_or("", |t| t.name.as_ref());
            format!("{} '{}'", stage.kernel.name(), task.escape_default())
        }
    };
    let unfused = match fused_code(group, layouts, target, at_once, &fixed, &name) {
        Ok(kernel) => return Ok(assembled(vec![kernel], None, at_once)),
        Err(reason) => reason,
    };
    let (destinations, _) = intermediates(group, layouts);
    let buffer = |id: BufferId| Operand { layout: layouts[id], fixed: fixed(id) };
    let result = |stage: usize| match destinations[stage] {
        Destination::Buffer(id) => buffer(id),
        Destination::Workspace { layout, .. } => Operand { layout, fixed: true },
    };
    let mut stages = Vec::new();
    for (index, stage) in group.stages.iter().enumerate() {
        let source = |source: &Source| match *source {
            Source::Buffer(id) => buffer(id),
            Source::Stage(earlier) => result(earlier),
        };
        let inputs = stage.inputs.iter().map(source).collect();
        let context = Context { index, stage, inputs, output: result(index), target, at_once };
        let name = plan.tasks.get(stage.task).map_or("", |t| t.name.as_ref());
        stages.extend(stage_code(&context, name).map_err(|reason| (index, reason))?);
    }
    Ok(assembled(stages, Some(unfused), at_once))
}

/// The program of a whole group, whether its stages have to do with each other or not.
#[cfg(test)]
pub(crate) fn group_code(plan: &Plan, group: usize, target: Target) -> Result<BranchCode, (usize, String)> {
    let layouts: Vec<BatchLayout> = plan.buffers.iter().map(|b| b.layout).collect();
    branch_code(plan, &plan.groups[group], &layouts, target, 1)
}

/// The program of some kernels: the fixed pieces they stand on, and their own text.
fn assembled(stages: Vec<StageCode>, unfused: Option<String>, at_once: usize) -> BranchCode {
    let mut pieces: Vec<Piece> = stages.iter().flat_map(|s| s.pieces.iter().copied()).collect();
    pieces.push(Piece::Base);
    pieces.sort_unstable();
    pieces.dedup();
    let mut source = if at_once > 1 { format!("#define BRANCHES {at_once}u\n") } else { String::new() };
    source += &pieces.iter().map(|p| p.source()).collect::<Vec<_>>().join("\n");
    let mut first_lines = Vec::new();
    for stage in &stages {
        source.push('\n');
        first_lines.push(source.lines().count() + 1);
        source.push_str(&stage.text);
    }
    BranchCode { source, stages, unfused, first_lines }
}
