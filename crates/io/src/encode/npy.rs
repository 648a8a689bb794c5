//! NumPy's arrays (NEP 1, format version 1.0).

use mip_core::{DType, ImageDesc, Layout};

/// An array (height, width) for gray, (height, width, channels) of interleaved pixels, (channels, height, width) of planes,
/// little endian. The samples are given in that order.
pub(super) fn encode(samples: &[u8], desc: &ImageDesc) -> Vec<u8> {
    let descr = match desc.dtype {
        DType::U8 => "|u1",
        DType::U16 => "<u2",
        DType::I16 => "<i2",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
    };
    let (height, width, channels) = (desc.height, desc.width, desc.channels());
    let shape = match (channels, desc.layout) {
        (1, _) => format!("({height}, {width})"),
        (_, Layout::Hwc) => format!("({height}, {width}, {channels})"),
        (_, Layout::Chw) => format!("({channels}, {height}, {width})"),
    };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // Values begin at a multiple of 64, behind 10 bytes, the header and a line's end.
    let end = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header.push_str(&" ".repeat(end - header.len() - 1));
    header.push('\n');
    let mut file = Vec::with_capacity(10 + header.len() + samples.len());
    file.extend(b"\x93NUMPY\x01\0");
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.into_bytes());
    let start = file.len();
    file.extend_from_slice(samples);
    if cfg!(target_endian = "big") {
        file[start..].chunks_exact_mut(desc.dtype.size()).for_each(<[u8]>::reverse);
    }
    file
}
