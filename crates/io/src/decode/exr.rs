//! `OpenEXR`: floats of 16 and 32 bits, to f32; rgb, with or without alpha.

use std::io::Cursor;

use image::codecs::openexr::OpenExrDecoder;
use mip_core::ImageBuffer;

use super::library::fault;
use super::look::{Needs, rows};
use super::{Fault, Reader};

impl Reader {
    /// The first part with channels R, G and B, on its display window; samples as they are stored.
    pub(super) fn decode_exr(&mut self, file: &[u8]) -> Result<ImageBuffer, Fault> {
        // The decoder's own memory goes by the data, of which the display may show a small part.
        for window in windows(file).unwrap_or_default() {
            self.check_size(window.width, window.height)?;
        }
        self.decode_with(OpenExrDecoder::new(Cursor::new(file)).map_err(fault)?)
    }
}

/// A window on a part's pixels.
struct Window {
    /// Whether it is the one that is to be shown, and not the one that there is data for.
    display: bool,
    width: u32,
    height: u32,
}

/// The windows of all parts (`OpenEXR` file layout, "Header"); `None` where the headers do not end.
fn windows(file: &[u8]) -> Option<Vec<Window>> {
    let mut windows = Vec::new();
    let several = file.get(4..8)?[1] & 0x10 != 0;
    let mut at = 8;
    loop {
        let mut word = || {
            let rest = file.get(at..)?;
            let length = rest.iter().position(|&byte| byte == 0)?;
            at += length + 1;
            Some(&rest[..length])
        };
        let name = word()?;
        if name.is_empty() {
            // Parts end with an empty name, and of several the last with an empty part.
            if !several || file.get(at)? == &0 {
                return Some(windows);
            }
            continue;
        }
        word()?;
        let length = u32::from_le_bytes(*file.get(at..)?.first_chunk()?) as usize;
        let value = file.get(at + 4..(at + 4).checked_add(length)?)?;
        at += 4 + length;
        if matches!(name, b"displayWindow" | b"dataWindow") {
            let number = |i: usize| Some(i64::from(i32::from_le_bytes(*value.get(4 * i..)?.first_chunk()?)));
            let side = |from: i64, to: i64| u32::try_from(to - from + 1).unwrap_or(0);
            let (width, height) = (side(number(0)?, number(2)?), side(number(1)?, number(3)?));
            windows.push(Window { display: name == b"displayWindow", width, height });
        }
    }
}

pub(super) fn needs(first: &[u8]) -> Option<Needs> {
    let windows = windows(first)?;
    let shown = windows.iter().find(|window| window.display)?;
    let area = (shown.width as usize).checked_mul(shown.height as usize).filter(|&area| area > 0)?;
    // The limit of pixels holds for the data, whatever part of it is shown.
    let &Window { width, height, .. } =
        windows.iter().max_by_key(|window| u64::from(window.width) * u64::from(window.height))?;
    // Rgba, once for the decoder and once for us; and blocks of up to 256 rows.
    let block =
        |window: &Window| (window.width as usize * 32).saturating_mul(window.height.min(256) as usize);
    let block = windows.iter().map(block).max()?;
    let pixels = area.saturating_mul(16);
    let scratch = pixels.saturating_add(rows(block, 1));
    Some(Needs { width, height, pixels, scratch })
}
