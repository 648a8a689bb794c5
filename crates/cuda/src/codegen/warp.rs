//! Warps: what reads a whole image, at coordinates that mix x and y.

use mip_plan::{AxisMap, Warp};

use super::fields::Fields;
use super::gather::axis;
use super::stage::{Body, Context, Grid, Table};
use super::text::{Piece, planar, sample};

/// Rows and columns of a tile: `SIDE` of `transpose_tiles`.
const SIDE: u32 = 32;
/// Warps that bring a tile and write it.
const WARPS: u32 = 8;

pub(super) fn body(context: &Context<'_>, kernel: Warp) -> Body {
    match kernel {
        Warp::Transposed { x, y } => transposed(context, x, y),
    }
}

fn transposed(context: &Context<'_>, x: AxisMap, y: AxisMap) -> Body {
    let (input, output) = (*context.input(), context.output.layout.desc);
    let split = planar(&input);
    let (channels, planes) = if split { (1, input.channels() as u32) } else { (input.channels(), 1) };
    let (x_kind, x_origin, x_table) = axis(x, output.height);
    let (y_kind, y_origin, y_table) = axis(y, output.width);
    let mut fields = Fields::default();
    fields.image("in");
    fields.image("out");
    fields.pointer("u32", "x_table");
    fields.pointer("u32", "y_table");
    fields.int("width", output.width);
    fields.int("height", output.height);
    fields.uint("batch", 1);
    fields.uint("planes", planes);
    fields.uint("x_origin", x_origin);
    fields.uint("y_origin", y_origin);
    let tables = [("x_table", x_table), ("y_table", y_table)].into_iter();
    let tables =
        tables.filter_map(|(field, bytes)| Some(Table { field: field.into(), bytes: bytes? })).collect();
    let pixel = (channels * input.dtype.size()) as u32;
    let grid = Grid {
        block: [SIDE, WARPS],
        x: output.width.div_ceil(SIDE),
        y: u64::from(output.height.div_ceil(SIDE)),
        planes,
        shared: SIDE * (SIDE * pixel + 4),
    };
    let kind = sample(input.dtype);
    Body {
        fields,
        tables,
        uniforms: None,
        grid,
        pieces: &[Piece::Gather, Piece::Warp],
        call: Box::new(move |i, o| {
            format!("transpose_tiles<{kind}, {channels}, {x_kind}, {y_kind}, {i}, {o}>")
        }),
    }
}
