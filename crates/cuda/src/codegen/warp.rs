//! Warps: what reads a whole image, at coordinates that mix x and y.

use mip_plan::{AxisMap, Coordinates, CropFilter, Crops, Interpolation, MapUnit, Sampled, Warp};

use super::fields::Fields;
use super::gather::axis;
use super::stage::{Body, Context, Grid, Table};
use super::text::{Piece, border, pixels, planar, sample};

/// Rows and columns of a tile: `SIDE` of `transpose_tiles`.
const SIDE: u32 = 32;
/// Warps that bring a tile and write it.
const WARPS: u32 = 8;

pub(super) fn body(context: &Context<'_>, kernel: Warp) -> Body {
    match kernel {
        Warp::Transposed { x, y } => transposed(context, x, y),
        Warp::Sampled(kernel) => sampled(context, kernel),
        Warp::Crops(kernel) => crops(context, kernel),
    }
}

fn transposed(context: &Context<'_>, x: AxisMap, y: AxisMap) -> Body {
    let (input, output) = (*context.input(), context.output.layout.desc);
    let split = planar(&input);
    let (channels, planes) = if split { (1, input.channels() as u32) } else { (input.channels(), 1) };
    let (x_kind, x_origin, x_table) = axis(x, output.height());
    let (y_kind, y_origin, y_table) = axis(y, output.width());
    let mut fields = Fields::default();
    fields.image("in");
    fields.image("out");
    fields.pointer("u32", "x_table");
    fields.pointer("u32", "y_table");
    fields.int("width", output.width());
    fields.int("height", output.height());
    fields.uint("batch", 1);
    fields.uint("planes", planes);
    fields.uint("x_origin", x_origin);
    fields.uint("y_origin", y_origin);
    let tables = [("x_table", x_table), ("y_table", y_table)].into_iter();
    let tables =
        tables.filter_map(|(field, bytes)| Some(Table { field: field.into(), bytes: bytes? })).collect();
    let pixel = (channels * input.dtype().size()) as u32;
    let grid = Grid {
        block: [SIDE, WARPS],
        x: output.width().div_ceil(SIDE),
        y: u64::from(output.height().div_ceil(SIDE)),
        planes,
        shared: SIDE * (SIDE * pixel + 4),
    };
    let kind = sample(input.dtype());
    Body {
        fields,
        tables,
        uniforms: None,
        grid,
        pieces: &[Piece::Gather, Piece::Tile, Piece::Warp],
        call: Box::new(move |i, o| {
            format!("transpose_tiles<{kind}, {channels}, {x_kind}, {y_kind}, {i}, {o}>")
        }),
    }
}

/// Pixels that a thread makes of a row: whole words of any type.
const PIXELS: u32 = 4;
/// Threads of a warp that make one row, in `warp_pixels`.
const ACROSS: u32 = 8;

fn sampled(context: &Context<'_>, kernel: Sampled) -> Body {
    let (input, output) = (*context.input(), context.output.layout.desc);
    let (border, constant) = border(kernel.border);
    let mut fields = Fields::default();
    fields.images("in", context.inputs.len());
    fields.image("out");
    fields.int("width", output.width());
    fields.int("height", output.height());
    fields.uint("batch", 1);
    fields.int("in_width", input.width());
    fields.int("in_height", input.height());
    // 0 with borders that need none: what is read where there are no coordinates.
    fields.float("constant", constant);
    let uniforms = kernel.coordinates.uniform_count();
    if uniforms > 0 {
        fields.floats("uniform", uniforms);
    }
    let grid = Grid {
        block: [32, 4],
        x: output.width().div_ceil(ACROSS * PIXELS),
        y: u64::from(output.height().div_ceil(32 / ACROSS * 4)),
        planes: 1,
        shared: 0,
    };
    let px = pixels(&input, input.channels(), PIXELS, planar(&input));
    let coordinates = match kernel.coordinates {
        Coordinates::Affine => "AFFINE",
        Coordinates::Projective => "PROJECTIVE",
        Coordinates::Brown => "BROWN",
        Coordinates::Fisheye => "FISHEYE",
        Coordinates::Map(MapUnit::Absolute) => "MAP_ABSOLUTE",
        Coordinates::Map(MapUnit::Normalized) => "MAP_NORMALIZED",
        Coordinates::Map(MapUnit::Relative) => "MAP_RELATIVE",
    };
    let filter = match kernel.interpolation {
        Interpolation::Nearest => "NEAREST",
        Interpolation::Bilinear => "BILINEAR",
        Interpolation::Bicubic => "BICUBIC",
    };
    let alpha = input.format().has_alpha();
    Body {
        fields,
        tables: Vec::new(),
        uniforms: (uniforms > 0).then_some("uniform"),
        grid,
        pieces: &[Piece::Gather, Piece::Tile, Piece::Warp],
        call: Box::new(move |_, o| {
            format!("warp_pixels<{px}, {coordinates}, {border}, {filter}, {alpha}, {o}>")
        }),
    }
}

/// Rows of a thread: `CROP_ROWS`.
const CROP_ROWS: u32 = 4;

fn crops(context: &Context<'_>, kernel: Crops) -> Body {
    let (input, output) = (*context.input(), context.output.layout.desc);
    let mut fields = Fields::default();
    fields.images("in", 2);
    fields.image("out");
    fields.int("width", output.width());
    fields.int("height", output.height());
    fields.uint("batch", 1);
    fields.int("in_width", input.width());
    fields.int("in_height", input.height());
    fields.uint("rows", kernel.rows);
    let grid = Grid {
        block: [32, 4],
        x: output.width().div_ceil(32 * PIXELS),
        y: u64::from(output.height().div_ceil(4 * CROP_ROWS)),
        planes: 1,
        shared: 0,
    };
    let px = pixels(&input, input.channels(), PIXELS, planar(&input));
    let (filter, alpha) = match kernel.filter {
        CropFilter::Nearest => ("NEAREST", false),
        CropFilter::Bilinear => ("BILINEAR", input.format().has_alpha()),
    };
    // Places along an axis are below twice a cell's side times the source's; a quotient's parts are exact in binary32.
    let cell = u64::from(output.width().max(kernel.rows));
    let source = u64::from(input.width().max(input.height()));
    let is_small = 2 * cell < 1 << 24 && 2 * cell * source < 1 << 32;
    let places = if is_small { "u32" } else { "unsigned long long" };
    Body {
        fields,
        tables: Vec::new(),
        uniforms: None,
        grid,
        pieces: &[Piece::Gather, Piece::Tile, Piece::Warp, Piece::Boxes, Piece::Crops],
        call: Box::new(move |_, o| format!("crop_pixels<{px}, {filter}, {alpha}, {places}, {o}>")),
    }
}
