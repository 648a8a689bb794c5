//! Files that hold several pictures: pages of TIFF, frames of GIF.

use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use mip_core::{ImageBuffer, OverBudget, Reservation};

use super::look::{self, Needs};
use super::{Loaded, Reader, gif, tiff};
use crate::{FileFormat, IoError, Metadata, input_name, open_input};

/// A picture of a file that may hold several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Page {
    /// How long it is shown, where a file says so: of an animation.
    pub delay: Option<Duration>,
}

/// What is known of a file once a picture of it has been asked for.
#[derive(Debug, Default)]
pub(super) struct Opened {
    /// Where the directory of each page of a TIFF file begins.
    directories: Vec<u64>,
    animation: Option<Box<gif::Animation>>,
    /// Whether the memory that was taken with the file has been used for a picture.
    used: bool,
}

/// Bytes that tell a format.
const TELLING: u64 = 64;

impl Loaded {
    /// The pictures of the file, in their order. Of a damaged one those in front of the damage, and one more, which
    /// [`Reader::decode_page`] refuses with what is wrong.
    pub fn pages(&self) -> Vec<Page> {
        match self.format {
            FileFormat::Tiff => vec![Page::default(); tiff::directories(&self.bytes).len()],
            FileFormat::Gif => gif::pages(&self.bytes),
            _ => vec![Page::default()],
        }
    }
}

impl Reader {
    /// The pictures of a file, see [`Loaded::pages`]. Of formats that have one no more than the beginning is read.
    ///
    /// # Errors
    /// As [`Reader::load`].
    pub fn pages(&mut self, path: impl AsRef<Path>) -> Result<Vec<Page>, IoError> {
        let path = path.as_ref();
        let failed = |source| IoError::Read { path: path.to_owned(), source };
        let mut first = Vec::new();
        open_input(path).and_then(|file| file.take(TELLING).read_to_end(&mut first)).map_err(failed)?;
        match FileFormat::sniff(&first, path) {
            Some(FileFormat::Tiff | FileFormat::Gif) => {
                let budget = self.budget.clone();
                let file = self.load(path, |bytes| budget.reserve(bytes))?;
                let pages = file.pages();
                self.take_back(file);
                Ok(pages)
            }
            Some(_) => Ok(vec![Page::default()]),
            None => {
                self.file = first;
                self.sniff(path, &input_name(path)).map(|_| Vec::new())
            }
        }
    }

    /// One picture of a file, counted from 0; the memory for it is asked for by `admit`, except for the first one, which was
    /// asked for with the file. Frames of an animation are whole pictures of the size of its screen, with what earlier frames
    /// left there; all of them are rgb where none has a transparent pixel, rgba otherwise.
    ///
    /// # Errors
    /// As [`Reader::read`]; [`IoError::NoPage`].
    pub fn decode_page(
        &mut self,
        file: &mut Loaded,
        page: u64,
        admit: impl FnOnce(usize) -> Result<Reservation, OverBudget>,
    ) -> Result<ImageBuffer, IoError> {
        let (name, format) = (file.name.clone(), file.format);
        let bytes = std::mem::take(&mut file.bytes);
        let result = self.decode_page_of(&bytes, file, page, admit, &name, format);
        file.bytes = bytes;
        result
    }

    fn decode_page_of(
        &mut self,
        bytes: &[u8],
        file: &mut Loaded,
        page: u64,
        admit: impl FnOnce(usize) -> Result<Reservation, OverBudget>,
        name: &str,
        format: FileFormat,
    ) -> Result<ImageBuffer, IoError> {
        let index = usize::try_from(page).unwrap_or(usize::MAX);
        if format == FileFormat::Tiff && file.opened.directories.is_empty() {
            file.opened.directories = tiff::directories(bytes);
        }
        let start = file.opened.directories.get(index).copied();
        let pages = match format {
            FileFormat::Tiff => file.opened.directories.len(),
            FileFormat::Gif => gif::pages(bytes).len(),
            _ => 1,
        };
        if index >= pages {
            return Err(IoError::NoPage { name: name.to_owned(), page, pages: pages as u64 });
        }
        let needs = match (format, start) {
            (FileFormat::Tiff, Some(start)) => tiff::needs_at(bytes, start),
            _ => look::needs(format, bytes, self.options.jpeg_scale),
        };
        // An animation keeps a copy of the file, its screen, and what of it comes back.
        let kept = match (format, &needs) {
            (FileFormat::Gif, Some(needs)) => bytes.len().saturating_add(needs.pixels.saturating_mul(2)),
            _ => 0,
        };
        let held = held(file, bytes.len().saturating_add(kept), needs.as_ref(), admit);
        let held = held.map_err(|source| IoError::Memory { name: name.to_owned(), source })?;
        let metadata = match start {
            Some(start) => Metadata::of_page(bytes, start),
            None => Metadata::of(bytes, format),
        };
        let animation = &mut file.opened.animation;
        self.decode_named(name, format, held, metadata, |reader| match (format, start) {
            (FileFormat::Tiff, Some(start)) => reader.decode_tiff(bytes, Some(start)),
            (FileFormat::Gif, _) => {
                let frame = reader.decode_gif_frame(bytes, animation, page)?;
                Ok((frame, image::metadata::Orientation::NoTransforms))
            }
            _ => reader.decode_file(format, bytes),
        })
    }

    /// Keeps the memory of a file that is no longer needed for the next one.
    fn take_back(&mut self, file: Loaded) {
        if file.bytes.capacity() <= Self::KEPT {
            self.file = file.bytes;
        }
    }
}

/// The memory for a picture: what was taken with the file, of which `length` bytes stay for the others, or more of it.
fn held(
    file: &mut Loaded,
    length: usize,
    needs: Option<&Needs>,
    admit: impl FnOnce(usize) -> Result<Reservation, OverBudget>,
) -> Result<Reservation, OverBudget> {
    let bytes = needs.map_or(0, |needs| needs.pixels.saturating_add(needs.scratch));
    if std::mem::replace(&mut file.opened.used, true) {
        return admit(bytes);
    }
    let mut all = file.held.split(usize::MAX);
    all.grow_to(length.saturating_add(bytes))?;
    file.held = all.split(length);
    Ok(all)
}
