use std::ops::Range;

use mip_plan::{Axis, AxisTaps, Kernel, Operand};

use super::nodes::{Coordinate, Node, Nodes, What};
use super::regions::AxisRegions;
use super::roles::Roles;
use super::setting::{Setting, VECTOR, WARPS, ceil};
use crate::codegen::Target;

/// Room before the first tile and behind the last one: windows of the outermost lanes reach there.
pub(super) const ROOM: i64 = 64;
/// Most bytes of shared memory, and how many are better not exceeded so that several blocks run at once.
const MAX_SHARED: i64 = 48 << 10;
const GOOD_SHARED: i64 = 41 << 10;

/// A run over a tile's or the block's own rows that computes values and puts them somewhere.
pub(super) struct Pass {
    /// The tile that is filled; the last pass fills none.
    pub tile: Option<usize>,
    pub nodes: Nodes,
    /// What is written: the tile's value, or every stored stage without a tile.
    pub sinks: Vec<(usize, Operand)>,
    /// Pixel vectors of a row.
    pub vectors: i64,
    /// Rows.
    pub rows: i64,
    /// Rows made between two fillings of the raw copies; all of them where there are none.
    pub chunk: i64,
    pub raws: Vec<Raw>,
    /// Each warp fetches the source rows of its one resampling by itself: see [`super::bilinear`].
    pub by_warps: bool,
}

impl Pass {
    /// Whether rows come in chunks that the block copies together.
    pub(super) const fn chunked(&self) -> bool {
        !self.raws.is_empty() && !self.by_warps
    }

    /// Rows that a warp makes, of a chunk where there are chunks.
    pub(super) const fn rows_of_warp(&self) -> i64 {
        ceil(self.chunk, WARPS)
    }

    /// Numbers that a thread keeps from row to row for its windows.
    pub(super) fn kept(&self, setting: &Setting<'_>) -> usize {
        let of = |node: &Node| match node.of {
            Operand::Stage(s) if matches!(node.what, What::Window(_) | What::Shuffled) => {
                let stage = setting.stage(s);
                let rows = match &stage.kernel {
                    Kernel::Separable(k) => 2 * k.radius_y as usize + 1,
                    Kernel::Stencil(_) => 6,
                    Kernel::Point(_)
                    | Kernel::Gather(_)
                    | Kernel::Warp(_)
                    | Kernel::Resample(_)
                    | Kernel::Whole(_)
                    | Kernel::Custom(_) => 0,
                };
                rows * VECTOR as usize * stage.output.channels()
            }
            _ => 0,
        };
        self.nodes.list.iter().map(of).sum()
    }
}

/// Bytes of a buffer copied for a resampling.
pub(super) struct Raw {
    pub node: usize,
    pub buffer: usize,
    /// Bytes from one row to the next.
    pub pitch: i64,
    /// Where it begins in shared memory; bytes of a chunk's copy; and one past the last copy's end.
    pub offset: i64,
    pub bytes: i64,
    pub end: i64,
}

/// Blocks, tiles and passes of a fused kernel.
pub(super) struct Layout {
    /// Outputs of a block.
    pub columns: i64,
    pub rows: i64,
    pub x: AxisRegions,
    pub y: AxisRegions,
    pub passes: Vec<Pass>,
    /// Where each tile begins in shared memory.
    pub offsets: Vec<i64>,
    /// Bytes of shared memory.
    pub shared: i64,
}

impl Layout {
    /// # Errors
    /// Why no block size will do.
    pub(super) fn of(setting: &Setting<'_>, roles: &Roles, target: Target) -> Result<Self, String> {
        let last = setting.stage(setting.stages() - 1).output;
        let (width, height) = (i64::from(last.width()), i64::from(last.height()));
        let windows = !roles.tiles.is_empty();
        let columns = best_columns(setting, roles, width)?;
        let enough = 5 * i64::from(target.multiprocessors) / 2;
        let frames = (setting.batch() * target.branches) as i64;
        let blocks = |rows: i64| ceil(width, columns) * ceil(height, rows) * frames;
        let candidates: &[i64] =
            if windows { &[72, 64, 56, 48, 40, 32, 24, 16, 8, 4] } else { &[32, 16, 8, 4] };
        let mut smallest = None;
        for &rows in candidates {
            if rows > 8 && (rows >= height + 16 || blocks(rows) < enough) {
                continue;
            }
            let layout = Self::with(setting, roles, columns, rows)?;
            // With rings of source rows, four blocks run at once for their registers.
            let rings = layout.passes.iter().any(|p| p.by_warps);
            if layout.shared <= if rings { MAX_SHARED } else { GOOD_SHARED } {
                return Ok(layout);
            }
            smallest = Some(layout);
        }
        smallest
            .filter(|l| l.shared <= MAX_SHARED)
            .ok_or_else(|| "what its windows read does not fit in shared memory".to_owned())
    }

    fn with(setting: &Setting<'_>, roles: &Roles, columns: i64, rows: i64) -> Result<Self, String> {
        let x = AxisRegions::of(setting, roles, Axis::X, columns)?;
        let y = AxisRegions::of(setting, roles, Axis::Y, rows)?;
        let mut end = ROOM;
        let mut offsets = Vec::new();
        for (k, tile) in roles.tiles.iter().enumerate() {
            let desc = setting.desc(tile.source);
            let sample = if tile.as_f32 { 4 } else { desc.dtype().size() };
            let pitch = align(x.tiles[k].len * (desc.channels() * sample) as i64);
            offsets.push(end);
            end = align(end + pitch * y.tiles[k].len);
        }
        let mut layout = Self { columns, rows, x, y, passes: Vec::new(), offsets, shared: 0 };
        for k in (0..roles.tiles.len()).map(Some).chain([None]) {
            layout.passes.extend(layout.pass(setting, roles, k, end));
        }
        let raws = layout.passes.iter().flat_map(|p| p.raws.iter().map(|r| r.end));
        layout.shared = raws.chain([end]).max().unwrap_or(end) + ROOM;
        Ok(layout)
    }

    /// The pass of a tile, or the last one. `None` when there is nothing left to be written at the end.
    fn pass(&self, setting: &Setting<'_>, roles: &Roles, tile: Option<usize>, end: i64) -> Option<Pass> {
        let targets: Vec<Operand> = match tile {
            Some(k) => vec![roles.tiles[k].source],
            None => last_targets(setting, roles),
        };
        if targets.is_empty() {
            return None;
        }
        let (nodes, sinks) = Nodes::of(setting, roles, &targets);
        let sinks: Vec<(usize, Operand)> = sinks.into_iter().zip(targets).collect();
        let (own, rows) = match tile {
            Some(k) => (self.x.tiles[k].len, self.y.tiles[k].len),
            None => (self.columns, self.rows),
        };
        // One lane more, for what the last one takes from the next.
        let vectors = own / VECTOR + i64::from(nodes.shuffles());
        let mut pass =
            Pass { tile, nodes, sinks, vectors, rows, chunk: rows, raws: Vec::new(), by_warps: false };
        let found: Vec<(usize, usize)> = pass.nodes.raws(setting).collect();
        let straight = tile.is_some_and(|k| roles.tiles[k].integer.is_some());
        if straight || found.is_empty() {
            return Some(pass);
        }
        if let Some(raw) = self.ring(setting, &pass, end) {
            pass.raws.push(raw);
            pass.by_warps = true;
        } else {
            pass.chunk = rows.min(2 * WARPS);
            let mut offset = end;
            for (node, buffer) in found {
                let raw = self.raw(setting, &pass, node, buffer, offset);
                offset = raw.end;
                pass.raws.push(raw);
            }
        }
        Some(pass)
    }

    /// The first column or row that a pass makes in each block.
    pub(super) fn origins(&self, pass: &Pass, axis: Axis) -> Vec<i64> {
        let (regions, step) = if axis == Axis::X { (&self.x, self.columns) } else { (&self.y, self.rows) };
        match pass.tile {
            Some(k) => regions.tiles[k].first.clone(),
            None => (0..regions.blocks).map(|b| b * step).collect(),
        }
    }

    /// A copy for one resampling.
    fn raw(&self, setting: &Setting<'_>, pass: &Pass, node: usize, buffer: usize, offset: i64) -> Raw {
        let Operand::Stage(stage) = pass.nodes.list[node].of else { unreachable!("a resampling is a stage") };
        let Kernel::Resample(kernel) = &setting.stage(stage).kernel else { unreachable!("a resampling") };
        let desc = setting.desc(Operand::Buffer(buffer));
        let pixel = (desc.channels() * desc.dtype().size()) as i64;
        let Node { x, y, .. } = pass.nodes.list[node];
        let extent = |taps: &AxisTaps, range| {
            let read = taps.footprint(range);
            read.end - read.start
        };
        let columns = self.origins(pass, Axis::X).into_iter();
        let columns =
            columns.map(|first| extent(&kernel.x, span(x, first, pass.vectors * VECTOR, VECTOR))).max();
        let rows = self.origins(pass, Axis::Y).into_iter();
        let rows = rows.flat_map(|first| (0..pass.rows).step_by(pass.chunk as usize).map(move |c| first + c));
        let rows = rows.map(|first| extent(&kernel.y, span(y, first, pass.chunk, 1))).max();
        let pitch = align(columns.unwrap_or(1) * pixel + 15);
        let bytes = pitch * rows.unwrap_or(1);
        // The next chunk is on its way while one is read.
        let copies = if pass.chunk < pass.rows { 2 } else { 1 };
        Raw { node, buffer, pitch, offset, bytes, end: offset + bytes * copies }
    }
}

/// What is written in the last pass: stored results that lie in no tile.
fn last_targets(setting: &Setting<'_>, roles: &Roles) -> Vec<Operand> {
    setting.stored().map(Operand::Stage).filter(|&s| roles.tile_of(s).is_none()).collect()
}

/// Columns of a block: those with the fewest runs of a warp over the width, the narrowest of several.
fn best_columns(setting: &Setting<'_>, roles: &Roles, width: i64) -> Result<i64, String> {
    let mut best: Option<(i64, i64)> = None;
    let shuffles = |targets: &[Operand]| Nodes::of(setting, roles, targets).0.shuffles();
    let last_shuffles = shuffles(&last_targets(setting, roles));
    let shuffles: Vec<bool> = roles.tiles.iter().map(|p| shuffles(&[p.source])).collect();
    for columns in (8..=128).step_by(8) {
        if columns > 8 && columns >= width + 8 {
            break;
        }
        // Any number of rows: regions along x do not depend on it.
        let x = AxisRegions::of(setting, roles, Axis::X, columns)?;
        // Lanes that hand columns to each other are those of one warp.
        let apron = |shuffles: bool| if shuffles { VECTOR } else { 0 };
        if columns + apron(last_shuffles) > 32 * VECTOR {
            break;
        }
        if x.tiles.iter().zip(&shuffles).any(|(p, &shuffles)| shuffles && p.len + apron(true) > 32 * VECTOR) {
            continue;
        }
        let runs = |len: i64| ceil(len, 32 * VECTOR);
        let work: i64 = x.tiles.iter().map(|p| runs(p.len)).sum::<i64>() + 1;
        let cost = work * ceil(width, columns);
        if best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, columns));
        }
    }
    best.map(|(_, columns)| columns).ok_or_else(|| "no width of a block will do".to_owned())
}

/// The coordinates that vectors of `unit` read when a pass makes `len` from `first` on.
pub(super) fn span(coordinate: Coordinate, first: i64, len: i64, unit: i64) -> Range<i64> {
    if coordinate.flipped {
        // The vector at `first` reads `unit` coordinates from its mapped start on, later ones lower.
        coordinate.offset - (first + len - unit)..coordinate.offset - first + unit
    } else {
        first + coordinate.offset..first + coordinate.offset + len
    }
}

const fn align(bytes: i64) -> i64 {
    (bytes + 15) / 16 * 16
}
