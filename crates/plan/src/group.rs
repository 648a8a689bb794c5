use mip_core::ImageDesc;

use crate::{BufferId, Kernel, TaskId, Uniforms};

/// Index of a group in [`crate::Plan::groups`].
pub type GroupId = usize;

/// One or more kernels that a device runs as one: its unit of loading, launching and failing.
///
/// Values between stages never exist as whole images; a backend keeps what the next stage needs (a few rows,
/// a tile). Each stage's result is quantised to its `output` description, so that a group of many stages and
/// many groups of one stage give the same bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Tasks computed by this group, in topological order.
    pub tasks: Vec<TaskId>,
    /// Kernels in topological order: operands refer to earlier stages or to buffers.
    pub stages: Vec<Stage>,
    /// Stream the group runs on.
    pub lane: u32,
    /// Groups that must have finished before this one starts (the direct producers), sorted.
    pub depends_on: Vec<GroupId>,
    /// Scratch memory in the plan's arena, for this group alone while it runs.
    pub workspace: Option<Workspace>,
}

/// One kernel inside a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// What is computed.
    pub kernel: Kernel,
    /// Initial uniforms; a session may launch with newer ones of the same length.
    pub uniforms: Uniforms,
    /// Where each input comes from, in the kernel's order.
    pub inputs: Vec<Operand>,
    /// Shape and type of the result.
    pub output: ImageDesc,
    /// Buffer the result is written to, if anybody outside the group reads it.
    pub store: Option<BufferId>,
    /// The task this kernel belongs to.
    pub task: TaskId,
}

/// Source of a stage's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A buffer of the plan.
    Buffer(BufferId),
    /// An earlier stage of the same group.
    Stage(usize),
}

/// A range of the plan's arena used as scratch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workspace {
    /// Bytes from the start of the arena.
    pub offset: usize,
    /// Size in bytes.
    pub bytes: usize,
}

impl Group {
    /// Buffers read, each once, in order of first use.
    pub fn reads(&self) -> Vec<BufferId> {
        let mut reads = Vec::new();
        for operand in self.stages.iter().flat_map(|s| &s.inputs) {
            if let Operand::Buffer(id) = *operand
                && !reads.contains(&id)
            {
                reads.push(id);
            }
        }
        reads
    }

    /// Whether nothing takes a stage's result but one input of another stage.
    pub fn is_read_once(&self, stage: usize) -> bool {
        let inputs = self.stages.iter().flat_map(|s| &s.inputs);
        self.stages[stage].store.is_none() && inputs.filter(|&&i| i == Operand::Stage(stage)).count() == 1
    }

    /// Buffers written, in stage order.
    pub fn writes(&self) -> Vec<BufferId> {
        self.stages.iter().filter_map(|s| s.store).collect()
    }
}
