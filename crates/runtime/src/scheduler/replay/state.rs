use super::{DirtyReason, GraphSlot, GraphStats, Signature};

/// What a scheduler knows of the runs before: which workload it was, what was counted.
#[derive(Debug, Default)]
pub(in crate::scheduler) struct ReplayState {
    last: Option<Signature>,
    pub(in crate::scheduler) stats: GraphStats,
}

/// How a run is to be submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scheduler) enum Decision {
    /// Task by task.
    Direct,
    /// Captured, then replayed.
    Capture,
    /// By the graph that the slot holds.
    Replay,
}

impl ReplayState {
    /// Decides about the next run and counts what it invalidates, which is the second result; the run itself is counted
    /// when it is submitted.
    pub(in crate::scheduler) fn decide(
        &mut self,
        next: &Signature,
        slot: &mut GraphSlot,
        recapture: bool,
    ) -> (Decision, Option<DirtyReason>) {
        let workload = self.last.replace(next.clone()).and_then(|last| last.workload_change(next));
        let stale = slot.captured.as_ref().and_then(|captured| captured.signature.change(next));
        let asked = (recapture && slot.is_captured()).then_some(DirtyReason::OperatorRequest);
        if stale.or(asked).is_some() {
            slot.clear();
        }
        if let Some(reason) = workload.or(stale).or(asked) {
            self.invalidate(reason);
            return (Decision::Direct, Some(reason));
        }
        let decision = match slot.is_captured() {
            true => Decision::Replay,
            // Something that is to be captured anew every time is better not captured.
            false if recapture => Decision::Direct,
            false => Decision::Capture,
        };
        (decision, None)
    }

    pub(in crate::scheduler) fn invalidate(&mut self, reason: DirtyReason) {
        *self.stats.invalidations.entry(reason).or_default() += 1;
    }
}
