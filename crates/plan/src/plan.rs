use std::sync::Arc;

use mip_core::{BatchLayout, ImageDesc};

use crate::{Group, GroupId};

/// Index of a task in [`Plan::tasks`].
pub type TaskId = usize;
/// Index of a buffer in [`Plan::buffers`].
pub type BufferId = usize;

/// What will happen for given input shapes: plain data, independent of any device, that prints.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Frames each execution handles at once.
    pub batch: usize,
    /// Number of streams used; they are numbered `0..streams`.
    pub streams: u32,
    /// The pipeline's inputs, in declared order.
    pub inputs: Vec<PlanInput>,
    /// The pipeline's outputs, in declared order.
    pub outputs: Vec<PlanOutput>,
    /// All tasks in topological order.
    pub tasks: Vec<PlanTask>,
    /// All groups in launch order.
    pub groups: Vec<Group>,
    /// All images that exist as memory.
    pub buffers: Vec<Buffer>,
    /// Cross-stream waits: the smallest set that orders every dependency.
    pub waits: Vec<Wait>,
    /// Bytes of the arena: intermediates and workspaces, reused by lifetime.
    pub arena_bytes: usize,
    /// For each edge between tasks, in order of its ends, whether it is inside a group and why. For people: devices
    /// look at groups.
    pub fusion: Vec<EdgeDecision>,
}

/// Whether two tasks of which one reads the other's result share a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeDecision {
    /// The task that makes the result.
    pub from: TaskId,
    /// The task that reads it.
    pub to: TaskId,
    /// Whether both are computed by one group.
    pub fused: bool,
    /// Why, or why not, with the numbers that decided it.
    pub reason: String,
    /// Bytes of memory traffic that this spares for all frames of the batch: the read, and on the first fused edge
    /// of a result that nobody outside the group needs, the write. 0 when not fused.
    pub bytes_saved: u64,
}

/// A pipeline input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanInput {
    /// Name without the `@`.
    pub name: String,
    /// The buffer that stands for it.
    pub buffer: BufferId,
}

/// A pipeline output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOutput {
    /// The task whose result it is.
    pub task: TaskId,
    /// The buffer that stands for it.
    pub buffer: BufferId,
}

/// A task as the plan sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanTask {
    /// The user's name. Shared, because each run reports on all tasks by name.
    pub name: Arc<str>,
    /// Operator name.
    pub op: Arc<str>,
    /// Tasks whose results it reads, in slot order (pipeline inputs left out).
    pub producers: Vec<TaskId>,
    /// Shape and type of its result.
    pub output: ImageDesc,
    /// Numbers that follow from the shapes and that users of the result need, by name: the scale of a letterboxed image,
    /// and where it lies.
    pub derived: Vec<(&'static str, f64)>,
    /// The group that computes it.
    pub group: GroupId,
}

/// An image (batch) that exists as memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// For printing: `@input`, or the task's name.
    pub name: String,
    /// Shape, batch and strides. For [`Place::Input`] the strides are those of the memory bound at execution
    /// and this is the tight layout.
    pub layout: BatchLayout,
    /// Where it lives.
    pub place: Place,
    /// The group that writes it; `None` for inputs.
    pub producer: Option<GroupId>,
    /// Groups that read it, ascending.
    pub consumers: Vec<GroupId>,
}

/// Where a buffer's memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Bound by the caller: index into [`Plan::inputs`].
    Input(usize),
    /// Handed to the caller: index into [`Plan::outputs`].
    Output(usize),
    /// In the arena.
    Arena {
        /// Bytes from the start of the arena, a multiple of [`mip_core::ALIGNMENT`].
        offset: usize,
    },
}

/// The stream of `group` waits for an event recorded right after `on`, just before launching `group`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wait {
    /// The group that waits.
    pub group: GroupId,
    /// The group waited for; on another stream, and earlier in launch order.
    pub on: GroupId,
}

impl Plan {
    /// Bytes of all buffers if none shared memory, padding included, inputs left out.
    pub fn sum_of_buffers(&self) -> usize {
        self.buffers.iter().filter(|b| !matches!(b.place, Place::Input(_))).map(|b| b.layout.span()).sum()
    }

    /// Bytes that all groups read from and write to memory for all frames, padding left out: each buffer counts once
    /// for each group that reads it and once for the group that writes it.
    pub fn traffic_bytes(&self) -> u64 {
        let bytes = |id: &BufferId| {
            let layout = &self.buffers[*id].layout;
            layout.desc.bytes() as u64 * layout.batch_size as u64
        };
        self.groups.iter().flat_map(|g| g.reads().into_iter().chain(g.writes())).map(|id| bytes(&id)).sum()
    }

    /// The waits of one group.
    pub fn waits_of(&self, group: GroupId) -> impl Iterator<Item = GroupId> + '_ {
        self.waits.iter().filter(move |w| w.group == group).map(|w| w.on)
    }
}
