//! JPEG files that decoders elsewhere, such as a GPU's, read as this crate does.

use mip_core::{DType, ImageDesc, PixelFormat};

use super::color::Colors;
use super::frame::{Component, Frame};
use super::markers::{Application, next_marker};
use image::metadata::Orientation;

/// The picture of a plain JPEG file: sequential, gray or YCbCr of a usual sampling, upright, of 8 bits, up to an end marker.
///
/// # Errors
/// What is not plain about it, in words for a list: some of it only this crate decodes, some it refuses and says why.
pub(in crate::decode) fn plain(file: &[u8]) -> Result<ImageDesc, &'static str> {
    const CUT: &str = "no whole header";
    let mut application = Application::default();
    let mut frame: Option<Frame> = None;
    let mut at = 2;
    let scan = loop {
        let (marker, code) = next_marker(file, at).ok_or(CUT)?;
        at = marker + 2;
        if matches!(code, 0x01 | 0xD0..=0xD9) {
            continue;
        }
        let length = file.get(at..at + 2).map(|b| usize::from(u16::from_be_bytes([b[0], b[1]])));
        let body = length.filter(|length| *length >= 2).and_then(|length| file.get(at + 2..at + length));
        let body = body.ok_or(CUT)?;
        at += body.len() + 2;
        match code {
            0xDA => break at,
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF if frame.is_some() => {
                return Err("two frame headers");
            }
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                frame = Some(Frame::parse(code, body).map_err(|_| "a rare kind of frame")?);
            }
            _ => application.read(code, body),
        }
    };
    let frame = frame.ok_or(CUT)?;
    let upright = |orientation: &Orientation| *orientation == Orientation::NoTransforms;
    if !application.orientation.as_ref().is_none_or(upright) {
        return Err("EXIF orientation");
    }
    let format = match Colors::of(&frame, &application) {
        Colors::Gray => PixelFormat::Gray,
        Colors::YCbCr => PixelFormat::Rgb,
        Colors::Rgb | Colors::Cmyk | Colors::Ycck => return Err("other colours than YCbCr and gray"),
    };
    if !is_usual(&frame.components) {
        return Err("unusual sampling factors");
    }
    // nvJPEG 13.0 decodes some small ones to other pixels from one time to the next.
    if frame.progressive {
        return Err("progressive coding");
    }
    if frame.height == 0 {
        return Err("height behind the picture");
    }
    // Everything before is stuffed: these two bytes are the marker.
    if !file[scan..].windows(2).rev().any(|pair| pair == [0xFF, 0xD9]) {
        return Err("no end marker");
    }
    ImageDesc::new(frame.width as u32, frame.height as u32, format, DType::U8).map_err(|_| CUT)
}

/// Chroma of one sample where there are 1, 2 or 4 of luma across, and 1 or 2 down; a single component of one.
fn is_usual(components: &[Component]) -> bool {
    match components {
        [gray] => (gray.h, gray.v) == (1, 1),
        [luma, cb, cr] => {
            let single = |c: &Component| (c.h, c.v) == (1, 1);
            matches!((luma.h, luma.v), (1 | 2 | 4, 1 | 2)) && single(cb) && single(cr)
        }
        _ => false,
    }
}
