//! Pictures and files for the tests.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod outside;

use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use mip_core::{DType, ImageBuffer, ImageDesc, Layout, PixelFormat};

/// Bytes without any pattern that a wrong stride, order or shift would leave unchanged.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect()
}

/// A noise picture.
pub(crate) fn picture(
    width: u32,
    height: u32,
    format: PixelFormat,
    dtype: DType,
    layout: Layout,
) -> ImageBuffer {
    let desc = ImageDesc::new(width, height, format, dtype).unwrap().with_layout(layout);
    ImageBuffer::from_bytes(desc, &noise(desc.bytes())).unwrap()
}

/// The same pixels in rgb order, interleaved: what a file can say.
pub(crate) fn in_file_order(image: &ImageBuffer) -> Vec<f64> {
    let desc = image.desc();
    let order: &[usize] = match desc.format() {
        PixelFormat::Gray => &[0],
        PixelFormat::Bgr => &[2, 1, 0],
        PixelFormat::Rgba => &[0, 1, 2, 3],
        PixelFormat::Bgra => &[2, 1, 0, 3],
        _ => &[0, 1, 2],
    };
    let view = image.view();
    let pixels = (0..desc.height() as usize).flat_map(|y| (0..desc.width() as usize).map(move |x| (x, y)));
    pixels.flat_map(|(x, y)| order.iter().map(move |&c| view.sample(0, x, y, c))).collect()
}

/// A smooth rgb picture, of which JPEG keeps each value within a few units.
pub(crate) fn smooth(width: u32, height: u32) -> Vec<u8> {
    let pixel =
        |x: u32, y: u32| [(x * 255 / width) as u8, (y * 255 / height) as u8, (60 + x / 2 + y / 3) as u8];
    (0..height).flat_map(|y| (0..width).flat_map(move |x| pixel(x, y))).collect()
}

/// A JPEG of [`smooth`] plus some noise, so that every part of the file carries data.
pub(crate) fn jpeg(
    width: u16,
    height: u16,
    sampling: SamplingFactor,
    progressive: bool,
    restart: u16,
) -> Vec<u8> {
    let mut pixels = smooth(width.into(), height.into());
    for (value, noise) in pixels.iter_mut().zip(noise(usize::from(width) * usize::from(height) * 3)) {
        *value = value.saturating_add(noise / 8);
    }
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, 90);
    encoder.set_sampling_factor(sampling);
    encoder.set_progressive(progressive);
    if restart > 0 {
        encoder.set_restart_interval(restart);
    }
    encoder.encode(&pixels, width, height, ColorType::Rgb).unwrap();
    file
}

/// Puts an APP1 EXIF segment that says `orientation` behind the start marker.
pub(crate) fn with_orientation(jpeg: &[u8], orientation: u16, big_endian: bool) -> Vec<u8> {
    let mut tiff = Vec::new();
    let short = |v: u16| if big_endian { v.to_be_bytes() } else { v.to_le_bytes() };
    let long = |v: u32| if big_endian { v.to_be_bytes() } else { v.to_le_bytes() };
    tiff.extend(if big_endian { b"MM" } else { b"II" });
    tiff.extend(short(42));
    tiff.extend(long(8));
    tiff.extend(short(1));
    tiff.extend(short(0x0112));
    tiff.extend(short(3));
    tiff.extend(long(1));
    tiff.extend(short(orientation));
    tiff.extend(short(0));
    tiff.extend(long(0));
    let mut segment = vec![0xFF, 0xE1];
    segment.extend((2 + 6 + tiff.len() as u16).to_be_bytes());
    segment.extend(b"Exif\0\0");
    segment.extend(tiff);
    [&jpeg[..2], &segment, &jpeg[2..]].concat()
}

/// A PNG of raw samples (16-bit ones big endian) written by the `png` crate.
pub(crate) fn png(
    size: (u32, u32),
    color: png::ColorType,
    depth: png::BitDepth,
    palette: Option<(&[u8], &[u8])>,
    data: &[u8],
) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size.0, size.1);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if let Some((colors, alphas)) = palette {
        encoder.set_palette(colors);
        if !alphas.is_empty() {
            encoder.set_trns(alphas);
        }
    }
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    file
}
