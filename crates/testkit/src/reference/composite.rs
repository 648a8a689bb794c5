use mip_core::{DType, PixelFormat};

use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("composite", &["premultiplied"], |call| {
    let premultiplied = call.params.flag("premultiplied").unwrap_or(false);
    composite(&call.image(0), &call.image(1), premultiplied, call.desc().dtype())
})
.output(|_, desc| if desc.format().has_alpha() { desc } else { desc.with_format(PixelFormat::Rgb).unwrap() });

/// Source-over of images whose colours stand in the same order, with alphas from 0 to 1.
pub fn composite(front: &Real, back: &Real, premultiplied: bool, dtype: DType) -> Real {
    let full = dtype.full_scale();
    Real::from_fn(back.width, back.height, back.channels, |x, y, c| {
        let above = front.at(x, y, 3) / full;
        let below = if back.has_alpha() { back.at(x, y, 3) / full } else { 1.0 };
        let alpha = above + below * (1.0 - above);
        match c {
            3 => alpha * full,
            _ if premultiplied => front.at(x, y, c) + back.at(x, y, c) * (1.0 - above),
            _ if back.has_alpha() && alpha <= 0.0 => 0.0,
            _ => {
                let sum = front.at(x, y, c) * above + back.at(x, y, c) * below * (1.0 - above);
                if back.has_alpha() { sum / alpha } else { sum }
            }
        }
    })
}
