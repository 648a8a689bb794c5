//! Fusion: passes that merge groups while values are still stages and nothing is memory yet.
//!
//! Two groups may become one only along an edge between tasks; branches that share nothing but a pipeline input
//! stay apart, and can run side by side, unless they are the same program and the device wants them in one
//! launch: that is the last pass. Each of the others goes over the edges of one kind in topological order of
//! their readers, a reader's latest producer first, and merges where [`merge::Merger::merge`] finds nothing
//! against it. What reads whole images (warps, custom kernels) is never merged: they must exist before.
//! Custom kernels can also fail while they run, and a group fails as a whole.
//!
//! ```text
//! edges      how a task reads another one's result
//! merge      what forbids a merge; merging
//! footprint  what part of each stage a tile of the results needs
//! horizontal  groups of the same program, side by side, for devices that launch them as one batch
//! cost       work, memory on the chip and bytes moved of a group: the rule
//! ```

mod cost;
mod edges;
mod footprint;
mod horizontal;
mod merge;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use mip_plan::EdgeDecision;

use super::draft::Draft;
use edges::{Edge, Reading, edges};
pub(super) use horizontal::horizontal;
use merge::Merger;

/// Merges along edges whose reader takes its own pixel: nothing is computed twice and nothing is kept.
pub(super) fn maps(draft: &mut Draft<'_>) {
    run(draft, |edge, _| edge.reading == Reading::Own);
}

/// Takes producers that only map or gather into the load of a window, a resampling or a gather.
pub(super) fn loads(draft: &mut Draft<'_>) {
    run(draft, |edge, merger| edge.reading != Reading::Own && merger.computes_points(edge.from));
}

/// Keeps windows and resamplings on the chip for the window, resampling or gather that reads them.
pub(super) fn windows(draft: &mut Draft<'_>) {
    run(draft, |edge, _| edge.reading != Reading::Own);
}

fn run(draft: &mut Draft<'_>, wanted: fn(&Edge, &Merger<'_, '_>) -> bool) {
    if !draft.request.fuse {
        return;
    }
    let edges = edges(draft);
    let mut outcomes = std::mem::take(&mut draft.outcomes);
    outcomes.resize(edges.len(), None);
    let mut merger = Merger::new(draft);
    // A merge can make another one possible: it takes away an outside reader, or what stood between.
    loop {
        let mut merged = false;
        for (edge, outcome) in edges.iter().zip(&mut outcomes) {
            if !merger.together(edge) && wanted(edge, &merger) {
                let result = merger.merge(edge);
                merged |= result.is_ok();
                *outcome = Some(result);
            }
        }
        if !merged {
            break;
        }
    }
    let mut groups = merger.into_groups();
    groups.retain(|stages| !stages.is_empty());
    draft.groups = groups;
    draft.outcomes = outcomes;
}

/// Writes down for each edge whether it is inside a group now, and why.
pub(super) fn record(draft: &mut Draft<'_>) {
    let group_of = draft.group_of_stage();
    let stored = draft.stored();
    let mut edges = edges(draft);
    let outcomes = std::mem::take(&mut draft.outcomes);
    let mut outcomes: Vec<_> =
        outcomes.into_iter().chain(std::iter::repeat(None)).take(edges.len()).collect();
    let mut written = vec![false; draft.stages.len()];
    let mut decisions = Vec::with_capacity(edges.len());
    for (edge, outcome) in edges.drain(..).zip(outcomes.drain(..)) {
        let result = draft.results[edge.from];
        let fused = group_of[result] == group_of[draft.results[edge.to]];
        let reason = match outcome {
            Some(Ok(reason)) if fused => reason,
            _ if fused => "other edges have brought both into one launch".to_owned(),
            Some(Err(reason)) => reason,
            _ => "fusion is off".to_owned(),
        };
        let bytes = cost::bytes(draft.stages[result].output, draft.request.batch);
        let write = fused && !stored[result] && !std::mem::replace(&mut written[result], true);
        let bytes_saved = bytes.saturating_mul(u64::from(fused) + u64::from(write));
        decisions.push(EdgeDecision { from: edge.from, to: edge.to, fused, reason, bytes_saved });
    }
    draft.plan.fusion = decisions;
}
