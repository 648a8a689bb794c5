use mip_plan::{Place, Plan};
use serde::Serialize;

/// What a plan needs in bytes, against the same without sharing. Inputs are left out: they are the caller's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MemorySummary {
    /// Intermediates and workspaces.
    pub arena_bytes: usize,
    /// Outputs.
    pub output_bytes: usize,
    /// Arena and outputs together.
    pub peak_bytes: usize,
    /// Every intermediate, workspace and output in memory of its own.
    pub separate_bytes: usize,
    /// By how much of `separate_bytes` the peak is smaller, in percent.
    pub saved_percent: f64,
}

impl MemorySummary {
    /// Adds up a plan that has passed [`crate::check`] (whose sums fit).
    pub fn of(plan: &Plan) -> Self {
        let outputs = plan.buffers.iter().filter(|b| matches!(b.place, Place::Output(_)));
        let output_bytes = outputs.map(|b| b.layout.span()).sum();
        let workspaces: usize = plan.groups.iter().filter_map(|g| g.workspace).map(|w| w.bytes).sum();
        let separate_bytes = plan.sum_of_buffers() + workspaces;
        let peak_bytes = plan.arena_bytes + output_bytes;
        let saved = separate_bytes.saturating_sub(peak_bytes);
        let saved_percent = 100.0 * saved as f64 / separate_bytes.max(1) as f64;
        Self { arena_bytes: plan.arena_bytes, output_bytes, peak_bytes, separate_bytes, saved_percent }
    }
}
