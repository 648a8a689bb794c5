//! NumPy's arrays (NEP 1, format version 1.0).

use mip_core::{DType, ImageDesc, Layout};

/// An array (height, width) for gray, (height, width, channels) of interleaved pixels, (channels, height, width) of planes,
/// little endian. The samples are given in that order.
pub(super) fn encode(samples: &[u8], desc: &ImageDesc) -> Vec<u8> {
    let (height, width, channels) = sides(desc);
    let shape = match (channels, desc.layout()) {
        (1, _) => vec![height, width],
        (_, Layout::Hwc) => vec![height, width, channels],
        (_, Layout::Chw) => vec![channels, height, width],
    };
    let mut file = header(desc.dtype(), &shape, 0);
    let start = file.len();
    file.reserve_exact(samples.len());
    file.extend_from_slice(samples);
    to_little_endian(&mut file[start..], desc.dtype());
    file
}

/// The shape of `count` images behind each other: (count, height, width) for gray, and as one image has them for others.
/// Planar gray keeps its axis of channels, as tensors have it.
pub(crate) fn stacked_shape(count: u64, desc: &ImageDesc) -> Vec<u64> {
    let (height, width, channels) = sides(desc);
    match (channels, desc.layout()) {
        (_, Layout::Chw) => vec![count, channels, height, width],
        (1, Layout::Hwc) => vec![count, height, width],
        (_, Layout::Hwc) => vec![count, height, width, channels],
    }
}

/// Everything in front of the values, with so much room that the first number of the shape may have any value later.
pub(crate) fn stacked_header(count: u64, desc: &ImageDesc) -> Vec<u8> {
    let longest = u64::MAX.to_string().len();
    header(desc.dtype(), &stacked_shape(count, desc), longest - count.to_string().len())
}

/// Makes native samples those of a file.
pub(crate) fn to_little_endian(samples: &mut [u8], dtype: DType) {
    if cfg!(target_endian = "big") {
        samples.chunks_exact_mut(dtype.size()).for_each(<[u8]>::reverse);
    }
}

/// The name of a type, as NumPy's headers have it.
const fn descr(dtype: DType) -> &'static str {
    match dtype {
        DType::U8 => "|u1",
        DType::U16 => "<u2",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
    }
}

fn sides(desc: &ImageDesc) -> (u64, u64, u64) {
    (desc.height().into(), desc.width().into(), desc.channels() as u64)
}

fn header(dtype: DType, shape: &[u64], room: usize) -> Vec<u8> {
    let shape = shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let descr = descr(dtype);
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Values begin at a multiple of 64, behind 10 bytes, the header and a line's end.
    let end = (10 + text.len() + room + 1).next_multiple_of(64) - 10;
    text.push_str(&" ".repeat(end - text.len() - 1));
    text.push('\n');
    let mut header = Vec::with_capacity(10 + text.len());
    header.extend(b"\x93NUMPY\x01\0");
    header.extend((text.len() as u16).to_le_bytes());
    header.extend(text.into_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use mip_core::PixelFormat;

    #[test]
    fn the_count_of_a_stack_may_grow_in_place() {
        let desc = ImageDesc::new(65535, 65535, PixelFormat::Rgba, DType::F32).unwrap();
        let length = stacked_header(0, &desc).len();
        for count in [0, 9, 10, 123_456_789, u64::MAX] {
            let header = stacked_header(count, &desc);
            assert_eq!(header.len(), length);
            assert!(header.len().is_multiple_of(64) && header.ends_with(b" \n"));
            let text = String::from_utf8_lossy(&header[10..]).into_owned();
            assert!(text.contains(&format!("({count}, 65535, 65535, 4)")), "{text}");
        }
        let gray = |layout| ImageDesc::new(5, 2, PixelFormat::Gray, DType::U8).unwrap().with_layout(layout);
        assert_eq!(stacked_shape(7, &gray(Layout::Hwc)), [7, 2, 5]);
        assert_eq!(stacked_shape(7, &gray(Layout::Chw)), [7, 1, 2, 5]);
    }
}
