//! TIFF (TIFF 6.0 with its supplements, `BigTIFF`): the first page, or any.

mod directory;
mod jpeg;
mod page;
mod samples;
mod source;

use std::collections::HashSet;
use std::io::ErrorKind;

use image::metadata::Orientation;
use mip_core::{DType, ImageBuffer, ImageDesc};
use tiff::TiffError;
use tiff::decoder::Decoder;
use tiff::tags::Tag;

use self::directory::{Chunks, Directory};
use self::page::{Colors, Depth, Page};
pub(crate) use self::source::Source;
use super::alpha::divide_alpha;
use super::look::{Needs, rows};
use super::spread::spread_pairs;
use super::{Fault, Reader, WarningKind, zeroes};

/// A file that has been opened at its first page.
type Open<'a> = Decoder<Source<'a>>;

impl Reader {
    /// Gray, rgb and rgba, with palettes, CMYK and gray with alpha as for PNG and JPEG; samples of 1 to 8 bits become
    /// u8, of 16 u16, floats of 16 and 32 f16 and f32. Alpha that the colours were multiplied with is divided out.
    /// `start` is where the directory of a page begins that was asked for.
    pub(super) fn decode_tiff(
        &mut self,
        file: &[u8],
        start: Option<u64>,
    ) -> Result<(ImageBuffer, Orientation), Fault> {
        let (mut decoder, chunks) = open(file, start)?;
        let page = Page::of(&mut decoder)?;
        self.check_size(page.width, page.height)?;
        if chunks.jpeg {
            self.check_size(chunks.width, chunks.height)?;
        }
        if start.is_none() && decoder.more_images() {
            let text = "it holds further pictures, which are left out: only the first is read (--pages all reads every one)";
            self.warn(WarningKind::Further, text);
        }
        let mut image = self.buffer(page.desc()?)?;
        if page.is_as_stored() {
            decoder.read_image_bytes(image.view_mut().data_mut()).map_err(fault)?;
        } else {
            read_other(&mut decoder, &page, &mut image)?;
        }
        if page.multiplied {
            divide_alpha(&mut image);
        }
        let turned = decoder.find_tag_unsigned::<u16>(Tag::Orientation).ok().flatten();
        let turned = turned.and_then(|value| Orientation::from_exif(u8::try_from(value).ok()?));
        Ok((image, turned.unwrap_or(Orientation::NoTransforms)))
    }
}

/// Whether the decoder can be trusted with a file.
pub(crate) fn is_plausible(file: &[u8]) -> bool {
    Directory::of(file).and_then(|directory| directory.chunks()).is_ok()
}

/// The file with its directory of a page as the first one, for its metadata; `None` where the decoder cannot be trusted with it.
pub(crate) fn page_source(file: &[u8], start: u64) -> Option<Source<'_>> {
    let directory = Directory::at(file, start).ok()?;
    directory.chunks().ok()?;
    Some(Source::new(file, &directory))
}

/// Where the directories of the pages begin, one after another. Behind damage there is one more, which cannot be read.
pub(super) fn directories(file: &[u8]) -> Vec<u64> {
    let (mut starts, mut seen) = (Vec::new(), HashSet::new());
    let (mut next, mut bytes) = (directory::first(file), 0);
    while let Some(start) = next {
        starts.push(start);
        let directory = Directory::at(file, start).ok();
        bytes += directory.as_ref().map_or(0, Directory::length);
        // A circle of pages ends where it began; what lies over each other is damage.
        let whole = seen.insert(start) && bytes <= file.len() as u64;
        next = directory.filter(|_| whole).and_then(|directory| directory.next());
        next = next.filter(|next| !seen.contains(next));
    }
    if starts.is_empty() { vec![0] } else { starts }
}

/// Opens a file, which reads its first directory.
fn open(file: &[u8], start: Option<u64>) -> Result<(Open<'_>, Chunks), Fault> {
    let directory = match start {
        Some(start) => Directory::at(file, start)?,
        None => Directory::of(file)?,
    };
    let chunks = directory.chunks()?;
    let mut limits = tiff::decoder::Limits::default();
    // What a strip or tile unpacks to is held to the size of the picture by its place in it.
    limits.decoding_buffer_size = usize::MAX;
    limits.intermediate_buffer_size = file.len().max(1 << 20);
    let decoder = Decoder::new(Source::new(file, &directory)).map_err(fault)?;
    Ok((decoder.with_limits(limits), chunks))
}

/// Reads what is not stored as the picture is held.
fn read_other(decoder: &mut Open<'_>, page: &Page, image: &mut ImageBuffer) -> Result<(), Fault> {
    let layout = decoder.image_buffer_layout().map_err(fault)?;
    let mut raw: Vec<u8> = zeroes(layout.complete_len, "samples as the file has them")?;
    decoder.read_image_bytes(&mut raw).map_err(fault)?;
    if layout.planes > 1 {
        raw = samples::interleaved(&raw, layout.planes, page.depth.bytes())?;
    }
    match page.depth {
        Depth::Bits(bits) => {
            let row = (page.width as usize).saturating_mul(page.colors.stored());
            raw = samples::unpacked(&raw, row, bits, page.colors != Colors::Palette)?;
        }
        Depth::U8 | Depth::U16 | Depth::F16 | Depth::F32 => {}
    }
    match page.colors {
        Colors::Gray | Colors::Rgb | Colors::Rgba => {
            let mut view = image.view_mut();
            let target = view.data_mut();
            let given =
                raw.get(..target.len()).ok_or_else(|| Fault::Corrupt("it lacks samples".to_owned()))?;
            target.copy_from_slice(given);
        }
        Colors::GrayAlpha => spread_pairs(&raw, image),
        Colors::Cmyk => samples::cmyk(&raw, image.view_mut().data_mut()),
        Colors::Palette => {
            let map = decoder.get_tag_u16_vec(Tag::ColorMap).map_err(fault)?;
            samples::look_up(&raw, &map, image.view_mut().data_mut())?;
        }
    }
    Ok(())
}

/// `None` also where the directory lies behind the bytes given.
pub(super) fn needs(first: &[u8]) -> Option<Needs> {
    needs_of(open(first, None).ok()?)
}

/// [`needs`] of the page whose directory begins there.
pub(super) fn needs_at(file: &[u8], start: u64) -> Option<Needs> {
    needs_of(open(file, Some(start)).ok()?)
}

fn needs_of((mut decoder, chunks): (Open<'_>, Chunks)) -> Option<Needs> {
    let page = Page::of(&mut decoder).ok()?;
    let desc = page.desc().ok()?;
    let turned =
        decoder.find_tag_unsigned::<u16>(Tag::Orientation).ok().flatten().is_some_and(|value| value > 1);
    let copies = if turned { 2 } else { 1 };
    let area = (page.width as usize).saturating_mul(page.height as usize);
    // Read as they are, or told apart, each in turn.
    let other =
        if page.is_as_stored() { 0 } else { area.saturating_mul(page.colors.stored()).saturating_mul(8) };
    let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    // Of a JPEG file all samples, and of some the coefficients, which have 2 bytes.
    let samples = if chunks.jpeg { u64::from(chunks.width) * u64::from(chunks.height) * 4 } else { 0 };
    let unpacked = bytes(samples.saturating_mul(4)).saturating_add(rows(bytes(chunks.row), 2));
    // Where strips lie and how long they are: the decoder's numbers, and those that these are made of.
    let places = bytes(chunks.count.saturating_mul(80));
    Some(Needs {
        width: page.width,
        height: page.height,
        pixels: desc.bytes().saturating_mul(copies),
        scratch: other.saturating_add(unpacked).saturating_add(places),
    })
}

impl Page {
    /// The picture that it becomes.
    fn desc(&self) -> Result<ImageDesc, Fault> {
        let dtype = match self.depth {
            Depth::Bits(_) | Depth::U8 => DType::U8,
            Depth::U16 => DType::U16,
            Depth::F16 => DType::F16,
            Depth::F32 => DType::F32,
        };
        Ok(ImageDesc::new(self.width, self.height, self.colors.format(), dtype)?)
    }
}

/// What the decoder says, told apart by whether the file is too short.
#[allow(clippy::needless_pass_by_value, reason = "what `map_err` takes")]
fn fault(error: TiffError) -> Fault {
    match &error {
        TiffError::IoError(cause) if cause.kind() == ErrorKind::UnexpectedEof => {
            Fault::Truncated("it stops before its image does".to_owned())
        }
        _ => Fault::Corrupt(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
