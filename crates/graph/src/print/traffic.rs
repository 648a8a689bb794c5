use mip_core::ImageDesc;
use mip_plan::{BufferId, Group, GroupId, Operand, Place, Plan, Tiling};
use serde::Serialize;

use super::table::table;

/// What each launch moves through memory, and how long that takes at least, beside the floor: inputs read
/// once and outputs written once. Arithmetic, launches and caches are left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Traffic {
    /// Rate assumed, read and written bytes counted, if one was given.
    pub gb_per_s: Option<f64>,
    /// All launches in launch order.
    pub launches: Vec<LaunchTraffic>,
    /// Bytes that all launches read and write.
    pub bytes: u64,
    /// Time for these, one launch after the other.
    pub at_least_us: Option<f64>,
    /// Bytes of inputs and outputs.
    pub floor_bytes: u64,
    /// Time for these.
    pub floor_us: Option<f64>,
    /// `bytes` for each of `floor_bytes`: 1 where nothing but inputs and outputs moves.
    pub times_floor: f64,
}

/// What one launch moves through memory, for all frames, padding left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LaunchTraffic {
    /// The group that it runs.
    pub group: GroupId,
    /// Each buffer that it reads, once; unfused, whatever the stages read.
    pub bytes_read: u64,
    /// Each buffer that it writes, once; unfused, whatever the stages write.
    pub bytes_written: u64,
    /// Time for both.
    pub at_least_us: Option<f64>,
}

impl Traffic {
    /// Adds up a plan; times where a rate in gigabytes a second is given. `tilings`, one for each group or none at all, say
    /// which groups the device runs unfused.
    pub fn of(plan: &Plan, tilings: &[Result<Tiling, String>], gb_per_s: Option<f64>) -> Self {
        let us = |bytes: u64| gb_per_s.map(|rate| bytes as f64 / rate / 1e3);
        let sum = |ids: Vec<BufferId>| ids.into_iter().map(|id| bytes(plan, id)).sum::<u64>();
        let launch = |(id, group): (GroupId, &Group)| {
            let apart = matches!(tilings.get(id), Some(Ok(tiling)) if tiling.unfused.is_some());
            let (bytes_read, bytes_written) =
                if apart { stage_by_stage(plan, group) } else { (sum(group.reads()), sum(group.writes())) };
            LaunchTraffic {
                group: id,
                bytes_read,
                bytes_written,
                at_least_us: us(bytes_read + bytes_written),
            }
        };
        let launches: Vec<LaunchTraffic> = plan.groups.iter().enumerate().map(launch).collect();
        let all = launches.iter().map(|l| l.bytes_read + l.bytes_written).sum();
        let outside = |id: &BufferId| !matches!(plan.buffers[*id].place, Place::Arena { .. });
        let floor_bytes = sum((0..plan.buffers.len()).filter(outside).collect());
        Self {
            gb_per_s,
            launches,
            bytes: all,
            at_least_us: us(all),
            floor_bytes,
            floor_us: us(floor_bytes),
            times_floor: all as f64 / floor_bytes.max(1) as f64,
        }
    }

    /// A section to stand below [`crate::render_text`].
    pub fn render_text(&self) -> String {
        let time = |us: Option<f64>| us.map_or_else(String::new, |us| format!("{us:.2} us"));
        let moved =
            |read: u64, written: u64| vec![format!("reads {read} bytes"), format!("writes {written} bytes")];
        let mut rows: Vec<Vec<String>> = Vec::new();
        for launch in &self.launches {
            let columns = moved(launch.bytes_read, launch.bytes_written);
            rows.push([vec![format!("#{}", launch.group)], columns, vec![time(launch.at_least_us)]].concat());
        }
        let total = |what: &str, bytes: u64, us| {
            vec![what.to_owned(), format!("{bytes} bytes"), String::new(), time(us)]
        };
        let mut all = total("all", self.bytes, self.at_least_us);
        all.push(format!("{:.2} x floor", self.times_floor));
        rows.push(all);
        rows.push(total("floor", self.floor_bytes, self.floor_us));
        let title = match self.gb_per_s {
            Some(rate) => format!("traffic, and the time it takes at least at {rate} GB/s"),
            None => "traffic".to_owned(),
        };
        format!("\n{title}\n{}", table(&rows))
    }
}

/// Bytes that the stages of a group read and write when all results go through memory.
fn stage_by_stage(plan: &Plan, group: &Group) -> (u64, u64) {
    let image = |desc: &ImageDesc| desc.bytes() as u64 * plan.batch as u64;
    let operand = |operand: &Operand| match *operand {
        Operand::Buffer(id) => bytes(plan, id),
        Operand::Stage(stage) => image(&group.stages[stage].output),
    };
    let read = group.stages.iter().flat_map(|s| &s.inputs).map(operand).sum();
    (read, group.stages.iter().map(|s| image(&s.output)).sum())
}

fn bytes(plan: &Plan, id: BufferId) -> u64 {
    let layout = &plan.buffers[id].layout;
    layout.desc.bytes() as u64 * layout.batch_size as u64
}
