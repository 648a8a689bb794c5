use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("blend", &["alpha"], |call| {
    let alpha = call.params.number("alpha").unwrap_or(0.5);
    blend(&call.image(0), &call.image(1), alpha, 1.0 - alpha)
});

/// `a * weight_a + b * weight_b` in every channel, alpha included.
///
/// # Panics
/// When the shapes differ.
pub fn blend(a: &Real, b: &Real, weight_a: f64, weight_b: f64) -> Real {
    assert_eq!((a.width, a.height, a.channels), (b.width, b.height, b.channels), "shapes to blend");
    let data = a.data.iter().zip(&b.data).map(|(a, b)| a * weight_a + b * weight_b).collect();
    Real { data, ..*a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_and_half_is_the_mean() {
        let a = Real::from_fn(2, 1, 1, |x, _, _| [10.0, 255.0][x]);
        let b = Real::from_fn(2, 1, 1, |x, _, _| [13.0, 1.0][x]);
        assert_eq!(blend(&a, &b, 0.5, 0.5).data, [11.5, 128.0]);
    }
}
