//! Operators that are an expression of the samples of a pixel: shape and kernel follow from the expression.

use std::sync::Arc;

use mip_core::{DType, ImageDesc, PixelFormat};
use mip_plan::{Expr, Kernel, MapKernel, Results, Uniforms};

use crate::{Lowered, OpError, OperatorSpec};

/// The result of an expression of images of one size; `to` is its sample type, the first input's if not given.
pub(crate) fn shape(
    spec: &OperatorSpec,
    expr: &Arc<Expr>,
    to: Option<DType>,
    inputs: &[ImageDesc],
) -> Result<ImageDesc, OpError> {
    let first = inputs[0];
    let refuse = |slot: usize, allowed: String| {
        let (slot, given) = (spec.inputs[slot].to_owned(), inputs[slot].to_string());
        Err(OpError::Input { operator: spec.name, slot, given, allowed })
    };
    if let Some(other) = inputs.iter().position(|i| (i.width, i.height) != (first.width, first.height)) {
        return refuse(other, format!("as large as the first, {first}; resize or crop one of them"));
    }
    let output = first.with_format(format(expr, &first)).with_dtype(to.unwrap_or(first.dtype));
    output.check()?;
    let kernel = Kernel::Map(MapKernel::Point(expr.clone()));
    if let Err(reason) = kernel.check(expr.uniforms().len(), inputs, output) {
        return refuse(0, format!("such that its channels can be read: {reason}"));
    }
    Ok(output)
}

/// The one kernel of an expression, with a number for each of its uniforms.
pub(crate) fn lowered(expr: &Arc<Expr>, number: impl Fn(&str) -> f64, output: ImageDesc) -> Lowered {
    let uniforms: Uniforms = expr.uniforms().iter().map(|name| number(name) as f32).collect();
    Lowered::single(Kernel::Map(MapKernel::Point(expr.clone())), uniforms, output)
}

/// Format of the result: the first input's where it has as many channels.
fn format(expr: &Expr, first: &ImageDesc) -> PixelFormat {
    match expr.results() {
        Results::EachChannel(_) => first.format,
        Results::Channels(results) if results.len() == first.channels() => first.format,
        Results::Channels(results) => match results.len() {
            1 => PixelFormat::Gray,
            3 => PixelFormat::Rgb,
            _ => PixelFormat::Rgba,
        },
    }
}
