use mip_plan::Plan;
use serde::Serialize;

use super::MemorySummary;
use super::table::table;

/// A plan beside the plan for the same request without fusion.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FusionSummary {
    /// Launches.
    pub launches: usize,
    /// Launches without fusion.
    pub unfused_launches: usize,
    /// Bytes of arena and outputs.
    pub peak_bytes: usize,
    /// Bytes of arena and outputs without fusion.
    pub unfused_peak_bytes: usize,
    /// Bytes read from and written to memory.
    pub traffic_bytes: u64,
    /// Bytes read from and written to memory without fusion.
    pub unfused_traffic_bytes: u64,
    /// By how much of `unfused_traffic_bytes` the traffic is smaller, in percent.
    pub traffic_saved_percent: f64,
}

impl FusionSummary {
    /// Compares two plans that have passed [`crate::check`].
    pub fn of(plan: &Plan, unfused: &Plan) -> Self {
        let (traffic_bytes, unfused_traffic_bytes) = (plan.traffic_bytes(), unfused.traffic_bytes());
        let saved = unfused_traffic_bytes.saturating_sub(traffic_bytes);
        Self {
            launches: plan.groups.len(),
            unfused_launches: unfused.groups.len(),
            peak_bytes: MemorySummary::of(plan).peak_bytes,
            unfused_peak_bytes: MemorySummary::of(unfused).peak_bytes,
            traffic_bytes,
            unfused_traffic_bytes,
            traffic_saved_percent: 100.0 * saved as f64 / unfused_traffic_bytes.max(1) as f64,
        }
    }

    /// A section to stand below [`crate::render_text`].
    pub fn render_text(&self) -> String {
        let row = |what: &str, fused: String, unfused: String| vec![what.to_owned(), fused, unfused];
        let mut traffic = row(
            "read and written",
            format!("{} bytes", self.traffic_bytes),
            format!("{} bytes", self.unfused_traffic_bytes),
        );
        traffic.push(format!("{:.1}% saved", self.traffic_saved_percent));
        let rows = [
            row("", "fused".to_owned(), "not fused".to_owned()),
            row("launches", self.launches.to_string(), self.unfused_launches.to_string()),
            row(
                "arena and outputs",
                format!("{} bytes", self.peak_bytes),
                format!("{} bytes", self.unfused_peak_bytes),
            ),
            traffic,
        ];
        format!("\nbeside the same without fusion\n{}", table(&rows))
    }
}
