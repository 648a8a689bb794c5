use mip_core::BatchLayout;
use mip_plan::{Group, Tiles};

use super::crop::Cropped;
use super::layout::{Layout, Pass};
use super::setting::{Setting, VECTOR, WARPS};
use super::{Decided, blocks_at_once, decide};
use crate::codegen::Target;

/// The blocks of a group that is one kernel; nothing for others.
pub(crate) fn fused_tiles(group: &Group, layouts: &[BatchLayout], target: Target) -> Option<Tiles> {
    let cropped = Cropped::of(group, layouts);
    let setting = Setting { group: &cropped.group, layouts: &cropped.layouts };
    let Decided { roles, layout } = decide(&setting, target).ok()?;
    let frame = [layout.x.blocks as u64, layout.y.blocks as u64];
    let blocks = frame[0] * frame[1];
    let made = |pass: &Pass| blocks * (pass.vectors * VECTOR * pass.rows) as u64;
    let kept = |pass: &Pass| {
        // Several results of one pass are made side by side.
        let desc = pass.sinks.first().map(|&(_, of)| setting.desc(of));
        desc.map_or(0, |d| u64::from(d.width()) * u64::from(d.height()))
    };
    let sum = |of: &dyn Fn(&Pass) -> u64| layout.passes.iter().map(of).sum::<u64>();
    Some(Tiles {
        stages: (0..setting.stages()).collect(),
        size: Some([layout.columns as u64, layout.rows as u64]),
        frame,
        count: blocks * setting.batch() as u64,
        threads: 32 * WARPS as u32,
        local_bytes: layout.shared as u64,
        at_once: Some(resident(&setting, &roles, &layout) * u64::from(target.multiprocessors)),
        halo: Some(sum(&made) as f64 / sum(&kept).max(1) as f64),
    })
}

/// Blocks that registers are set aside for on a multiprocessor, with inputs in aligned memory.
fn resident(setting: &Setting<'_>, roles: &super::Roles, layout: &Layout) -> u64 {
    u64::from(blocks_at_once(setting, roles, layout, 16))
}
