use std::collections::HashMap;

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
    pub stream: u32,
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

    /// The stages that have to do with each other, each set in ascending order, ordered by their first ones: one set,
    /// unless the planner has fused branches horizontally. Stages belong together when one reads the other,
    /// or when they are steps of one task.
    pub fn branches(&self) -> Vec<Vec<usize>> {
        // Each stage points to one before it, or to itself: the first of its branch.
        let mut first: Vec<usize> = (0..self.stages.len()).collect();
        let mut first_of_task: HashMap<TaskId, usize> = HashMap::new();
        for (index, stage) in self.stages.iter().enumerate() {
            let earlier = stage.inputs.iter().filter_map(|input| match *input {
                Operand::Stage(read) => Some(read),
                Operand::Buffer(_) => None,
            });
            let mate = *first_of_task.entry(stage.task).or_insert(index);
            for other in earlier.chain([mate]) {
                let (a, b) = (root(&first, index), root(&first, other));
                first[a.max(b)] = a.min(b);
            }
        }
        let mut branches: Vec<Vec<usize>> = Vec::new();
        let mut place: HashMap<usize, usize> = HashMap::new();
        for index in 0..self.stages.len() {
            let branch = *place.entry(root(&first, index)).or_insert(branches.len());
            match branches.get_mut(branch) {
                Some(stages) => stages.push(index),
                None => branches.push(vec![index]),
            }
        }
        branches
    }

    /// A branch as a group of its own: `stages` are indices of stages that read none but each other, ascending.
    #[must_use]
    pub fn branch(&self, stages: &[usize]) -> Self {
        let place = |read: usize| stages.binary_search(&read).expect("a stage of the same branch");
        let own = |&index: &usize| {
            let mut stage = self.stages[index].clone();
            for input in &mut stage.inputs {
                if let Operand::Stage(read) = input {
                    *read = place(*read);
                }
            }
            stage
        };
        let stages: Vec<Stage> = stages.iter().map(own).collect();
        let mut tasks: Vec<TaskId> = stages.iter().map(|s| s.task).collect();
        tasks.sort_unstable();
        tasks.dedup();
        Self { tasks, stages, stream: self.stream, depends_on: self.depends_on.clone(), workspace: None }
    }

    /// Whether two branches, each a group of its own, are the same but for where crops begin, for values in tables and
    /// uniforms, and for the buffers they name.
    pub fn same_program(&self, other: &Self) -> bool {
        let input = |a: &Operand, b: &Operand| match (a, b) {
            (Operand::Buffer(_), Operand::Buffer(_)) => true,
            _ => a == b,
        };
        let stage = |(a, b): (&Stage, &Stage)| {
            a.kernel.same_program(&b.kernel)
                && a.output == b.output
                && a.uniforms.len() == b.uniforms.len()
                && a.store.is_some() == b.store.is_some()
                && a.inputs.len() == b.inputs.len()
                && a.inputs.iter().zip(&b.inputs).all(|(a, b)| input(a, b))
        };
        self.stages.len() == other.stages.len() && self.stages.iter().zip(&other.stages).all(stage)
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

/// The first stage of a stage's branch, as far as it is known.
fn root(first: &[usize], mut index: usize) -> usize {
    while first[index] != index {
        index = first[index];
    }
    index
}
