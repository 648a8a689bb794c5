//! A TIFF file as the decoder is to see it.
//!
//! It refuses pictures with a palette, though their indices are stored as gray is. So it is shown gray.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

/// Of `PhotometricInterpretation`: indices into a palette, and gray whose 0 is black.
const PALETTE: u16 = 3;
const GRAY: u16 = 1;

const PHOTOMETRIC_INTERPRETATION: u16 = 262;

/// The bytes of a file, with two of them replaced where the first picture has a palette.
#[derive(Debug)]
pub(super) struct Source<'a> {
    file: Cursor<&'a [u8]>,
    replaced: Option<(u64, [u8; 2])>,
}

impl<'a> Source<'a> {
    pub(super) fn new(file: &'a [u8]) -> Self {
        let order = Order { file, big: file.starts_with(b"MM") };
        let place = order.palette();
        let gray = if order.big { GRAY.to_be_bytes() } else { GRAY.to_le_bytes() };
        Self { file: Cursor::new(file), replaced: place.map(|at| (at as u64, gray)) }
    }

    /// Whether the first picture has a palette.
    pub(super) const fn has_palette(&self) -> bool {
        self.replaced.is_some()
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let start = self.file.position();
        let length = self.file.read(buffer)?;
        if let Some((at, bytes)) = self.replaced {
            for (place, byte) in (at..).zip(bytes) {
                let inside = place.checked_sub(start).and_then(|inside| usize::try_from(inside).ok());
                if let Some(target) = inside.and_then(|inside| buffer[..length].get_mut(inside)) {
                    *target = byte;
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

/// A file whose numbers have an order of bytes.
struct Order<'a> {
    file: &'a [u8],
    big: bool,
}

impl Order<'_> {
    /// So many bytes as a number.
    fn number(&self, at: usize, bytes: usize) -> Option<u64> {
        let bytes = self.file.get(at..at.checked_add(bytes)?)?;
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(if self.big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) })
    }

    /// Where the entries of the first directory stand, and how many bytes each takes.
    fn entries(&self) -> Option<(impl Iterator<Item = usize>, usize)> {
        // BigTIFF has numbers of 8 bytes for 4, and of 8 for 2 in front of a directory.
        let (directory, count, entry) = match self.number(2, 2)? {
            42 => (self.number(4, 4)?, 2, 12),
            43 => (self.number(8, 8)?, 8, 20),
            _ => return None,
        };
        let directory = usize::try_from(directory).ok()?;
        let entries = self.number(directory, count)?.min(0xFFFF) as usize;
        let (first, length) = (directory.checked_add(count)?, self.file.len());
        let places = (0..entries).map(move |index| first + index * entry);
        Some((places.take_while(move |at| at + entry <= length), entry))
    }

    /// Whether each entry of the first directory has no more values than the file has bytes.
    fn fits(&self) -> bool {
        let Some((mut places, entry)) = self.entries() else { return true };
        places.all(|at| {
            let count = self.number(at + 4, if entry == 12 { 4 } else { 8 });
            count.is_some_and(|count| count <= self.file.len() as u64)
        })
    }

    /// Where the first directory says that there is a palette.
    fn palette(&self) -> Option<usize> {
        let (mut places, entry) = self.entries()?;
        let value = if entry == 12 { 8 } else { 12 };
        let at = places.find(|at| self.number(*at, 2) == Some(u64::from(PHOTOMETRIC_INTERPRETATION)))?;
        (self.number(at + value, 2)? == u64::from(PALETTE)).then_some(at + value)
    }
}

/// Whether the decoder can be trusted with a file: it takes memory for as many values as an entry says to have.
pub(crate) fn is_plausible(file: &[u8]) -> bool {
    Order { file, big: file.starts_with(b"MM") }.fits()
}
