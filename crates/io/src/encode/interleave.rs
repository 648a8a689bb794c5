use std::borrow::Cow;

use mip_core::{ImageBuffer, ImageError, Layout, PixelFormat};

/// The first frame as tight interleaved pixels in gray, rgb or rgba order; borrowed when it is so already.
pub(super) fn rgb_order(image: &ImageBuffer) -> Result<Cow<'_, [u8]>, ImageError> {
    let desc = image.desc();
    let reordered = matches!(desc.format(), PixelFormat::Bgr | PixelFormat::Bgra);
    if desc.layout() == Layout::Hwc && !reordered {
        let view = image.view();
        return if image.layout().is_tight() {
            Ok(Cow::Borrowed(view.data()))
        } else {
            image.try_to_bytes().map(Cow::Owned)
        };
    }
    match desc.dtype().size() {
        1 => gather::<1>(image),
        2 => gather::<2>(image),
        _ => gather::<4>(image),
    }
    .map(Cow::Owned)
}

/// The first frame's planes in gray, rgb or rgba order, one behind the other without padding; borrowed when it is so already.
pub(super) fn rgb_planes(image: &ImageBuffer) -> Result<Cow<'_, [u8]>, ImageError> {
    let (desc, view) = (image.desc(), image.view());
    let reordered = matches!(desc.format(), PixelFormat::Bgr | PixelFormat::Bgra);
    if !reordered && image.layout().is_tight() {
        return Ok(Cow::Borrowed(&view.data()[..desc.bytes()]));
    }
    let bytes = desc.bytes();
    let mut samples = Vec::new();
    let none = |_| ImageError::OutOfMemory { bytes, what: format!("{desc} in the file's order") };
    mip_core::faults::try_reserve_exact(&mut samples, bytes).map_err(none)?;
    for &plane in stored_order(desc.format()) {
        (0..desc.height() as usize).for_each(|y| samples.extend_from_slice(view.row(0, plane, y)));
    }
    Ok(Cow::Owned(samples))
}

fn gather<const N: usize>(image: &ImageBuffer) -> Result<Vec<u8>, ImageError> {
    let (desc, view) = (image.desc(), image.view());
    let (channels, step) = (desc.channels(), desc.pixel_step());
    let bytes = desc.bytes();
    let mut pixels = Vec::new();
    let none = |_| ImageError::OutOfMemory { bytes, what: format!("{desc} in the file's order") };
    mip_core::faults::try_reserve_exact(&mut pixels, bytes).map_err(none)?;
    pixels.resize(bytes, 0);
    let (samples, _) = pixels.as_chunks_mut::<N>();
    for (y, row) in samples.chunks_exact_mut(desc.width() as usize * channels).enumerate() {
        for (channel, stored) in stored_order(desc.format()).iter().enumerate() {
            let (plane, first) = if desc.layout() == Layout::Chw { (*stored, 0) } else { (0, *stored) };
            let (source, _) = view.row(0, plane, y).as_chunks::<N>();
            let source = source[first..].iter().step_by(step);
            for (to, from) in row[channel..].iter_mut().step_by(channels).zip(source) {
                *to = *from;
            }
        }
    }
    Ok(pixels)
}

/// Stored index of each channel in rgb order.
const fn stored_order(format: PixelFormat) -> &'static [usize] {
    match format {
        PixelFormat::Gray => &[0],
        PixelFormat::Rgb
        | PixelFormat::Hsv
        | PixelFormat::Hls
        | PixelFormat::Ycbcr
        | PixelFormat::Lab
        | PixelFormat::Luv
        | PixelFormat::Xyz
        | PixelFormat::Linear => &[0, 1, 2],
        PixelFormat::Bgr => &[2, 1, 0],
        PixelFormat::Rgba => &[0, 1, 2, 3],
        PixelFormat::Bgra => &[2, 1, 0, 3],
    }
}
