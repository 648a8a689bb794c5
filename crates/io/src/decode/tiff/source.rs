//! A TIFF file as the decoder is to see it.
//!
//! It refuses pictures with a palette, though their indices are stored as gray is. So it is shown gray. Of a page it is shown
//! a file whose first one it is: it would walk through all pages before it otherwise.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use super::directory::Directory;

/// Of `PhotometricInterpretation`: gray whose 0 is black.
const GRAY: u16 = 1;

/// The bytes of a file, some of them replaced: where a picture has a palette, and where another page is to be the first.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    file: Cursor<&'a [u8]>,
    palette: bool,
    /// Bytes and their place.
    replaced: Vec<(u64, Vec<u8>)>,
}

impl<'a> Source<'a> {
    pub(super) fn new(file: &'a [u8], directory: &Directory<'_>) -> Self {
        let gray = if file.starts_with(b"MM") { GRAY.to_be_bytes() } else { GRAY.to_le_bytes() };
        let palette = directory.place_of_palette().map(|at| (at, gray.to_vec()));
        let mut replaced = Vec::from_iter(directory.header());
        replaced.extend(palette.clone());
        Self { file: Cursor::new(file), palette: palette.is_some(), replaced }
    }

    /// Whether the first picture has a palette.
    pub(super) const fn has_palette(&self) -> bool {
        self.palette
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let start = self.file.position();
        let length = self.file.read(buffer)?;
        for (at, bytes) in &self.replaced {
            for (place, byte) in (*at..).zip(bytes) {
                let inside = place.checked_sub(start).and_then(|inside| usize::try_from(inside).ok());
                if let Some(target) = inside.and_then(|inside| buffer[..length].get_mut(inside)) {
                    *target = *byte;
                }
            }
        }
        Ok(length)
    }
}

impl Seek for Source<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
