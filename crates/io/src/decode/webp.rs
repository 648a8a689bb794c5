//! WebP by the decoder of `image`, within our limits.

use std::io::Cursor;

use image::ImageDecoder as _;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use mip_core::ImageBuffer;

use super::library::fault;
use super::look::{Needs, rows};
use super::{Fault, Reader, WarningKind, orientation};

impl Reader {
    /// Lossy and lossless; of an animation the first frame.
    pub(super) fn decode_webp(&mut self, file: &[u8]) -> Result<(ImageBuffer, Orientation), Fault> {
        let says =
            file.get(4..8).and_then(<[u8]>::first_chunk).map_or(0, |length| u32::from_le_bytes(*length));
        if (file.len() as u64) < u64::from(says) + 8 {
            let text = format!("it has {} of {} bytes", file.len(), u64::from(says) + 8);
            return Err(Fault::Truncated(text));
        }
        // What lies behind is no part of it, but the library would read it.
        let file = &file[..(says as usize).saturating_add(8).min(file.len())];
        let mut decoder = WebPDecoder::new(Cursor::new(file)).map_err(fault)?;
        let (width, height) = decoder.dimensions();
        // The library takes memory for what a frame claims before it compares it with the canvas.
        let larger = |(w, h): &(u32, u32)| *w > width || *h > height;
        if let Some((w, h)) = frames(file.get(12..).unwrap_or_default(), true)?.into_iter().find(larger) {
            return Err(Fault::Corrupt(format!("it has a frame of {w}x{h} on a canvas of {width}x{height}")));
        }
        if decoder.has_animation() {
            // The library multiplies the sides and the channels of a canvas in 32 bits.
            if u64::from(width) * u64::from(height) >= 1 << 30 {
                return Err(Fault::Corrupt(format!("it is an animation of {width}x{height} pixels")));
            }
            self.warn(WarningKind::Further, "it is an animation, of which only the first picture is read");
        }
        let orientation = orientation(decoder.exif_metadata().ok().flatten().as_deref());
        Ok((self.decode_with(decoder)?, orientation))
    }
}

pub(super) fn needs(first: &[u8]) -> Option<Needs> {
    let riff = |at: usize| Some(&first.get(at..)?.first_chunk::<4>()?[..]);
    let side = |at: usize| {
        let [low, middle, high] = *first.get(at..)?.first_chunk::<3>()?;
        Some(u32::from_le_bytes([low, middle, high, 0]))
    };
    let (width, height, turned) = match riff(12)? {
        // 14 bits each, the upper ones of which say how the picture is scaled up.
        b"VP8 " => (u16_at(first, 26)? & 0x3FFF, u16_at(first, 28)? & 0x3FFF, false),
        b"VP8L" => {
            let bits = u32::from_le_bytes(*first.get(21..)?.first_chunk()?);
            ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, false)
        }
        // Flags say whether there is EXIF; sides less 1 have 24 bits.
        b"VP8X" => (side(24)? + 1, side(27)? + 1, first.get(20)? & 8 != 0),
        _ => return None,
    };
    let area = (width as usize).checked_mul(height as usize).filter(|&area| area > 0)?;
    let copies = if turned { 8 } else { 4 };
    // Planes of the lossy decoder, whole pixels of the lossless one, and alpha beside either.
    let scratch = rows((width as usize).saturating_mul(64), 4).saturating_add(area.saturating_mul(8));
    Some(Needs { width, height, pixels: area.saturating_mul(copies), scratch })
}

/// Sides of the frames as they claim them themselves, those of an animation's frames among them. Chunks that claim more than
/// there is are refused: the library takes memory for all of it.
fn frames(mut chunks: &[u8], outside: bool) -> Result<Vec<(u32, u32)>, Fault> {
    let mut found = Vec::new();
    while let Some(([a, b, c, d, sizes @ ..], rest)) = chunks.split_first_chunk::<8>() {
        let length = u32::from_le_bytes(*sizes) as usize;
        let cut = || Fault::Truncated(format!("a part has {} of {length} bytes", rest.len()));
        let body = rest.get(..length).ok_or_else(cut)?;
        match &[*a, *b, *c, *d] {
            // 14 bits each, behind a tag and a start code.
            b"VP8 " => {
                found.extend(u16_at(body, 6).zip(u16_at(body, 8)).map(|(w, h)| (w & 0x3FFF, h & 0x3FFF)));
            }
            b"VP8L" => found.extend(body.get(1..5).and_then(<[u8]>::first_chunk).map(|&bits| {
                let bits = u32::from_le_bytes(bits);
                ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
            })),
            b"ANMF" if outside => found.extend(frames(body.get(16..).unwrap_or_default(), false)?),
            _ => {}
        }
        // Chunks of odd length are followed by a byte.
        chunks = rest.get(length.saturating_add(length % 2)..).unwrap_or_default();
    }
    Ok(found)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?).into())
}
