use mip_core::{DType, PixelFormat};

use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("flatten", &["background"], |call| {
    let background = call.params.list("background").unwrap_or_else(|| vec![0.0]);
    flatten(&call.image(0), &background, call.desc().dtype())
})
.output(|_, desc| {
    let bgr = matches!(desc.format(), PixelFormat::Bgra | PixelFormat::Bgr);
    desc.with_format(if bgr { PixelFormat::Bgr } else { PixelFormat::Rgb }).unwrap()
});

/// Colours as much as alpha says, and the rest of the background: one number, or one a channel, as binary32.
pub fn flatten(image: &Real, background: &[f64], dtype: DType) -> Real {
    let full = dtype.full_scale();
    Real::from_fn(image.width, image.height, 3, |x, y, c| {
        let behind = f64::from(background[if background.len() == 1 { 0 } else { c }] as f32);
        let alpha = image.at(x, y, 3);
        (image.at(x, y, c) * alpha + behind * (full - alpha)) / full
    })
}
