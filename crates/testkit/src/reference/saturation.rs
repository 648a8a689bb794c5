use mip_core::PixelFormat;

use super::apply::Reference;
use super::luma;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("saturation", &["factor"], |call| {
    saturation(&call.image(0), call.desc().format, call.params.number("factor").expect("factor"))
});

/// Between gray (0) and the colours as they are (1), or beyond; alpha is kept.
pub fn saturation(image: &Real, format: PixelFormat, factor: f64) -> Real {
    let rgb = format.rgb_indices().expect("colours");
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        let [r, g, b] = rgb.map(|channel| image.at(x, y, channel));
        let v = image.at(x, y, c);
        if c == 3 { v } else { factor * v + (1.0 - factor) * luma(r, g, b) }
    })
}
