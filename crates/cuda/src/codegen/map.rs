use mip_core::ImageDesc;
use mip_plan::{ChannelMap, Expr, Known, Point};

use super::fields::Fields;
use super::point::{functor_name, tables};
use super::stage::{Body, Context, Grid};
use super::text::{Piece, pixels, planar};

/// Warps of a block, one below the other.
const WARPS: u32 = 4;

/// Pixels a thread makes of a row: whole words in every operand, 16-byte accesses where a pixel is small.
pub(super) const fn pixels_per_thread(widest: usize) -> u32 {
    match widest {
        1 => 16,
        2 => 8,
        _ => 4,
    }
}

pub(super) fn body(context: &Context<'_>, kernel: &Point) -> Body {
    let output = context.output.layout.desc;
    let descs = context.inputs.iter().map(|i| &i.layout.desc);
    let widest = descs.clone().chain([&output]).map(|d| d.channels() * d.dtype().size()).max();
    let v = pixels_per_thread(widest.unwrap_or(1));
    let of = |desc: &ImageDesc| pixels(desc, desc.channels(), v, planar(desc));
    let (ins, out): (Vec<String>, String) = (descs.clone().map(of).collect(), of(&output));
    let shapes: Vec<ImageDesc> = descs.clone().copied().collect();
    let op = match kernel.known(&shapes, &output) {
        Some(Known::Channels(channels)) => match channels[..] {
            [ChannelMap::Luma([r, g, b])] => format!("ToGray<{}, {out}, {r}, {g}, {b}>", ins[0]),
            _ => permute(&ins[0], &out, &channels),
        },
        Some(Known::Affine(pairs)) => format!("Affine<{}, {out}, {}>", ins[0], list(&pairs)),
        Some(Known::Threshold) => {
            let colours = output.channels() - usize::from(output.format().has_alpha());
            format!("Threshold<{}, {out}, {colours}>", ins[0])
        }
        Some(Known::Blend) => format!("Blend<{}, {}, {out}>", ins[0], ins[1]),
        None => {
            let input = |i: usize| ins.get(i).unwrap_or(&ins[0]).as_str();
            let inputs: Vec<&str> = (0..Expr::MAX_INPUTS).map(input).collect();
            format!("Point<{}, {out}, {}, {}>", functor_name(context.index), ins.len(), inputs.join(", "))
        }
    };
    let uniforms = kernel.expr.uniforms().len();
    let mut fields = Fields::default();
    fields.images("in", context.inputs.len());
    fields.image("out");
    fields.int("width", output.width());
    fields.uint("height", output.height());
    fields.uint("batch", 1);
    let computed = op.starts_with("Point<");
    if uniforms > 0 || computed {
        fields.floats("uniform", uniforms.max(1));
    }
    if computed {
        fields.pointer("float", "tables");
    }
    // Enough bytes on their way from memory: about 48 a thread.
    let bytes: usize = descs.map(|d| d.channels() * d.dtype().size() * v as usize).sum();
    let rows = (48 / bytes).clamp(1, 4) as u32;
    let grid = Grid {
        block: [32, WARPS],
        x: output.width().div_ceil(32 * v),
        y: u64::from(output.height()).div_ceil(u64::from(rows * WARPS)),
        planes: 1,
        shared: 0,
    };
    Body {
        fields,
        tables: tables(&context.stage.kernel, "tables", &shapes, &output).into_iter().collect(),
        uniforms: (uniforms > 0).then_some("uniform"),
        grid,
        pieces: &[Piece::Map],
        call: Box::new(move |i, o| format!("map_rows<{op}, {rows}, {i}, {o}>")),
    }
}

/// Template arguments.
pub(super) fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// The channels that a permutation takes, as template arguments; -1 for opaque alpha, and for luma, which none has.
pub(super) fn sources(channels: &[ChannelMap]) -> String {
    let source = |map: &ChannelMap| match *map {
        ChannelMap::Input(channel) => channel.to_string(),
        ChannelMap::Luma(_) | ChannelMap::Opaque => "-1".to_owned(),
    };
    channels.iter().map(source).collect::<Vec<_>>().join(", ")
}

fn permute(input: &str, output: &str, channels: &[ChannelMap]) -> String {
    format!("Permute<{input}, {output}, {}>", sources(channels))
}
