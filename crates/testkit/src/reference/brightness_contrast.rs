use mip_core::DType;

use super::apply::Reference;
use crate::Real;

const PARAMS: &[&str] = &["brightness", "contrast", "shift", "center"];

pub(super) const REFERENCE: Reference = Reference::new("brightness_contrast", PARAMS, |call| {
    let number = |name| call.params.number(name);
    let [brightness, contrast] = ["brightness", "contrast"].map(|name| number(name).unwrap_or(1.0));
    let shift = number("shift").unwrap_or(0.0);
    brightness_contrast(&call.image(0), [brightness, contrast, shift], number("center"), call.desc().dtype())
});

/// `shift + brightness * (center + contrast * (v - center))` of colours; alpha is kept.
pub fn brightness_contrast(
    image: &Real,
    [brightness, contrast, shift]: [f64; 3],
    center: Option<f64>,
    dtype: DType,
) -> Real {
    let center = center.unwrap_or(dtype.full_scale() / 2.0);
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| match image.at(x, y, c) {
        v if c == 3 => v,
        v => shift + brightness * (center + contrast * (v - center)),
    })
}
