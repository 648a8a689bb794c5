use mip_plan::{BufferId, GroupId, Place, Plan};
use serde::Serialize;

use super::table::table;

/// What each kernel moves through memory, and how long that takes at least, beside the floor: inputs read once and
/// outputs written once. Arithmetic, launches and caches are left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Traffic {
    /// Rate assumed, read and written bytes counted, if one was given.
    pub gb_per_s: Option<f64>,
    /// All kernels in launch order.
    pub kernels: Vec<KernelTraffic>,
    /// Bytes that all kernels read and write.
    pub bytes: u64,
    /// Time for these, one kernel after the other.
    pub at_least_us: Option<f64>,
    /// Bytes of inputs and outputs.
    pub floor_bytes: u64,
    /// Time for these.
    pub floor_us: Option<f64>,
}

/// What one kernel moves through memory, for all frames, padding left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelTraffic {
    /// The kernel.
    pub group: GroupId,
    /// Each buffer that it reads, once.
    pub bytes_read: u64,
    /// Each buffer that it writes, once.
    pub bytes_written: u64,
    /// Time for both.
    pub at_least_us: Option<f64>,
}

impl Traffic {
    /// Adds up a plan; times where a rate in gigabytes a second is given.
    pub fn of(plan: &Plan, gb_per_s: Option<f64>) -> Self {
        let us = |bytes: u64| gb_per_s.map(|rate| bytes as f64 / rate / 1e3);
        let sum = |ids: Vec<BufferId>| ids.into_iter().map(|id| bytes(plan, id)).sum::<u64>();
        let kernels = plan.groups.iter().enumerate().map(|(group, kernel)| {
            let (bytes_read, bytes_written) = (sum(kernel.reads()), sum(kernel.writes()));
            KernelTraffic { group, bytes_read, bytes_written, at_least_us: us(bytes_read + bytes_written) }
        });
        let outside = |id: &BufferId| !matches!(plan.buffers[*id].place, Place::Arena { .. });
        let floor_bytes = sum((0..plan.buffers.len()).filter(outside).collect());
        let all = plan.traffic_bytes();
        Self {
            gb_per_s,
            kernels: kernels.collect(),
            bytes: all,
            at_least_us: us(all),
            floor_bytes,
            floor_us: us(floor_bytes),
        }
    }

    /// A section to stand below [`crate::render_text`].
    pub fn render_text(&self) -> String {
        let time = |us: Option<f64>| us.map_or_else(String::new, |us| format!("{us:.2} us"));
        let moved =
            |read: u64, written: u64| vec![format!("reads {read} bytes"), format!("writes {written} bytes")];
        let mut rows: Vec<Vec<String>> = Vec::new();
        for kernel in &self.kernels {
            let columns = moved(kernel.bytes_read, kernel.bytes_written);
            rows.push([vec![format!("#{}", kernel.group)], columns, vec![time(kernel.at_least_us)]].concat());
        }
        let total = |what: &str, bytes: u64, us| {
            vec![what.to_owned(), format!("{bytes} bytes"), String::new(), time(us)]
        };
        rows.push(total("all", self.bytes, self.at_least_us));
        rows.push(total("floor", self.floor_bytes, self.floor_us));
        let title = match self.gb_per_s {
            Some(rate) => format!("traffic, and the time it takes at least at {rate} GB/s"),
            None => "traffic".to_owned(),
        };
        format!("\n{title}\n{}", table(&rows))
    }
}

fn bytes(plan: &Plan, id: BufferId) -> u64 {
    let layout = &plan.buffers[id].layout;
    layout.desc.bytes() as u64 * layout.batch_size as u64
}
