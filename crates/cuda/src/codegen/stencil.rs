use mip_core::ImageDesc;
use mip_plan::Stencil;

use super::fields::Fields;
use super::point::{functor_name, tables};
use super::stage::{Body, Context, Grid};
use super::text::{self, Piece, planar, sample};

/// Threads of a block, one a pixel.
const BLOCK: [u32; 2] = [32, 8];

pub(super) fn body(context: &Context<'_>, kernel: &Stencil) -> Body {
    let (input, output) = (*context.input(), context.output.layout.desc);
    let (border, constant) = text::border(kernel.border);
    let uniforms = kernel.expr.uniforms().len();
    let mut fields = Fields::default();
    fields.image("in");
    fields.image("out");
    fields.int("width", output.width());
    fields.int("height", output.height());
    fields.uint("batch", 1);
    fields.float("constant", constant);
    fields.floats("uniform", uniforms.max(1));
    fields.pointer("float", "tables");
    let (rx, ry) = kernel.expr.reach();
    let of = |desc: ImageDesc| format!("{}, {}, {}", sample(desc.dtype()), desc.channels(), planar(&desc));
    let functor = functor_name(context.index);
    let call = format!("stencil_pixels<{functor}, {}, {}, {rx}, {ry}, {border}>", of(input), of(output));
    let grid = Grid {
        block: BLOCK,
        x: output.width().div_ceil(BLOCK[0]),
        y: u64::from(output.height()).div_ceil(u64::from(BLOCK[1])),
        planes: 1,
        shared: 0,
    };
    Body {
        fields,
        tables: tables(&context.stage.kernel, "tables", &[input], &output).into_iter().collect(),
        uniforms: (uniforms > 0).then_some("uniform"),
        grid,
        pieces: &[Piece::Tile, Piece::Stencil],
        call: Box::new(move |_, _| call.clone()),
    }
}
