use mip_core::ImageDesc;
use mip_plan::{GroupId, Kernel, Plan, TaskId, Uniforms};

use super::PlanRequest;
use crate::TaskGraph;
use crate::bits::BitMatrix;

/// Index into [`Draft::stages`].
pub(super) type StageId = usize;

/// A plan in the making. Until the buffers pass, values are stages and inputs; from then on everything stands
/// in `plan`.
pub(super) struct Draft<'a> {
    pub(super) graph: &'a TaskGraph,
    pub(super) request: &'a PlanRequest<'a>,
    /// Result of every task of the graph, by insertion index.
    pub(super) descs: Vec<ImageDesc>,
    /// The tasks to run, as indices into the graph, in topological order: [`TaskId`] `t` is `live[t]`.
    pub(super) live: Vec<usize>,
    /// All kernels, in topological order.
    pub(super) stages: Vec<DraftStage>,
    /// The stage that holds each task's result.
    pub(super) results: Vec<StageId>,
    /// Stages of each group, in topological order.
    pub(super) groups: Vec<Vec<StageId>>,
    /// What the fusion passes found about each edge they looked at: why it was fused, or why not.
    pub(super) outcomes: Vec<Option<Result<String, String>>>,
    /// Row g: the groups that finish before g starts, by streams and waits. Filled by the waits pass.
    pub(super) before: BitMatrix,
    pub(super) plan: Plan,
}

/// A kernel whose operands have no memory yet.
pub(super) struct DraftStage {
    pub(super) kernel: Kernel,
    pub(super) uniforms: Uniforms,
    pub(super) inputs: Vec<DraftValue>,
    pub(super) output: ImageDesc,
    pub(super) task: TaskId,
}

/// Something a stage can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DraftValue {
    /// A pipeline input.
    Input(usize),
    /// The result of another stage.
    Stage(StageId),
}

impl<'a> Draft<'a> {
    pub(super) fn new(graph: &'a TaskGraph, request: &'a PlanRequest<'a>) -> Self {
        let plan = Plan {
            batch: request.batch,
            streams: 0,
            inputs: Vec::new(),
            outputs: Vec::new(),
            tasks: Vec::new(),
            groups: Vec::new(),
            buffers: Vec::new(),
            waits: Vec::new(),
            arena_bytes: 0,
            fusion: Vec::new(),
        };
        Self {
            graph,
            request,
            descs: Vec::new(),
            live: Vec::new(),
            stages: Vec::new(),
            results: Vec::new(),
            groups: Vec::new(),
            outcomes: Vec::new(),
            before: BitMatrix::new(0),
            plan,
        }
    }

    /// The group of every stage.
    pub(super) fn group_of_stage(&self) -> Vec<GroupId> {
        let mut group_of = vec![0; self.stages.len()];
        for (group, stages) in self.groups.iter().enumerate() {
            for &stage in stages {
                group_of[stage] = group;
            }
        }
        group_of
    }

    /// For every group the other groups whose stages it reads, sorted.
    pub(super) fn group_producers(&self) -> Vec<Vec<GroupId>> {
        let group_of = self.group_of_stage();
        let producers_of = |(group, stages): (GroupId, &Vec<StageId>)| {
            let mut producers: Vec<GroupId> = stages
                .iter()
                .flat_map(|&s| &self.stages[s].inputs)
                .filter_map(|value| match value {
                    DraftValue::Stage(stage) => Some(group_of[*stage]),
                    DraftValue::Input(_) => None,
                })
                .filter(|&producer| producer != group)
                .collect();
            producers.sort_unstable();
            producers.dedup();
            producers
        };
        self.groups.iter().enumerate().map(producers_of).collect()
    }
}
