//! Kernels of the user's own: their source, and what calls it (see [`CustomKernel::cuda_source`]).

use std::fmt::Write as _;

use mip_core::ImageDesc;
use mip_plan::CustomKernel;

use super::fields::Fields;
use super::stage::{Body, Context, Grid};
use super::text::{Piece, identifier, planar, sample};

const BLOCK: [u32; 2] = [32, 8];

/// Names of the inputs' sizes; an operator has up to as many inputs.
const SIZES: [[&str; 2]; 8] = [
    ["width0", "height0"],
    ["width1", "height1"],
    ["width2", "height2"],
    ["width3", "height3"],
    ["width4", "height4"],
    ["width5", "height5"],
    ["width6", "height6"],
    ["width7", "height7"],
];

fn source(kernel: &dyn CustomKernel) -> Result<&str, String> {
    kernel.cuda_source().ok_or_else(|| {
        format!("custom kernel '{}' runs on the cpu device only: it has no CUDA source", kernel.name())
    })
}

pub(super) fn body(context: &Context<'_>, kernel: &dyn CustomKernel) -> Result<Body, String> {
    source(kernel)?;
    let (inputs, max) = (context.inputs.len(), SIZES.len());
    if inputs == 0 || inputs > max {
        return Err(format!(
            "custom kernel '{}' has {inputs} inputs; 1 to {max} are possible",
            kernel.name()
        ));
    }
    let output = context.output.layout.desc;
    let mut fields = Fields::default();
    fields.images("in", inputs);
    fields.image("out");
    fields.int("width", output.width());
    fields.int("height", output.height());
    fields.uint("batch", 1);
    for (input, [width, height]) in context.inputs.iter().zip(SIZES) {
        fields.int(width, input.layout.desc.width());
        fields.int(height, input.layout.desc.height());
    }
    let uniforms = context.stage.uniforms.len();
    if uniforms > 0 {
        fields.floats("uniform", uniforms);
    }
    let grid = Grid {
        block: BLOCK,
        x: output.width().div_ceil(BLOCK[0]),
        y: u64::from(output.height().div_ceil(BLOCK[1])),
        planes: 1,
        shared: 0,
    };
    let call = format!("custom_pixels<Custom{}, {inputs}>", context.index);
    Ok(Body {
        fields,
        tables: Vec::new(),
        uniforms: (uniforms > 0).then_some("uniform"),
        grid,
        pieces: &[Piece::Custom],
        call: Box::new(move |_, _| call.clone()),
    })
}

/// What stands between the parameters and the kernel: the user's source in a namespace of its own, its lines
/// counted from 1 under its own name, and the glue to it.
pub(super) fn declarations(context: &Context<'_>, kernel: &dyn CustomKernel) -> Result<String, String> {
    let (index, params) = (context.index, context.params());
    let mut text = format!("namespace user{index} {{\n");
    for (i, input) in context.inputs.iter().enumerate() {
        let _ = writeln!(text, "typedef {} In{i};", sample(input.layout.desc.dtype()));
    }
    let _ = writeln!(text, "typedef {} Out;", sample(context.output.layout.desc.dtype()));
    let _ = writeln!(text, "#line 1 \"{}.cu\"", identifier(kernel.name()));
    let _ = writeln!(text, "{}\n}}", source(kernel)?);
    let _ = writeln!(text, "#line 1 \"behind_{}.cu\"", identifier(kernel.name()));
    let _ = writeln!(text, "struct Custom{index} {{");
    let _ =
        writeln!(text, "    static INLINE void views(const {params}& p, i64 frame, View* in, View& out) {{");
    let view = |image: &str, width: &str, height: &str, desc: &ImageDesc| {
        format!("view_of({image}, frame, p.{width}, p.{height}, {}, {})", desc.channels(), planar(desc))
    };
    for (i, (input, [width, height])) in context.inputs.iter().zip(SIZES).enumerate() {
        let image = view(&format!("p.in[{i}]"), width, height, &input.layout.desc);
        let _ = writeln!(text, "        in[{i}] = {image};");
    }
    let _ =
        writeln!(text, "        out = {};", view("p.out", "width", "height", &context.output.layout.desc));
    let uniform = if context.stage.uniforms.is_empty() { "nullptr" } else { "p.uniform" };
    let _ = writeln!(
        text,
        "    }}\n    static INLINE void pixel(const {params}& p, const View* in, const View& out, int x, int y) {{\n        user{index}::pixel(in, out, x, y, {uniform});\n    }}\n}};"
    );
    Ok(text)
}
