use super::Border;
use super::apply::{Call, Reference};
use super::around::each_window;
use crate::Real;

pub(super) const REFERENCE: Reference =
    Reference::new("sep_filter", &["weights_x", "weights_y", "delta", "border", "border_value"], |call| {
        let [x, y] = weights(call);
        let delta = call.params.number("delta").unwrap_or(0.0);
        sep_filter(&call.image(0), &x, &y, delta, Border::of(call.params))
    })
    .magnitude(|call| {
        let [x, y] = weights(call).map(|weights| weights.iter().map(|w| w.abs()).sum::<f64>());
        let outside = call.params.number("border_value").unwrap_or(0.0).abs();
        x * y * call.largest().max(outside) + call.params.number("delta").unwrap_or(0.0).abs()
    });

fn weights(call: &Call<'_>) -> [Vec<f64>; 2] {
    let x = call.params.list("weights_x").expect("weights_x");
    let y = call.params.list("weights_y").unwrap_or_else(|| x.clone());
    [x, y]
}

/// Correlation with the product of two lines of binary32 weights, and a number added; alpha is kept.
pub fn sep_filter(image: &Real, across: &[f64], down: &[f64], delta: f64, border: Border) -> Real {
    let middle = |weights: &[f64]| (weights.len() / 2) as i64;
    each_window(image, border, |at| {
        let mut sum = f64::from(delta as f32);
        for (j, wy) in (-middle(down)..).zip(down) {
            for (i, wx) in (-middle(across)..).zip(across) {
                sum += f64::from(*wy as f32) * f64::from(*wx as f32) * at(i, j);
            }
        }
        sum
    })
}
