use super::apply::Reference;
use super::{Border, gaussian_blur};
use crate::Real;

const PARAMS: &[&str] = &["amount", "kernel", "sigma", "threshold", "border", "border_value"];

pub(super) const REFERENCE: Reference = Reference::new("sharpen", PARAMS, |call| {
    let params = call.params;
    let blur = (params.size("kernel").unwrap_or(5), params.number("sigma"));
    let amount = params.number("amount").unwrap_or(1.0);
    sharpen(&call.image(0), amount, blur, params.number("threshold").unwrap_or(0.0), Border::of(params))
});

/// What a blur takes away added so many times, where it is more than the threshold; alpha is kept.
pub fn sharpen(
    image: &Real,
    amount: f64,
    (kernel, sigma): (usize, Option<f64>),
    threshold: f64,
    border: Border,
) -> Real {
    let blurred = gaussian_blur(image, kernel, sigma, border);
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        let v = image.at(x, y, c);
        let difference = v - blurred.at(x, y, c);
        if c < 3 && difference.abs() > threshold { v + amount * difference } else { v }
    })
}
