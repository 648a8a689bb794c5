use mip_core::PixelFormat;

use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("hue", &["factor"], |call| {
    hue(&call.image(0), call.desc().format(), call.params.number("factor").expect("factor"))
})
.magnitude(|call| 2.0 * call.largest());

/// The hue of HSV turned by `factor` turns, by way of HSV and back; alpha is kept.
pub fn hue(image: &Real, format: PixelFormat, factor: f64) -> Real {
    let places = format.rgb_indices().expect("colours");
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        let Some(own) = places.iter().position(|&place| place == c) else { return image.at(x, y, c) };
        let rgb = places.map(|place| image.at(x, y, place));
        let (value, smallest) =
            (rgb.iter().copied().fold(f64::MIN, f64::max), rgb.iter().copied().fold(f64::MAX, f64::min));
        let chroma = value - smallest;
        if rgb.iter().any(|color| !color.is_finite()) || chroma > f64::from(f32::MAX) {
            return rgb[own];
        }
        if chroma == 0.0 {
            return value;
        }
        let [r, g, b] = rgb;
        let sixths = if r == value {
            (g - b) / chroma
        } else if g == value {
            2.0 + (b - r) / chroma
        } else {
            4.0 + (r - g) / chroma
        };
        let turned = (sixths + 6.0 * factor).rem_euclid(6.0);
        // Back, sector by sector.
        let (sector, part) = (turned.floor() as usize % 6, turned.fract());
        let (falling, rising) = (value - chroma * part, value - chroma * (1.0 - part));
        let rgb = match sector {
            0 => [value, rising, smallest],
            1 => [falling, value, smallest],
            2 => [smallest, value, rising],
            3 => [smallest, falling, value],
            4 => [rising, smallest, value],
            _ => [value, smallest, falling],
        };
        rgb[own]
    })
}
