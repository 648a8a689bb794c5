use mip_plan::{Access, TaskId};

use crate::planner::draft::{Draft, DraftValue};

/// One task reads another one's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: TaskId,
    pub(super) to: TaskId,
    pub(super) reading: Reading,
}

/// How: the widest way, where several of the reader's stages do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reading {
    /// The pixel itself.
    Own,
    /// Other pixels, or several.
    Others,
}

/// All edges, by reader, of one reader the latest producer first: what stands between an early producer and the
/// reader has then had its chance to join.
pub(super) fn edges(draft: &Draft<'_>) -> Vec<Edge> {
    let mut task_of_result = vec![None; draft.stages.len()];
    for (task, &stage) in draft.results.iter().enumerate() {
        task_of_result[stage] = Some(task);
    }
    let mut edges: Vec<Edge> = Vec::new();
    for stage in &draft.stages {
        let reading = if stage.kernel.access() == Access::Point { Reading::Own } else { Reading::Others };
        for value in &stage.inputs {
            if let DraftValue::Stage(read) = *value
                && let Some(from) = task_of_result[read]
                && from != stage.task
            {
                edges.push(Edge { from, to: stage.task, reading });
            }
        }
    }
    edges.sort_by_key(|e| (e.to, std::cmp::Reverse(e.from), std::cmp::Reverse(e.reading)));
    edges.dedup_by_key(|e| (e.from, e.to));
    edges
}
