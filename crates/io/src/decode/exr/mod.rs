//! `OpenEXR`: floats of 16 and 32 bits; rgb, with or without alpha, and luminance alone as gray.

mod b44;
mod chunks;
mod header;

use std::cell::Cell;
use std::io::Cursor;

use bytemuck::NoUninit;
use exr::block::reader::Reader as Blocks;
use exr::block::samples::FromNativeSample;
use exr::error::Error;
use exr::meta::attribute::SampleType;
use exr::meta::header::Header as Part;
use exr::prelude::{ReadChannels as _, ReadLayers as _, ReadSpecificChannel as _, Text, Vec2, f16, read};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};

use self::header::Header;
use super::look::{FIRST, Needs, rows};
use super::{Fault, Reader, zeroes};

/// A file whose headers have been read.
type Open<'a> = Blocks<Cursor<&'a [u8]>>;

impl Reader {
    /// The first part with channels R, G and B, or else with Y, on its display window; samples as they are stored, of f16 only
    /// where all channels are.
    pub(super) fn decode_exr(&mut self, file: &[u8]) -> Result<ImageBuffer, Fault> {
        let header = Header::of(file)?;
        // The decoder's own memory goes by the data, of which the display may show a small part.
        for window in header.parts.iter().flat_map(|part| [&part.shown, &part.data]) {
            self.check_size(window.width, window.height)?;
        }
        chunks::check(&header, file)?;
        let blocks = exr::block::read(Cursor::new(file), false).map_err(fault)?;
        let (part, format) = shown(blocks.headers())?;
        let used =
            part.channels.list.iter().filter(|channel| names(format).contains(&&*channel.name.to_string()));
        let half = used.clone().all(|channel| channel.sample_type == SampleType::F16);
        let window = part.shared_attributes.display_window;
        let place = part.own_attributes.layer_position - window.position;
        let (width, height) = (window.size.width() as u32, window.size.height() as u32);
        let dtype = if half { DType::F16 } else { DType::F32 };
        let mut image = self.buffer(ImageDesc::new(width, height, format, dtype)?)?;
        let canvas = Canvas { size: window.size, place, format };
        match dtype {
            DType::F16 => canvas.read(blocks, f16::ONE, &mut image)?,
            _ => canvas.read(blocks, 1.0_f32, &mut image)?,
        }
        Ok(image)
    }
}

/// Channels by their names.
const fn names(format: PixelFormat) -> &'static [&'static str] {
    match format.channels() {
        1 => &["Y"],
        3 => &["R", "G", "B"],
        _ => &["R", "G", "B", "A"],
    }
}

/// The part that is read, and what it becomes.
fn shown(parts: &[Part]) -> Result<(&Part, PixelFormat), Fault> {
    let has = |part: &Part, name: &str| part.channels.find_index_of_channel(&Text::from(name)).is_some();
    let all = |part: &&Part, format| !part.deep && names(format).iter().all(|name| has(part, name));
    if let Some(part) = parts.iter().find(|part| all(part, PixelFormat::Rgb)) {
        let format = if has(part, "A") { PixelFormat::Rgba } else { PixelFormat::Rgb };
        return Ok((part, format));
    }
    let gray = parts.iter().find(|part| all(part, PixelFormat::Gray));
    let none =
        || Fault::Corrupt("it has no part with channels R, G and B, or Y, that is not deep".to_owned());
    match gray.ok_or_else(none)? {
        part if has(part, "RY") || has(part, "BY") => {
            Err(Fault::Corrupt("luminance with chroma (RY, BY) is not read; save it as rgb".to_owned()))
        }
        part if has(part, "A") => Err(Fault::Corrupt(
            "luminance with alpha is not read; save it as rgba, or without alpha".to_owned(),
        )),
        part => Ok((part, PixelFormat::Gray)),
    }
}

/// What is shown, and where the data lies on it.
#[derive(Clone, Copy)]
struct Canvas {
    size: Vec2<usize>,
    place: Vec2<i32>,
    format: PixelFormat,
}

impl Canvas {
    /// Reads samples, with `one` for alpha where a part has none.
    fn read<T>(self, blocks: Open<'_>, one: T, image: &mut ImageBuffer) -> Result<(), Fault>
    where
        T: FromNativeSample + NoUninit + Default,
    {
        let channels = names(self.format).len();
        let pixels: Vec<T> = zeroes(self.size.area() * channels, "samples on their canvas")?;
        let pixels = Cell::new(pixels);
        let put = move |pixels: &mut Vec<T>, at: Vec2<usize>, samples: &[T]| {
            if let Some(index) = self.index(at) {
                pixels[index * channels..][..channels].copy_from_slice(&samples[..channels]);
            }
        };
        let picture = read().no_deep_data().largest_resolution_level();
        let pixels = if self.format == PixelFormat::Gray {
            let put = move |pixels: &mut Vec<T>, at, (gray,): (T,)| put(pixels, at, &[gray]);
            let picture =
                picture.specific_channels().required("Y").collect_pixels(move |_, _| pixels.take(), put);
            let read = picture.first_valid_layer().all_attributes().from_chunks(blocks).map_err(fault)?;
            read.layer_data.channel_data.pixels
        } else {
            let put =
                move |pixels: &mut Vec<T>, at, (r, g, b, a): (T, T, T, T)| put(pixels, at, &[r, g, b, a]);
            let colors = picture.specific_channels().required("R").required("G").required("B");
            let picture = colors.optional("A", one).collect_pixels(move |_, _| pixels.take(), put);
            let read = picture.first_valid_layer().all_attributes().from_chunks(blocks).map_err(fault)?;
            read.layer_data.channel_data.pixels
        };
        image.view_mut().data_mut().copy_from_slice(bytemuck::cast_slice(&pixels));
        Ok(())
    }

    /// The number of a pixel of the data, where it is shown.
    fn index(self, at: Vec2<usize>) -> Option<usize> {
        let shown = at.to_i32() + self.place;
        let x = usize::try_from(shown.x()).ok().filter(|x| *x < self.size.width())?;
        let y = usize::try_from(shown.y()).ok().filter(|y| *y < self.size.height())?;
        Some(y * self.size.width() + x)
    }
}

#[allow(clippy::needless_pass_by_value, reason = "what `map_err` takes")]
fn fault(error: Error) -> Fault {
    match &error {
        Error::Io(cause) if cause.kind() == std::io::ErrorKind::UnexpectedEof => {
            Fault::Truncated("it stops before its image does".to_owned())
        }
        _ => Fault::Corrupt(error.to_string()),
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
