use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference =
    Reference::new("invert", &[], |call| invert(&call.image(0), call.desc().dtype().full_scale()));

/// Colour channels: `full_scale - v`. Alpha is kept.
pub fn invert(image: &Real, full_scale: f64) -> Real {
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| match image.at(x, y, c) {
        v if c == 3 => v,
        v => full_scale - v,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn black_becomes_white_and_alpha_stays() {
        let image = Real::from_fn(1, 1, 4, |_, _, c| [0.0, 255.0, 100.0, 3.0][c]);
        assert_eq!(invert(&image, 255.0).data, [255.0, 0.0, 155.0, 3.0]);
    }
}
