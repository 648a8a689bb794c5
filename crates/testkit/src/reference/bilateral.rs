use mip_core::PixelFormat;

use super::Border;
use super::apply::Reference;
use super::around::around;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new(
    "bilateral",
    &["diameter", "sigma_color", "sigma_space", "border", "border_value"],
    |call| {
        let number = |name| call.params.number(name);
        let sigmas = ["sigma_color", "sigma_space"].map(|name| number(name).expect("a number"));
        let radius = match number("diameter").unwrap_or(5.0) {
            0.0 => (1.5 * sigmas[1]).round(),
            diameter => (diameter / 2.0).floor(),
        };
        bilateral(&call.image(0), radius.max(1.0) as i64, sigmas, Border::of(call.params))
    },
)
.magnitude(|call| call.largest().max(call.params.number("border_value").unwrap_or(0.0).abs()))
.output(|_, desc| match desc.format() {
    PixelFormat::Rgba => desc.with_format(PixelFormat::Rgb).unwrap(),
    PixelFormat::Bgra => desc.with_format(PixelFormat::Bgr).unwrap(),
    _ => desc,
});

/// The mean over a circle, weighted by distance and by the sum of the channels' differences; `sigmas` are those of colour and of
/// space.
pub fn bilateral(image: &Real, radius: i64, [color, space]: [f64; 2], border: Border) -> Real {
    let mut means: Vec<f64> = Vec::with_capacity(image.data.len());
    for (x, y) in (0..image.height).flat_map(|y| (0..image.width).map(move |x| (x, y))) {
        let at = |dx: i64, dy: i64, c| around(image, border, (x as i64 + dx, y as i64 + dy), c);
        let (mut sums, mut weights) = (vec![0.0; image.channels], 0.0);
        for (dx, dy) in (-radius..=radius).flat_map(|dy| (-radius..=radius).map(move |dx| (dx, dy))) {
            let squared = dx * dx + dy * dy;
            if squared > radius * radius {
                continue;
            }
            // The pixel itself, also where it is infinite.
            let far: f64 = match squared {
                0 => 0.0,
                _ => (0..image.channels).map(|c| (at(dx, dy, c) - at(0, 0, c)).abs()).sum(),
            };
            let weight =
                (-(squared as f64) / (2.0 * space * space) - far * far / (2.0 * color * color)).exp();
            weights += weight;
            sums.iter_mut().enumerate().for_each(|(c, sum)| *sum += weight * at(dx, dy, c));
        }
        means.extend(sums.iter().map(|sum| sum / weights));
    }
    Real { data: means, ..image.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_much_does_not_count() {
        let image = Real::from_fn(3, 3, 1, |x, _, _| [0.0, 10.0, 200.0][x]);
        let middle = |sigmas| bilateral(&image, 1, sigmas, Border::Replicate).at(1, 1, 0);
        assert!((middle([1e6, 1e6]) - (10.0 * 3.0 + 200.0) / 5.0).abs() < 1e-6);
        assert!((middle([20.0, 1e6]) - 10.0).abs() < 2.5);
        assert_eq!(middle([1e6, 0.01]), 10.0);
    }
}
