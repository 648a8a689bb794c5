use mip_core::PixelFormat;

use super::apply::Reference;
use super::luma;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("saturation", &["factor"], |call| {
    saturation(&call.image(0), call.desc().format(), call.params.number("factor").expect("factor"))
});

/// Between gray (0) and the colours as they are (1), or beyond; alpha is kept.
pub fn saturation(image: &Real, format: PixelFormat, factor: f64) -> Real {
    let rgb = format.rgb_indices().expect("colours");
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        if c == 3 {
            return image.at(x, y, c);
        }
        // One sum of three products, so that what is infinite is not taken from itself.
        let weight = |(&channel, gray): (&usize, f64)| {
            let own = if channel == c { factor } else { 0.0 };
            (own + (1.0 - factor) * gray) * image.at(x, y, channel)
        };
        rgb.iter().zip([luma(1.0, 0.0, 0.0), luma(0.0, 1.0, 0.0), luma(0.0, 0.0, 1.0)]).map(weight).sum()
    })
}
