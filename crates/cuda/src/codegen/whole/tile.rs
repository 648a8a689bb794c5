//! Images beside each other.

use mip_plan::{Tile, Whole};

use super::super::stage::{Body, Context, Grid};
use super::super::text::{Piece, planar, sample};
use super::image_fields;

pub(super) fn body(context: &Context<'_>, tile: Tile) -> Body {
    const SIDE: u32 = 32;
    let (cell, output) = (*context.input(), context.output.layout.desc);
    let bands = output.height().div_ceil(SIDE);
    let planes = if planar(&cell) { cell.channels() as u32 } else { 1 };
    let mut fields = image_fields(Some(tile.count as usize), &output);
    fields.uint("bands", bands);
    fields.uint("planes", planes);
    fields.uint("count", tile.count);
    fields.uint("columns", tile.columns);
    fields.uint("cell_width", cell.width());
    fields.uint("cell_height", cell.height());
    fields.uint("step_x", cell.width() + tile.gap);
    fields.uint("step_y", cell.height() + tile.gap);
    fields.floats("uniform", Whole::Tile(tile).uniform_count());
    let grid =
        Grid { block: [SIDE, 8], x: output.width().div_ceil(SIDE), y: bands.into(), planes: 1, shared: 0 };
    let (dtype, channels) = (sample(cell.dtype()), cell.channels() / planes as usize);
    let call = format!("tile_images<{dtype}, {channels}>");
    Body {
        fields,
        tables: Vec::new(),
        uniforms: Some("uniform"),
        grid,
        pieces: &[Piece::TileImages],
        call: Box::new(move |_, _| call.clone()),
    }
}
