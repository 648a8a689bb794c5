use super::Border;
use super::apply::{Call, Reference};
use super::around::each_window;
use crate::Real;

pub(super) const REFERENCE: Reference =
    Reference::new("filter2d", &["weights", "delta", "border", "border_value"], |call| {
        let weights = call.params.list("weights").expect("weights");
        let delta = call.params.number("delta").unwrap_or(0.0);
        filter2d(&call.image(0), &weights, delta, Border::of(call.params))
    })
    .magnitude(|call| {
        let weights: f64 = call.params.list("weights").expect("weights").iter().map(|w| w.abs()).sum();
        weights * call.largest().max(outside(call)) + call.params.number("delta").unwrap_or(0.0).abs()
    });

fn outside(call: &Call<'_>) -> f64 {
    call.params.number("border_value").unwrap_or(0.0).abs()
}

/// Correlation with a square of binary32 weights, and a number added; alpha is kept.
pub fn filter2d(image: &Real, weights: &[f64], delta: f64, border: Border) -> Real {
    let side = (1..8).find(|side| side * side == weights.len()).expect("a square") as i64;
    each_window(image, border, |at| {
        let term = |(i, w): (usize, &f64)| {
            let (x, y) = (i as i64 % side - side / 2, i as i64 / side - side / 2);
            f64::from(*w as f32) * at(x, y)
        };
        weights.iter().enumerate().map(term).sum::<f64>() + f64::from(delta as f32)
    })
}
