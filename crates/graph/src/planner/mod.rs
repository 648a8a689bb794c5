//! From a graph and input shapes to a plan, by an ordered list of passes.

mod arena;
mod buffers;
mod cover;
mod draft;
mod fuse;
mod launch;
mod limit;
mod lower;
mod streams;
mod waits;
mod workspaces;

use mip_core::{BatchLayout, ImageDesc};
use mip_plan::{Group, Plan};

use crate::{GraphError, TaskGraph, check};
use Run::{Decide, Try};
use draft::Draft;
pub(crate) use lower::lowering_fault;

/// What a plan is wanted for.
#[derive(Clone, Copy)]
pub struct PlanRequest<'a> {
    /// Shapes of the pipeline inputs, in declared order.
    pub inputs: &'a [ImageDesc],
    /// Frames handled at once, at least 1.
    pub batch: usize,
    /// Most streams to use, at least 1. A plan uses fewer when the graph has less to run side by side,
    /// and never more than 256.
    pub streams: u32,
    /// Whether operators may share a kernel: the same bytes, less memory traffic.
    pub fuse: bool,
    /// Whether the device runs branches of the same program side by side (crops of one size, each with what
    /// follows it) as one launch, so that they should share a group. Only with `fuse`.
    pub horizontal_fusion: bool,
    /// Most bytes that inputs, outputs and arena may take together; `None` for no limit.
    pub memory_limit: Option<usize>,
    /// Scratch bytes the device needs to run a group, given the layouts of all buffers by id.
    pub workspace: &'a dyn Fn(&Group, &[BatchLayout]) -> usize,
}

impl<'a> PlanRequest<'a> {
    /// One frame on one stream, fused, without a limit, for a device that needs no workspace and joins no
    /// branches.
    pub fn new(inputs: &'a [ImageDesc]) -> Self {
        Self {
            inputs,
            batch: 1,
            streams: 1,
            fuse: true,
            horizontal_fusion: false,
            memory_limit: None,
            workspace: &|_, _| 0,
        }
    }
}

/// One step from graph to plan.
struct Pass {
    name: &'static str,
    run: Run,
}

enum Run {
    /// Decides among right things only.
    Decide(fn(&mut Draft<'_>)),
    /// Can find the graph or the request wrong.
    Try(fn(&mut Draft<'_>) -> Result<(), GraphError>),
}

/// The passes in order. Each stands where it does for a reason.
const PASSES: &[Pass] = &[
    // First, so that bad graphs, shapes and formats are refused before anything is decided on them.
    Pass { name: "infer", run: Try(lower::infer) },
    // Before lowering: what nobody needs should not even build its tables.
    Pass { name: "prune", run: Decide(lower::prune) },
    // One group a task, its stages the operator's steps: the plan that is right and plain.
    Pass { name: "lower", run: Try(lower::lower) },
    // Fusion passes stand here: they merge groups while values are still stages and nothing is memory yet.
    //
    // First of them, because it costs nothing: it makes what windows read and write as small as it gets, and leaves
    // the edges where fusion has a price to the passes below, whose bounds it must not use up.
    Pass { name: "fuse maps", run: Decide(fuse::maps) },
    // Before windows, because recomputing a halo of cheap stages costs less than any halo of windows: where the
    // bounds do not allow everything, loads go first.
    Pass { name: "fuse loads", run: Decide(fuse::loads) },
    // On groups as large as they come without it: what it costs depends on the whole chain behind.
    Pass { name: "fuse windows", run: Decide(fuse::windows) },
    // Last, when it is known what each branch is. It joins what nothing connects, and changes nothing inside.
    Pass { name: "horizontal fusion", run: Decide(fuse::horizontal) },
    // Once nothing is merged any more; also when fusion is off, which is a decision too.
    Pass { name: "record fusion", run: Decide(fuse::record) },
    // After fusion, which may have left groups out of order; before buffers, which are numbered in launch order.
    Pass { name: "launch order", run: Decide(launch::order) },
    // Once groups are final: only what crosses a group's edge, or is an output, exists as memory.
    Pass { name: "buffers", run: Try(buffers::assign) },
    // Needs launch order and dependencies; before waits, which exist only between streams.
    Pass { name: "streams", run: Decide(streams::assign) },
    // Before memory: reuse follows the order that streams and waits give, and never adds to it.
    Pass { name: "waits", run: Decide(waits::insert) },
    // Needs final groups and layouts, which is all that a device looks at.
    Pass { name: "workspaces", run: Decide(workspaces::ask) },
    // Last to decide anything: everything that wants memory and every order is known.
    Pass { name: "arena", run: Try(arena::place) },
    // When the bytes are known, and before anybody allocates them.
    Pass { name: "memory limit", run: Try(limit::enforce) },
];

/// Works out what will happen for the given input shapes: kernels, streams, waits and memory.
///
/// The same graph and request always give the same plan. Tasks that no output needs (only possible where
/// outputs are marked) are left out. The plan has passed [`check`].
///
/// # Errors
/// What [`TaskGraph::infer`] finds; [`GraphError::Request`] for a batch or stream count of 0;
/// [`GraphError::Lowering`] for an operator that contradicts itself; [`GraphError::TooLarge`],
/// [`GraphError::MemoryLimit`]; [`GraphError::Internal`] when the checker refuses the result.
pub fn plan(graph: &TaskGraph, request: &PlanRequest<'_>) -> Result<Plan, GraphError> {
    for (what, given) in
        [("the batch size", request.batch), ("the number of streams", request.streams as usize)]
    {
        if given == 0 {
            return Err(GraphError::Request { what, given, allowed: "at least 1" });
        }
    }
    let mut draft = Draft::new(graph, request);
    for pass in PASSES {
        match pass.run {
            Run::Decide(run) => run(&mut draft),
            Run::Try(run) => run(&mut draft)?,
        }
    }
    check(&draft.plan)?;
    Ok(draft.plan)
}

/// The names of the planner's passes, in the order they run.
pub fn passes() -> impl ExactSizeIterator<Item = &'static str> {
    PASSES.iter().map(|p| p.name)
}

#[cfg(test)]
mod tests;
