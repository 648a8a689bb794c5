use super::Border;
use super::apply::Reference;
use super::weighted::{Taps, weighted};
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("pyramid", &["direction", "border"], |call| {
    pyramid(&call.image(0), call.params.word("direction") == Some("up"), Border::of(call.params))
});

/// Down: smoothed by binomials of 4, and every second pixel. Up: with zeros in between, smoothed by twice the same.
pub fn pyramid(image: &Real, up: bool, border: Border) -> Real {
    const BINOMIALS: [f64; 5] = [1.0, 4.0, 6.0, 4.0, 1.0];
    let axis = |n: usize| -> Vec<Taps> {
        let size = if up { 2 * n } else { n.div_ceil(2) } as i64;
        let taps = |o: i64| {
            let all = (-2_i64..).zip(BINOMIALS);
            let taps: Vec<(Option<usize>, f64)> = if up {
                let there = all.filter(|(d, _)| (o + d).rem_euclid(2) == 0);
                there.map(|(d, w)| (border.resolve((o + d).div_euclid(2), n), w)).collect()
            } else {
                all.map(|(d, w)| (border.resolve(2 * o + d, n), w)).collect()
            };
            Taps::normalised(taps)
        };
        (0..size).map(taps).collect()
    };
    weighted(image, &axis(image.width), &axis(image.height), 0.0)
}
