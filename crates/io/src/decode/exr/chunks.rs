//! The blocks of a file ("`OpenEXR` File Layout", "Chunk Layout"), as far as memory goes by them.
//!
//! The library takes memory for what a block claims to hold before it looks at what there is.

use super::header::{Header, Part, Text, Tiles};
use super::{Fault, b44};

/// B44 and B44A.
const SQUARES: [u8; 2] = [6, 7];

/// Lossy blocks of cosines, of 32 and of 256 rows.
const COSINES: [u8; 2] = [8, 9];

/// What no method but [`COSINES`] can unpack a byte to: deflate makes 1032 of it, and of 24 bits then come 32.
const MOST: u64 = 1376;

/// [`COSINES`] deflate four bytes for a square of 64 samples.
const MOST_COSINES: u64 = MOST * 64;

/// Refuses a file with a block that is not all there, or that claims more pixels than its bytes can hold.
pub(super) fn check(header: &Header, file: &[u8]) -> Result<(), Fault> {
    let mut at = header.end;
    for (number, part) in header.parts.iter().enumerate() {
        let length = usize::try_from(part.chunks().saturating_mul(8)).unwrap_or(usize::MAX);
        let end = at.checked_add(length).filter(|end| *end <= file.len());
        let end = end.ok_or_else(|| Fault::Truncated("it stops inside its table of blocks".to_owned()))?;
        for offset in file[at..end].as_chunks::<8>().0 {
            let offset = usize::try_from(u64::from_le_bytes(*offset)).unwrap_or(usize::MAX);
            let mut chunk = Text { rest: file.get(offset..).unwrap_or_default() };
            if header.several && usize::try_from(chunk.i32()?).ok() != Some(number) {
                return Err(Fault::Corrupt(format!(
                    "a block of part {number} says that it is of another one"
                )));
            }
            part.check_chunk(&mut chunk)?;
        }
        at = end;
    }
    Ok(())
}

impl Part {
    /// How many blocks there are, of all levels.
    pub(super) fn chunks(&self) -> u64 {
        let (width, height) = (self.data.width, self.data.height);
        let Some(tiles) = &self.tiles else { return u64::from(height.div_ceil(self.rows())) };
        let across = |level| u64::from(tiles.side(width, level).div_ceil(tiles.width));
        let down = |level| u64::from(tiles.side(height, level).div_ceil(tiles.height));
        match tiles.levels {
            0 => across(0) * down(0),
            1 => (0..tiles.levels_of(width.max(height))).map(|level| across(level) * down(level)).sum(),
            _ => {
                let columns: u64 = (0..tiles.levels_of(width)).map(across).sum();
                columns * (0..tiles.levels_of(height)).map(down).sum::<u64>()
            }
        }
    }

    fn check_chunk(&self, chunk: &mut Text<'_>) -> Result<(), Fault> {
        let wrong = || Fault::Corrupt("it has a block outside of its data window".to_owned());
        let (width, height) = self.place(chunk)?.ok_or_else(wrong)?;
        let length = usize::try_from(chunk.i32()?).map_err(|_| wrong())?;
        let packed = chunk.take(length)?;
        let unpacked = u64::from(width) * u64::from(height) * self.pixel();
        let most = if COSINES.contains(&self.compression) { MOST_COSINES } else { MOST };
        if unpacked > (length as u64).saturating_mul(most) {
            return Err(Fault::Corrupt(format!("{length} bytes cannot hold {width}x{height} of its pixels")));
        }
        // What cannot be made smaller is stored as it is.
        if length as u64 == unpacked {
            return Ok(());
        }
        if SQUARES.contains(&self.compression) && b44::falls(packed, &self.channels, width, height) {
            return Err(Fault::Corrupt("samples of a block fall below the least that there is".to_owned()));
        }
        if COSINES.contains(&self.compression) {
            check_cosines(
                packed,
                u64::from(width.div_ceil(8)) * u64::from(height.div_ceil(8)) * self.pixel(),
            )?;
        }
        Ok(())
    }

    /// Reads where a block lies, and says how large it is; `None` where there is no such place.
    fn place(&self, chunk: &mut Text<'_>) -> Result<Option<(u32, u32)>, Fault> {
        let Some(tiles) = &self.tiles else {
            let from = i64::from(chunk.i32()?) - i64::from(self.data.top);
            let row = u32::try_from(from).ok().filter(|row| *row < self.data.height);
            let left = |row| self.data.height - row / self.rows() * self.rows();
            return Ok(row.map(|row| (self.data.width, left(row).min(self.rows()))));
        };
        let [x, y, across, down] = [chunk.i32()?, chunk.i32()?, chunk.i32()?, chunk.i32()?];
        let side = |index: i32, level: i32, of: u32, tile: u32| {
            let level = u32::try_from(level).ok().filter(|level| *level < 32)?;
            let from = u32::try_from(index).ok()?.checked_mul(tile)?;
            tiles.side(of, level).checked_sub(from).map(|left| left.min(tile)).filter(|side| *side > 0)
        };
        Ok(side(x, across, self.data.width, tiles.width).zip(side(y, down, self.data.height, tiles.height)))
    }
}

impl Tiles {
    /// A side of a level.
    fn side(&self, full: u32, level: u32) -> u32 {
        let side = u64::from(full) + if self.up { (1 << level) - 1 } else { 0 };
        (side >> level).max(1) as u32
    }

    fn levels_of(&self, full: u32) -> u32 {
        1 + if self.up { u32::BITS - (full - 1).leading_zeros() } else { full.ilog2() }
    }
}

/// Such a block begins with eleven numbers: a version, then the lengths of four sections, unpacked or packed. `squares`
/// are those of 8 by 8 samples times the bytes of a pixel.
fn check_cosines(packed: &[u8], squares: u64) -> Result<(), Fault> {
    let mut text = Text { rest: packed };
    let numbers = text.take(88)?.as_chunks::<8>().0;
    let number = |index: usize| numbers.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let bytes = squares.saturating_mul(64);
    // Bytes of other samples; runs of bytes, which may be longer than these; the bytes that they become; numbers of 16
    // bits for all but the first of a square's cosines, with one for its end; and for the first ones.
    let claimed = [(1, bytes), (6, bytes.saturating_mul(2)), (7, bytes), (8, bytes / 2), (9, bytes / 2)];
    match claimed.into_iter().find(|(index, most)| number(*index) > *most) {
        Some((index, most)) => {
            let text = format!("a block claims {} of at most {most} numbers", number(index));
            Err(Fault::Corrupt(text))
        }
        None => Ok(()),
    }
}
