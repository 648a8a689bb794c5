//! `OpenEXR`: f16 and f32; gray as the channel Y, colours as R, G and B, with or without A.

use std::io::Cursor;

use bytemuck::AnyBitPattern;
use exr::prelude::{AnyChannel, AnyChannels, FlatSamples, Image, WritableImage as _, f16};
use mip_core::{DType, ImageDesc};

/// A file of interleaved pixels in gray, rgb or rgba order.
pub(super) fn encode(pixels: &[u8], desc: &ImageDesc) -> Result<Vec<u8>, String> {
    let names: &[&str] = match desc.channels() {
        1 => &["Y"],
        3 => &["R", "G", "B"],
        _ => &["R", "G", "B", "A"],
    };
    let channel = |(index, name): (usize, &&str)| {
        let samples = match desc.dtype() {
            DType::F16 => FlatSamples::F16(plane::<f16>(pixels, index, names.len())),
            _ => FlatSamples::F32(plane::<f32>(pixels, index, names.len())),
        };
        AnyChannel::new(*name, samples)
    };
    let channels = AnyChannels::sort(names.iter().enumerate().map(channel).collect());
    let size = (desc.width() as usize, desc.height() as usize);
    let mut file = Cursor::new(Vec::new());
    let written = Image::from_channels(size, channels).write().to_buffered(&mut file);
    written.map(|()| file.into_inner()).map_err(|error| error.to_string())
}

/// One channel of several.
fn plane<T: AnyBitPattern>(pixels: &[u8], index: usize, channels: usize) -> Vec<T> {
    let samples = pixels.chunks_exact(size_of::<T>()).skip(index).step_by(channels);
    samples.map(bytemuck::pod_read_unaligned).collect()
}
