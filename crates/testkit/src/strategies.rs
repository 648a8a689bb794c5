//! Random descriptions and images for proptest. They shrink towards one gray u8 pixel.

use mip_core::{DType, ImageBuffer, ImageDesc, Layout, PixelFormat};
use proptest::prelude::*;
use proptest::sample::select;

use crate::images::{Pattern, padded};

/// Any format.
pub fn pixel_format() -> impl Strategy<Value = PixelFormat> {
    select(&PixelFormat::ALL)
}

/// Any dtype.
pub fn dtype() -> impl Strategy<Value = DType> {
    select(&DType::ALL)
}

/// Either layout.
pub fn layout() -> impl Strategy<Value = Layout> {
    select(&Layout::ALL)
}

/// Width and height in `1..=max_side`.
pub fn size(max_side: u32) -> impl Strategy<Value = (u32, u32)> {
    (1..=max_side, 1..=max_side)
}

/// Any image description with sides in `1..=max_side`.
pub fn image_desc(max_side: u32) -> impl Strategy<Value = ImageDesc> {
    (size(max_side), pixel_format(), dtype(), layout()).prop_map(
        |((width, height), format, dtype, layout)| {
            ImageDesc::new(width, height, format, dtype).expect("small sides").with_layout(layout)
        },
    )
}

/// An image of that description: any of [`Pattern::ALL`], tight or with padded rows.
pub fn image_of(desc: ImageDesc) -> impl Strategy<Value = ImageBuffer> {
    (select(&Pattern::ALL), any::<u64>(), any::<bool>()).prop_map(move |(pattern, seed, pad)| {
        let image = pattern.draw(desc, seed);
        if pad { padded(&image, 16) } else { image }
    })
}

/// Any image with sides in `1..=max_side`.
pub fn image(max_side: u32) -> impl Strategy<Value = ImageBuffer> {
    image_desc(max_side).prop_flat_map(image_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest! {
        #[test]
        fn images_fit_their_bounds(image in image(9)) {
            let desc = image.desc();
            prop_assert!(desc.width() <= 9 && desc.height() <= 9);
            prop_assert_eq!(image.batch_size(), 1);
        }
    }
}
