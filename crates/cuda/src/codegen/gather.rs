use mip_plan::{AxisMap, Gather};

use super::fields::Fields;
use super::map::pixels_per_thread;
use super::stage::{Body, Context, Grid, Table};
use super::text::{Piece, pixels, planar};

const WARPS: u32 = 4;

/// An axis in generated code: its kind, the coordinate of output 0, and its table.
pub(super) fn axis(map: AxisMap, outputs: u32) -> (&'static str, u32, Option<Vec<u8>>) {
    match map {
        AxisMap::Offset { first } => ("OFFSET", first, None),
        AxisMap::Flip { last } => ("FLIP", last, None),
        AxisMap::Nearest { .. } | AxisMap::Step { .. } | AxisMap::Extend { .. } => {
            let table = (0..outputs).flat_map(|i| map.map(i).to_ne_bytes()).collect();
            ("TABLE", 0, Some(table))
        }
    }
}

pub(super) fn body(context: &Context<'_>, kernel: &Gather) -> Body {
    let (input, output) = (*context.input(), context.output.layout.desc);
    let split = planar(&input);
    let channels = if split { 1 } else { input.channels() };
    let v = pixels_per_thread(channels * output.dtype().size());
    let (x_kind, x_origin, x_table) = axis(kernel.x, output.width());
    let (y_kind, y_origin, y_table) = axis(kernel.y, output.height());
    let mut fields = Fields::default();
    fields.image("in");
    fields.image("out");
    fields.pointer("u32", "x_table");
    fields.pointer("u32", "y_table");
    fields.int("width", output.width());
    fields.uint("height", output.height());
    fields.uint("batch", 1);
    fields.uint("planes", if split { input.channels() as u32 } else { 1 });
    fields.int("in_width", input.width());
    fields.uint("x_origin", x_origin);
    fields.uint("y_origin", y_origin);
    let tables = [("x_table", x_table), ("y_table", y_table)];
    let tables = tables
        .into_iter()
        .filter_map(|(field, bytes)| Some(Table { field: field.into(), bytes: bytes? }))
        .collect();
    let px = pixels(&input, channels, v, false);
    let rows = (48 / (channels * input.dtype().size() * v as usize)).clamp(1, 4) as u32;
    let grid = Grid {
        block: [32, WARPS],
        x: output.width().div_ceil(32 * v),
        y: u64::from(output.height()).div_ceil(u64::from(rows * WARPS)),
        planes: if split { input.channels() as u32 } else { 1 },
        shared: 0,
    };
    Body {
        fields,
        tables,
        uniforms: None,
        grid,
        pieces: &[Piece::Gather],
        call: Box::new(move |i, o| format!("gather_rows<{px}, {x_kind}, {y_kind}, {rows}, {i}, {o}>")),
    }
}
