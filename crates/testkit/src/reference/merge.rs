use mip_core::PixelFormat;

use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("merge", &["to"], |call| {
    let order = if call.params.word("to") == Some("bgr") { [2, 1, 0] } else { [0, 1, 2] };
    merge(&order.map(|slot| call.image(slot)))
})
.output(|params, desc| {
    desc.with_format(if params.word("to") == Some("bgr") { PixelFormat::Bgr } else { PixelFormat::Rgb })
        .unwrap()
});

/// Each gray image as a channel.
pub fn merge(images: &[Real; 3]) -> Real {
    Real::from_fn(images[0].width, images[0].height, 3, |x, y, c| images[c].at(x, y, 0))
}
