//! `OpenEXR`: floats of 16 and 32 bits, to f32; rgb, with or without alpha.

mod b44;
mod chunks;
mod header;

use std::io::Cursor;

use image::codecs::openexr::OpenExrDecoder;
use mip_core::ImageBuffer;

use self::header::Header;
use super::library::fault;
use super::look::{FIRST, Needs, rows};
use super::{Fault, Reader};

impl Reader {
    /// The first part with channels R, G and B, on its display window; samples as they are stored.
    pub(super) fn decode_exr(&mut self, file: &[u8]) -> Result<ImageBuffer, Fault> {
        let header = Header::of(file)?;
        // The decoder's own memory goes by the data, of which the display may show a small part.
        for window in header.parts.iter().flat_map(|part| [&part.shown, &part.data]) {
            self.check_size(window.width, window.height)?;
        }
        chunks::check(&header, file)?;
        self.decode_with(OpenExrDecoder::new(Cursor::new(file)).map_err(fault)?)
    }
}

pub(super) fn needs(first: &[u8]) -> Option<Needs> {
    let header = Header::of(first).ok()?;
    if first.len() < FIRST {
        // That is all of the file: what claims more than it can hold needs nothing, for decoding refuses it.
        chunks::check(&header, first).ok()?;
    }
    let windows = || header.parts.iter().flat_map(|part| [&part.shown, &part.data]);
    // The limit of pixels holds for the data, whatever part of it is shown.
    let largest = windows().max_by_key(|window| u64::from(window.width) * u64::from(window.height))?;
    let shown = header.parts.iter().map(|part| &part.shown);
    let area = shown.map(|window| (window.width as usize).saturating_mul(window.height as usize)).max()?;
    // Rgba, once for the decoder and once for us; a block as it lies in the file, unpacked, and twice on the way; and a
    // row of pixels.
    let blocks = header.parts.iter().map(|part| usize::try_from(part.block()).unwrap_or(usize::MAX));
    let pixels = area.saturating_mul(16);
    let scratch = pixels.saturating_add(rows(blocks.max()?, 4));
    let scratch = scratch.saturating_add(rows(largest.width as usize, 16));
    Some(Needs { width: largest.width, height: largest.height, pixels, scratch })
}

#[cfg(test)]
mod tests;
