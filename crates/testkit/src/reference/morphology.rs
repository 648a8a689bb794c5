use super::apply::Reference;
use super::{Border, dilate, erode};
use crate::Real;

const PARAMS: &[&str] = &["operation", "kernel", "shape", "iterations", "border", "border_value"];

pub(super) const REFERENCE: Reference = Reference::new("morphology", PARAMS, |call| {
    let params = call.params;
    let cross = params.word("shape") == Some("cross");
    let (kernel, times) = (params.size("kernel").unwrap_or(3), params.size("iterations").unwrap_or(1));
    let border = Border::or(params, "replicate");
    morphology(&call.image(0), params.word("operation").unwrap_or("open"), (kernel, cross), times, border)
});

/// Erosions and dilations one after the other, or what they differ by; alpha is kept.
pub fn morphology(
    image: &Real,
    op: &str,
    (kernel, cross): (usize, bool),
    times: usize,
    border: Border,
) -> Real {
    let eroded = |image: &Real| (0..times).fold(image.clone(), |i, _| erode(&i, kernel, cross, border));
    let dilated = |image: &Real| (0..times).fold(image.clone(), |i, _| dilate(&i, kernel, cross, border));
    let difference = |a: &Real, b: &Real| {
        Real::from_fn(a.width, a.height, a.channels, |x, y, c| {
            a.at(x, y, c) - if c == 3 { 0.0 } else { b.at(x, y, c) }
        })
    };
    match op {
        "open" => dilated(&eroded(image)),
        "close" => eroded(&dilated(image)),
        "gradient" => difference(&dilated(image), &eroded(image)),
        "tophat" => difference(image, &dilated(&eroded(image))),
        "blackhat" => difference(&eroded(&dilated(image)), image),
        _ => panic!("no operation '{op}'"),
    }
}
