//! The rule that says whether a merge pays, with its numbers.

use mip_core::ImageDesc;
use mip_plan::Axis;

use super::footprint::{Part, parts};
use crate::planner::draft::{Draft, DraftStage, DraftValue, StageId};

/// Sizes of a tile of the results, the best first: what a GPU's block makes. The first is taken whose
/// intermediates fit on the chip.
const TILES: [(u32, u32); 2] = [(128, 64), (64, 32)];

/// Bytes of intermediates of a tile: the shared memory that every CUDA device grants without asking.
pub(super) const MAX_TILE_BYTES: u64 = 48 << 10;

/// Bytes of rows kept for a row band: about what a core's second-level cache holds.
pub(super) const MAX_ROW_BYTES: u64 = 1 << 20;

/// Binary32 operations on samples that take as long as moving one byte to or from memory: an H100 can do ten by
/// its data sheet (33.5 T fused multiply-adds and 3.35 TB a second), and no code reaches that.
pub(super) const OPERATIONS_PER_BYTE: f64 = 8.0;

/// What a group takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    /// Operations for a frame, halos included.
    pub(super) operations: f64,
    /// Bytes read and written for a frame.
    pub(super) traffic: u64,
    /// Bytes on the chip for a tile.
    pub(super) tile: u64,
    /// Bytes of rows for a row band.
    pub(super) rows: u64,
}

/// Estimates a group; `stored` tells which members' results leave it, which all have one size.
pub(super) fn cost(draft: &Draft<'_>, members: &[StageId], stored: &dyn Fn(StageId) -> bool) -> Cost {
    let descs = |&member: &StageId| draft.stages[member].output;
    let size = members.iter().filter(|&&m| stored(m)).map(descs).next();
    let size = size.or_else(|| members.last().map(descs));
    let (width, height) = size.map_or((1, 1), |d| (d.width(), d.height()));
    let on_tile = |tile: (u32, u32)| {
        let tile = (tile.0.min(width), tile.1.min(height));
        let parts = parts(draft, members, stored, tile);
        let kept = members.iter().zip(&parts).filter(|(_, part)| part.kept);
        let bytes = |(member, part): (&StageId, &Part)| {
            part.width.saturating_mul(part.height).saturating_mul(pixel_bytes(&descs(member)))
        };
        let bytes = kept.map(bytes).fold(0, u64::saturating_add);
        let tiles = f64::from(width) * f64::from(height) / (f64::from(tile.0) * f64::from(tile.1));
        let work = |(member, part): (&StageId, &Part)| {
            let stage = &draft.stages[*member];
            part.pixels * stage.output.channels() as f64 * stage.kernel.operations()
        };
        (bytes, members.iter().zip(&parts).map(work).sum::<f64>() * tiles)
    };
    let (mut tile, mut operations) = on_tile(TILES[0]);
    if tile > MAX_TILE_BYTES {
        (tile, operations) = on_tile(TILES[1]);
    }
    let traffic = traffic(draft, members, stored);
    Cost { operations, traffic, tile, rows: row_bytes(draft, members, stored, width) }
}

/// Bytes of the rows that stages of a group keep for each other while it goes down a row band.
fn row_bytes(draft: &Draft<'_>, members: &[StageId], stored: &dyn Fn(StageId) -> bool, width: u32) -> u64 {
    // What one row of the results needs, by every path.
    let parts = parts(draft, members, stored, (width, 1));
    let rows = |member: &StageId, part: &Part| {
        let mut readers = members.iter().map(|&m| &draft.stages[m]).filter(|s| reads(s, *member));
        match (readers.next(), readers.next()) {
            (Some(only), None) => only.kernel.taps(Axis::Y).min(part.height),
            _ => part.height,
        }
    };
    let bytes = |(member, part): (&StageId, &Part)| {
        rows(member, part).saturating_mul(
            (draft.stages[*member].output.bytes() as u64)
                .div_ceil(u64::from(draft.stages[*member].output.height())),
        )
    };
    members.iter().zip(&parts).filter(|(_, part)| part.read).map(bytes).fold(0, u64::saturating_add)
}

fn reads(stage: &DraftStage, read: StageId) -> bool {
    stage.inputs.contains(&DraftValue::Stage(read))
}

/// Bytes that a group reads from and writes to memory for a frame.
fn traffic(draft: &Draft<'_>, members: &[StageId], stored: &dyn Fn(StageId) -> bool) -> u64 {
    let mut read: Vec<DraftValue> =
        members.iter().flat_map(|&m| draft.stages[m].inputs.iter().copied()).collect();
    read.sort_unstable();
    read.dedup();
    let outside = read.into_iter().filter_map(|value| match value {
        DraftValue::Input(input) => draft.request.inputs.get(input).copied(),
        DraftValue::Stage(stage) => {
            members.binary_search(&stage).is_err().then(|| draft.stages[stage].output)
        }
    });
    let written = members.iter().filter(|&&m| stored(m)).map(|&m| draft.stages[m].output);
    outside.chain(written).map(|desc| bytes(desc, 1)).fold(0, u64::saturating_add)
}

/// Bytes of all frames of a batch of images, or the most there are numbers for.
pub(super) fn bytes(desc: ImageDesc, batch: usize) -> u64 {
    let pixels = u64::from(desc.width()).saturating_mul(u64::from(desc.height()));
    pixels.saturating_mul(pixel_bytes(&desc)).saturating_mul(batch as u64)
}

fn pixel_bytes(desc: &ImageDesc) -> u64 {
    (desc.channels() * desc.dtype().size()) as u64
}
