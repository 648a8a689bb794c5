use mip_core::{DType, ImageDesc};
use mip_plan::{Border, Separable, Stencil};

use super::fields::Fields;
use super::fused::is_sample;
use super::stage::{Body, Context, Grid, rows_per_warp};
use super::text::{self, Piece, pixels, planar, sample};

const WARPS: u32 = 4;
/// Largest radii for which the rows of the window stay in registers.
const SLIDING_RADIUS_X: u32 = 5;
const SLIDING_RADIUS_Y: u32 = 3;

/// The dtype of a tile: the image's own unless a constant border is no value of it.
fn tile_dtype(dtype: DType, border: Border) -> DType {
    if is_sample(border, dtype) { dtype } else { DType::F32 }
}

/// Bytes of a tile's row: `Tile::PITCH`.
pub(super) fn pitch(columns: u32, radius: u32, channels: usize, tile: DType) -> u64 {
    let pixel = (channels * tile.size()) as u64;
    let apron = (u64::from(radius) * pixel).next_multiple_of(16);
    (u64::from(columns) * pixel).next_multiple_of(16) + 2 * apron
}

pub(super) fn common_fields(context: &Context<'_>, planes: u32, constant: f32) -> Fields {
    let output = context.output.layout.desc;
    let mut fields = Fields::default();
    fields.image("in");
    fields.image("out");
    fields.int("width", output.width());
    fields.int("height", output.height());
    fields.uint("batch", 1);
    fields.uint("planes", planes);
    fields.float("constant", constant);
    fields
}

/// `Tile<u8, u8, 3, false, 128, 2>`.
pub(super) fn tile(
    input: &ImageDesc,
    tile: DType,
    channels: usize,
    planar: bool,
    columns: u32,
    radius: u32,
) -> String {
    format!("Tile<{}, {}, {channels}, {planar}, {columns}, {radius}>", sample(input.dtype()), sample(tile))
}

pub(super) fn separable(context: &Context<'_>, kernel: &Separable) -> Body {
    let input = *context.input();
    let alpha = input.format().has_alpha();
    // Planes are images of their own, unless alpha ties them together.
    let split = planar(&input) && !alpha;
    let planes = if split { input.channels() as u32 } else { 1 };
    let channels = if split { 1 } else { input.channels() };
    let (border, constant) = text::border(kernel.border);
    let mut fields = common_fields(context, planes, constant);
    fields.floats("wx", kernel.radius_x as usize + 1);
    fields.floats("wy", kernel.radius_y as usize + 1);
    if kernel.radius_x > SLIDING_RADIUS_X || kernel.radius_y > SLIDING_RADIUS_Y {
        return wide(context, kernel, fields, planes);
    }
    let v = match (channels, input.dtype()) {
        (1, DType::U8 | DType::U16) => 8,
        // Whole words in every plane, where planes are interleaved.
        (4, DType::U8) if planar(&input) => 4,
        (4, _) => 2,
        _ => 4,
    };
    let tile_type = tile_dtype(input.dtype(), kernel.border);
    let geometry = tile(&input, tile_type, channels, planar(&input) && alpha, 32 * v, kernel.radius_x);
    let out = pixels(&input, channels, v, planar(&input) && alpha);
    let ry = kernel.radius_y;
    let call = move |i, o| format!("separable_sliding<{geometry}, {out}, {alpha}, {ry}, {border}, {i}, {o}>");
    let pitch = pitch(32 * v, kernel.radius_x, channels, tile_type);
    let (grid, rows) = tile_grid(context, v, planes, ry, pitch);
    fields.int("rows", rows);
    Body {
        fields,
        tables: Vec::new(),
        uniforms: Some("wx"),
        grid,
        pieces: &[Piece::Tile, Piece::Separable],
        call: Box::new(call),
    }
}

fn wide(context: &Context<'_>, kernel: &Separable, fields: Fields, planes: u32) -> Body {
    const COLUMNS: u32 = 64;
    const ROWS: u32 = 32;
    let input = *context.input();
    let (dtype, channels, split) = (sample(input.dtype()), input.channels(), planar(&input));
    let alpha = input.format().has_alpha();
    let (border, _) = text::border(kernel.border);
    let (rx, ry) = (kernel.radius_x, kernel.radius_y);
    let call = format!("separable_wide<{dtype}, {channels}, {split}, {alpha}, {rx}, {ry}, {border}>");
    let desc = context.output.layout.desc;
    let row = COLUMNS + 2 * rx.next_multiple_of(4) + COLUMNS;
    let grid = Grid {
        block: [256, 1],
        x: desc.width().div_ceil(COLUMNS),
        y: u64::from(desc.height()).div_ceil(u64::from(ROWS)),
        planes,
        shared: (ROWS + 2 * ry) * row * 4,
    };
    Body {
        fields,
        tables: Vec::new(),
        uniforms: Some("wx"),
        grid,
        pieces: &[Piece::Tile, Piece::Wide],
        call: Box::new(move |_, _| call.clone()),
    }
}

/// [`Stencil::sobel`] of a gray image.
pub(super) fn sobel(context: &Context<'_>, kernel: &Stencil) -> Body {
    let input = *context.input();
    let (border, constant) = text::border(kernel.border);
    let mut fields = common_fields(context, 1, constant);
    let v = if input.dtype() == DType::F32 { 4 } else { 8 };
    let tile_type = tile_dtype(input.dtype(), kernel.border);
    // With a border value that is no sample, the square is no longer an integer.
    let integers = tile_type == input.dtype();
    let geometry = tile(&input, tile_type, 1, false, 32 * v, 1);
    let out = pixels(&input, 1, v, false);
    let call = move |i, o| format!("sobel_sliding<{geometry}, {out}, {integers}, {border}, {i}, {o}>");
    let (grid, rows) = tile_grid(context, v, 1, 1, pitch(32 * v, 1, 1, tile_type));
    fields.int("rows", rows);
    Body {
        fields,
        tables: Vec::new(),
        uniforms: None,
        grid,
        pieces: &[Piece::Tile, Piece::Sobel],
        call: Box::new(call),
    }
}

/// The blocks of a kernel that slides a window down a tile, and the rows each of its warps makes.
pub(super) fn tile_grid(
    context: &Context<'_>,
    v: u32,
    planes: u32,
    radius_y: u32,
    pitch: u64,
) -> (Grid, u32) {
    let desc = context.output.layout.desc;
    let x = desc.width().div_ceil(32 * v);
    let shared = |rows: u32| u64::from(rows * WARPS + 2 * radius_y) * pitch;
    let rows = rows_per_warp(context, u64::from(x) * u64::from(planes), WARPS, shared);
    let y = u64::from(desc.height()).div_ceil(u64::from(rows * WARPS));
    (Grid { block: [32, WARPS], x, y, planes, shared: shared(rows) as u32 }, rows)
}
