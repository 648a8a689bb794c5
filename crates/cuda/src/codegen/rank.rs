use mip_core::{DType, ImageDesc};
use mip_plan::Kernel;

use super::filter::{common_fields, pitch, tile, tile_grid};
use super::fused::is_sample;
use super::stage::{Body, Context};
use super::text::{self, Piece, pixels, planar};

/// The side of the square whose medians of bytes a kernel of its own finds, four at a time; `None` for everything else.
pub(super) fn median_side(kernel: &Kernel, input: &ImageDesc, output: &ImageDesc) -> Option<u32> {
    let Kernel::Stencil(stencil) = kernel else { return None };
    let bytes = input == output && input.dtype() == DType::U8 && matches!(input.channels(), 1 | 3);
    stencil.median_side().filter(|_| bytes && is_sample(stencil.border, DType::U8))
}

pub(super) fn median(context: &Context<'_>, side: u32) -> Body {
    let Kernel::Stencil(stencil) = &context.stage.kernel else { unreachable!("a median is a stencil") };
    let input = *context.input();
    let (planes, channels) =
        if planar(&input) { (input.channels() as u32, 1) } else { (1, input.channels()) };
    let (border, constant) = text::border(stencil.border);
    let mut fields = common_fields(context, planes, constant);
    // Words enough that those beside them, which neighbours sort as well, are few.
    let v = if channels == 1 { 16 } else { 8 };
    let radius = side / 2;
    let geometry = tile(&input, DType::U8, channels, false, 32 * v, radius);
    let out = pixels(&input, channels, v, false);
    let call = move |i, o| format!("median_words<{geometry}, {out}, {border}, {i}, {o}>");
    let (grid, rows) = tile_grid(context, v, planes, radius, pitch(32 * v, radius, channels, DType::U8));
    fields.int("rows", rows);
    Body {
        fields,
        tables: Vec::new(),
        uniforms: None,
        grid,
        pieces: &[Piece::Tile, Piece::Rank],
        call: Box::new(call),
    }
}
