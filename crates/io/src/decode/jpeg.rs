use std::ops::Range;

use image::metadata::Orientation;
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::{Fault, Reader, orientation};

const END: u8 = 0xD9;
const START_OF_SCAN: u8 = 0xDA;

/// Stuffed one-bits, put before the end marker: no Huffman code consists of ones only, so a scan that stops
/// early runs into an error here. Without it the decoder takes zero bits behind the end marker and fills the
/// rest of the picture with gray.
const FENCE: [u8; 64] = {
    let mut bytes = [0xFF; 64];
    let mut i = 1;
    while i < bytes.len() {
        bytes[i] = 0;
        i += 2;
    }
    bytes
};

impl Reader {
    pub(super) fn decode_jpeg(&mut self) -> Result<(ImageBuffer, Orientation), Fault> {
        tidy(&mut self.file)?;
        let file = std::mem::take(&mut self.file);
        let decoded = self.decode_tidy_jpeg(&file);
        self.file = file;
        decoded
    }

    fn decode_tidy_jpeg(&mut self, file: &[u8]) -> Result<(ImageBuffer, Orientation), Fault> {
        let corrupt = |e: zune_jpeg::errors::DecodeErrors| Fault::Corrupt(e.to_string());
        let options = DecoderOptions::default()
            .set_strict_mode(true)
            .set_max_width(usize::from(u16::MAX))
            .set_max_height(usize::from(u16::MAX));
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(file), options);
        decoder.decode_headers().map_err(corrupt)?;
        let no_header = || Fault::Corrupt("it has no frame header".into());
        let (width, height) = decoder.dimensions().ok_or_else(no_header)?;
        let (width, height) = (width as u32, height as u32);
        self.check_size(width, height)?;
        let (format, space) = match decoder.input_colorspace().ok_or_else(no_header)? {
            ColorSpace::Luma => (PixelFormat::Gray, ColorSpace::Luma),
            _ => (PixelFormat::Rgb, ColorSpace::RGB),
        };
        decoder.set_options(options.jpeg_set_out_colorspace(space));
        let orientation = orientation(decoder.exif().map(Vec::as_slice));
        let mut image = self.buffer(ImageDesc::new(width, height, format, DType::U8)?)?;
        decoder.decode_into(image.view_mut().data_mut()).map_err(corrupt)?;
        Ok((image, orientation))
    }
}

/// Walks the markers up to the image's own end marker, cuts off what follows, drops stray bytes between
/// segments (some cameras pad them) and sets the fence.
fn tidy(file: &mut Vec<u8>) -> Result<(), Fault> {
    let walk = walk(file)?;
    if walk.stray.is_empty() {
        file.truncate(walk.end);
    } else {
        let mut clean = Vec::with_capacity(walk.end + FENCE.len() + 2);
        let mut from = 0;
        for stray in walk.stray {
            clean.extend_from_slice(&file[from..stray.start]);
            from = stray.end;
        }
        clean.extend_from_slice(&file[from..walk.end]);
        *file = clean;
    }
    file.extend_from_slice(&FENCE);
    file.extend_from_slice(&[0xFF, END]);
    Ok(())
}

struct Walk {
    /// Position of the end marker.
    end: usize,
    /// Bytes that belong to no segment.
    stray: Vec<Range<usize>>,
}

fn walk(file: &[u8]) -> Result<Walk, Fault> {
    let mut stray = Vec::new();
    let mut scans = 0;
    let mut at = 2;
    loop {
        let (marker, code) = next_marker(file, at).ok_or_else(|| no_end(file, scans))?;
        if marker > at {
            stray.push(at..marker);
        }
        at = marker + 2;
        match code {
            END if scans == 0 => return Err(Fault::Corrupt("it ends before any image data".into())),
            END => return Ok(Walk { end: marker, stray }),
            // TEM, RSTn and SOI stand alone.
            0x01 | 0xD0..=0xD8 => {}
            _ => {
                let length = file.get(at..at + 2).map(|b| usize::from(u16::from_be_bytes([b[0], b[1]])));
                let length = length.ok_or_else(|| no_end(file, scans))?;
                if length < 2 {
                    return Err(Fault::Corrupt(format!(
                        "segment FF{code:02X} at byte {marker} has no length"
                    )));
                }
                at += length;
                if at > file.len() {
                    return Err(no_end(file, scans));
                }
                if code == START_OF_SCAN {
                    scans += 1;
                    at = scan_end(file, at).ok_or_else(|| no_end(file, scans))?;
                }
            }
        }
    }
}

/// Position of the last `FF` before the next marker code at or after `at`, and the code.
fn next_marker(file: &[u8], at: usize) -> Option<(usize, u8)> {
    let pairs = file.get(at..)?.windows(2);
    let found = pairs.enumerate().find(|(_, pair)| pair[0] == 0xFF && !matches!(pair[1], 0x00 | 0xFF));
    found.map(|(offset, pair)| (at + offset, pair[1]))
}

/// Position of the first marker that ends entropy-coded data.
fn scan_end(file: &[u8], at: usize) -> Option<usize> {
    let pairs = file.get(at..)?.windows(2);
    let ends = |pair: &[u8]| pair[0] == 0xFF && !matches!(pair[1], 0x00 | 0xFF | 0xD0..=0xD7);
    pairs.enumerate().find(|(_, pair)| ends(pair)).map(|(offset, _)| at + offset)
}

fn no_end(file: &[u8], scans: usize) -> Fault {
    let inside = if scans == 0 { "its headers" } else { "its image data" };
    Fault::Truncated(format!("it stops inside {inside}, after {} bytes, without an end marker", file.len()))
}
