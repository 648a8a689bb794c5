use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("gamma", &["gamma", "gain"], |call| {
    let (exponent, gain) =
        (call.params.number("gamma").expect("gamma"), call.params.number("gain").unwrap_or(1.0));
    gamma(&call.image(0), exponent, gain, call.desc().dtype().full_scale())
});

/// Colour channels: `full_scale * gain * (v / full_scale)^gamma`, negative ones as 0. Alpha is kept.
pub fn gamma(image: &Real, gamma: f64, gain: f64, full_scale: f64) -> Real {
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| match image.at(x, y, c) {
        v if c == 3 => v,
        v if v < 0.0 => 0.0,
        v => full_scale * gain * (v / full_scale).powf(gamma),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_becomes_a_quarter_and_alpha_stays() {
        let image = Real::from_fn(1, 1, 4, |_, _, c| [0.5, 1.0, -3.0, 0.5][c]);
        assert_eq!(gamma(&image, 2.0, 1.0, 1.0).data, [0.25, 1.0, 0.0, 0.5]);
        assert_eq!(gamma(&image, 2.0, 0.5, 1.0).data, [0.125, 0.5, 0.0, 0.5]);
    }
}
