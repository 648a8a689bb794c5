use mip_core::{DType, ImageViewMut};

use super::{Image, fill};
use crate::ChannelMap;

pub(super) fn convert(image: Image<'_, '_>, frame: usize, output: &mut ImageViewMut<'_>) {
    let (from, to) = (image.view.layout().desc, output.layout().desc);
    let sources = ChannelMap::of(from.format, to.format);
    fill(output, frame, |x, y, c| match sources[c] {
        ChannelMap::Input(channel) => image.at(x, y, channel),
        ChannelMap::Opaque => to.dtype.full_scale() as f32,
        ChannelMap::Luma(rgb) => luma(to.dtype, rgb.map(|channel| image.at(x, y, channel))),
    });
}

fn luma(dtype: DType, [r, g, b]: [f32; 3]) -> f32 {
    match dtype {
        DType::I16 | DType::F16 | DType::F32 => b.mul_add(0.114, g.mul_add(0.587, 0.299 * r)),
        DType::U8 | DType::U16 => {
            let n = 299 * r as u32 + 587 * g as u32 + 114 * b as u32;
            let (quotient, rest) = (n / 1000, n % 1000);
            let up = rest > 500 || (rest == 500 && quotient % 2 == 1);
            (quotient + u32::from(up)) as f32
        }
    }
}
