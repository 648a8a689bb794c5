use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference =
    Reference::new("absdiff", &[], |call| absdiff(&call.image(0), &call.image(1)));

/// Colour channels: `|a - b|`. Alpha is kept from `a`.
///
/// # Panics
/// When `b` is smaller than `a`.
pub fn absdiff(a: &Real, b: &Real) -> Real {
    Real::from_fn(a.width, a.height, a.channels, |x, y, c| match a.at(x, y, c) {
        v if c == 3 => v,
        v => (v - b.at(x, y, c)).abs(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_of_colours_and_alpha_of_the_first() {
        let image = |samples: [f64; 4]| Real::from_fn(1, 1, 4, |_, _, c| samples[c]);
        let made = absdiff(&image([10.0, 255.0, 7.0, 3.0]), &image([13.0, 1.0, 7.0, 99.0]));
        assert_eq!(made.data, [3.0, 254.0, 0.0, 3.0]);
    }
}
