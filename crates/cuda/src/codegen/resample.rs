use mip_core::{DType, ImageDesc};
use mip_plan::{AxisTaps, Resample};

use super::fields::Fields;
use super::stage::{Body, Context, Grid, Table, rows_per_warp};
use super::text::{Piece, pixels, planar, sample};

const WARPS: u32 = 4;
/// Most taps along an axis for which sums and weights stay in registers.
const FEW_TAPS: usize = 4;
const SHARED_LIMIT: u64 = 32 << 10;

fn bytes_of<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    values.flatten().collect()
}

fn u32s(values: impl Iterator<Item = u32>) -> Vec<u8> {
    bytes_of(values.map(u32::to_ne_bytes))
}

/// Weights tap by tap, so that threads that make neighbouring columns read neighbouring weights.
pub(super) fn weights_by_tap(axis: &AxisTaps) -> Vec<u8> {
    let of_tap = |k| (0..axis.outputs()).map(move |o| axis.weights(o)[k]);
    bytes_of((0..axis.taps()).flat_map(of_tap).map(f32::to_ne_bytes))
}

/// The same in binary64, for long sums.
fn wide_weights_by_tap(axis: &AxisTaps) -> Vec<u8> {
    let of_tap = |k| (0..axis.outputs()).map(move |o| axis.wide_weights(o)[k]);
    bytes_of((0..axis.taps()).flat_map(of_tap).map(f64::to_ne_bytes))
}

fn x_weights(axis: &AxisTaps, long: bool) -> Vec<u8> {
    if long { wide_weights_by_tap(axis) } else { weights_by_tap(axis) }
}

/// Weights output by output.
fn y_weights(axis: &AxisTaps, long: bool) -> Vec<u8> {
    let wide = || bytes_of((0..axis.outputs()).flat_map(|o| axis.wide_weights(o)).map(|w| w.to_ne_bytes()));
    if long { wide() } else { bytes_of(axis.all_weights().iter().map(|w| w.to_ne_bytes())) }
}

/// For each run of `step` outputs: the first source coordinate and how many follow from there.
fn ranges(axis: &AxisTaps, step: usize) -> Vec<(u32, u32)> {
    let range = |starts: &[u32]| {
        let first = starts.iter().copied().min().unwrap_or(0);
        let last = starts.iter().copied().max().unwrap_or(0);
        (first, last - first + axis.taps() as u32)
    };
    axis.starts().chunks(step).map(range).collect()
}

struct Shape {
    channels: usize,
    planes: u32,
    alpha: bool,
    /// Planes that alpha ties together.
    interleaved: bool,
    v: u32,
}

impl Shape {
    fn of(input: &ImageDesc) -> Self {
        let alpha = input.format().has_alpha();
        let split = planar(input) && !alpha;
        let channels = if split { 1 } else { input.channels() };
        let planes = if split { input.channels() as u32 } else { 1 };
        let interleaved = planar(input) && alpha;
        // Fewer pixels keep more registers free; interleaved planes still need whole words in each.
        let v = if alpha && !(interleaved && input.dtype() == DType::U8) { 2 } else { 4 };
        Self { channels, planes, alpha, interleaved, v }
    }
}

pub(super) fn body(context: &Context<'_>, kernel: &Resample) -> Body {
    let (input, output) = (*context.input(), context.output.layout.desc);
    let shape = Shape::of(&input);
    let wide = kernel.is_wide(&input);
    let long = [&kernel.x, &kernel.y].map(|axis| wide || axis.is_long(&input));
    let [kind_x, kind_y] = long.map(|long| if long { "double" } else { "float" });
    let mut fields = Fields::default();
    fields.image("in");
    fields.image("out");
    fields.pointer("u32", "x_starts");
    fields.pointer(kind_x, "x_weights");
    fields.pointer("u32", "y_starts");
    fields.pointer(kind_y, "y_weights");
    fields.int("width", output.width());
    fields.uint("height", output.height());
    fields.uint("batch", 1);
    fields.uint("planes", shape.planes);
    fields.int("in_width", input.width());
    let tables = vec![
        Table { field: "x_starts".into(), bytes: u32s(kernel.x.starts().iter().copied()) },
        Table { field: "x_weights".into(), bytes: x_weights(&kernel.x, long[0]) },
        Table { field: "y_starts".into(), bytes: u32s(kernel.y.starts().iter().copied()) },
        Table { field: "y_weights".into(), bytes: y_weights(&kernel.y, long[1]) },
    ];
    let out = pixels(&input, shape.channels, shape.v, shape.interleaved);
    // Few taps are never a long sum.
    if !wide
        && kernel.x.taps() <= FEW_TAPS
        && kernel.y.taps() <= FEW_TAPS
        && let Some(plan) = TilePlan::of(context, kernel, &shape)
    {
        return tiled(context, kernel, &shape, &plan, fields, tables, &out);
    }
    fields.int("x_taps", kernel.x.taps() as u32);
    fields.int("y_taps", kernel.y.taps() as u32);
    let Shape { channels, planes, alpha, interleaved, v } = shape;
    let [x, y] = long;
    if !wide && let Some(plan) = SharedSums::of(context, kernel, &shape) {
        fields.pointer("u32", "y_tiles");
        fields.uint("tiles", plan.tiles.len() as u32);
        fields.int("rows", plan.rows);
        let mut tables = tables;
        tables.push(tile_rows(&plan.tiles));
        let columns = plan.columns;
        let dtype = sample(input.dtype());
        let call =
            format!("resample_shared<{dtype}, {channels}, {interleaved}, {alpha}, {columns}, {x}, {y}>");
        let grid = Grid {
            block: [SharedSums::THREADS, 1],
            x: output.width().div_ceil(columns),
            y: plan.tiles.len() as u64,
            planes,
            shared: plan.shared,
        };
        return Body {
            fields,
            tables,
            uniforms: None,
            grid,
            pieces: &[Piece::Tile, Piece::Resample],
            call: Box::new(move |_, _| call.clone()),
        };
    }
    let call = format!(
        "resample_direct<{}, {channels}, {interleaved}, {alpha}, {out}, {x}, {y}, {wide}",
        sample(input.dtype())
    );
    let grid = Grid {
        block: [32, WARPS],
        x: output.width().div_ceil(32 * v),
        y: u64::from(output.height()).div_ceil(u64::from(WARPS)),
        planes,
        shared: 0,
    };
    Body {
        fields,
        tables,
        uniforms: None,
        grid,
        pieces: &[Piece::Tile, Piece::Resample],
        call: Box::new(move |_, o| format!("{call}, {o}>")),
    }
}

/// Source regions of blocks of outputs, and the rows a warp makes.
struct TilePlan {
    columns: Vec<(u32, u32)>,
    rows: Vec<(u32, u32)>,
    pitch: u32,
    rows_per_warp: u32,
    shared: u32,
}

impl TilePlan {
    /// `None` when no region fits in shared memory.
    fn of(context: &Context<'_>, kernel: &Resample, shape: &Shape) -> Option<Self> {
        let pixel = (shape.channels * context.input().dtype().size()) as u64;
        let columns = ranges(&kernel.x, 32 * shape.v as usize);
        let widest = columns.iter().map(|&(_, n)| u64::from(n)).max()?;
        // A row begins on a whole 16 bytes of its image row, and may be read a little beyond its end.
        let pitch = (widest * pixel + 15).next_multiple_of(16);
        let most_rows =
            |rows: u32| ranges(&kernel.y, (rows * WARPS) as usize).iter().map(|&(_, n)| u64::from(n)).max();
        let shared = |rows: u32| most_rows(rows).unwrap_or(u64::MAX).saturating_mul(pitch).saturating_add(16);
        let blocks = columns.len() as u64 * u64::from(shape.planes);
        let rows = rows_per_warp(context, blocks, WARPS, shared);
        let bytes = shared(rows);
        (bytes <= SHARED_LIMIT).then(|| Self {
            columns,
            rows: ranges(&kernel.y, (rows * WARPS) as usize),
            pitch: pitch as u32,
            rows_per_warp: rows,
            shared: bytes as u32,
        })
    }
}

/// First source row and number of source rows of each block's outputs.
fn tile_rows(tiles: &[(u32, u32)]) -> Table {
    Table { field: "y_tiles".into(), bytes: u32s(tiles.iter().flat_map(|&(first, n)| [first, n])) }
}

/// Blocks whose sums along y share the sums along x of their source rows, in shared memory.
struct SharedSums {
    columns: u32,
    rows: u32,
    tiles: Vec<(u32, u32)>,
    shared: u32,
}

impl SharedSums {
    const THREADS: u32 = 256;
    const LIMIT: u64 = 48 << 10;
    /// Sums along x that are made again in each block must be so many times fewer than those that each output would make.
    const WORTH: u64 = 3;
    /// Above so many times as many source rows as outputs, narrower blocks are better.
    const TALL: u64 = 4;

    /// `None` where too little is shared, or no block fits.
    fn of(context: &Context<'_>, kernel: &Resample, shape: &Shape) -> Option<Self> {
        let (width, height) = (kernel.x.outputs() as u64, kernel.y.outputs() as u64);
        let frames = (context.batch() * context.target.branches) as u64 * u64::from(shape.planes);
        let enough = 2 * u64::from(context.target.multiprocessors);
        let candidates = [32_u32, 16, 8].into_iter().filter_map(|columns| {
            let row = u64::from(columns) * shape.channels as u64 * 4;
            let blocks = |rows: u32| width.div_ceil(columns.into()) * height.div_ceil(rows.into()) * frames;
            let sums = |rows: u32| {
                let tiles = ranges(&kernel.y, rows as usize);
                let most = tiles.iter().map(|&(_, n)| u64::from(n)).max()?;
                let bytes = most.saturating_mul(row);
                (bytes <= Self::LIMIT).then_some(Self { columns, rows, tiles, shared: bytes as u32 })
            };
            let rows = [128, 64, 32, 16].into_iter().filter(|&rows| rows == 16 || blocks(rows) >= enough);
            rows.filter_map(sums).min_by_key(Self::made)
        });
        let (direct, tall) = (height * kernel.y.taps() as u64, Self::TALL * height);
        let mut candidates = candidates.filter(|sums| sums.made() * Self::WORTH <= direct).peekable();
        let widest = candidates.peek().map(|sums| sums.made() <= tall)?;
        if widest { candidates.next() } else { candidates.min_by_key(Self::made) }
    }

    /// Rows of sums along x.
    fn made(&self) -> u64 {
        self.tiles.iter().map(|&(_, n)| u64::from(n)).sum()
    }
}

fn tiled(
    context: &Context<'_>,
    kernel: &Resample,
    shape: &Shape,
    plan: &TilePlan,
    mut fields: Fields,
    mut tables: Vec<Table>,
    out: &str,
) -> Body {
    fields.pointer("u32", "x_tiles");
    fields.pointer("u32", "y_tiles");
    fields.uint("tiles", plan.rows.len() as u32);
    fields.int("pitch", plan.pitch);
    fields.int("rows", plan.rows_per_warp);
    tables.push(Table { field: "x_tiles".into(), bytes: u32s(plan.columns.iter().map(|&(first, _)| first)) });
    tables.push(tile_rows(&plan.rows));
    let dtype = sample(context.input().dtype());
    let Shape { channels, planes, alpha, interleaved, .. } = *shape;
    let (tx, ty) = (kernel.x.taps(), kernel.y.taps());
    let call = format!("resample_tile<{dtype}, {channels}, {interleaved}, {alpha}, {out}, {tx}, {ty}");
    let grid = Grid {
        block: [32, WARPS],
        x: plan.columns.len() as u32,
        y: plan.rows.len() as u64,
        planes,
        shared: plan.shared,
    };
    Body {
        fields,
        tables,
        uniforms: None,
        grid,
        pieces: &[Piece::Tile, Piece::Resample],
        call: Box::new(move |i, o| format!("{call}, {i}, {o}>")),
    }
}
