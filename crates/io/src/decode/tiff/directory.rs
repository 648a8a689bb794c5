//! The first directory of a file (TIFF 6.0, section 2), looked at before the decoder gets it.
//!
//! The decoder takes memory for as many values as an entry claims to have, and multiplies numbers of the file in 32
//! bits. So what it goes by is read here first, and has to make sense.

use super::super::Fault;
use super::jpeg;

/// Tags of what memory goes by, and the names under which they are known.
mod tag {
    pub(super) type Tag = (u16, &'static str);
    pub(super) const WIDTH: Tag = (256, "ImageWidth");
    pub(super) const HEIGHT: Tag = (257, "ImageLength");
    pub(super) const BITS: Tag = (258, "BitsPerSample");
    pub(super) const COMPRESSION: Tag = (259, "Compression");
    pub(super) const PHOTOMETRIC: Tag = (262, "PhotometricInterpretation");
    pub(super) const STRIPS: [Tag; 2] = [(273, "StripOffsets"), (279, "StripByteCounts")];
    pub(super) const SAMPLES: Tag = (277, "SamplesPerPixel");
    pub(super) const ROWS: Tag = (278, "RowsPerStrip");
    pub(super) const PLANES: Tag = (284, "PlanarConfiguration");
    pub(super) const TILE_WIDTH: Tag = (322, "TileWidth");
    pub(super) const TILE_HEIGHT: Tag = (323, "TileLength");
    pub(super) const TILES: [Tag; 2] = [(324, "TileOffsets"), (325, "TileByteCounts")];
    pub(super) const JPEG_TABLES: Tag = (347, "JPEGTables");
    /// All of which the decoder reads the values, but for places and lengths of strips and tiles.
    pub(super) const READ: [u16; 17] =
        [256, 257, 258, 259, 262, 274, 277, 278, 284, 317, 320, 322, 323, 338, 339, 347, 530];
}
use tag::Tag;

/// The longest list but for offsets: a map of colours of 16 bits.
const LONGEST_LIST: u64 = 3 << 16;

/// A way of compressing by which a strip is a JPEG file.
const JPEG: u64 = 7;

/// No byte of a strip or tile unpacks to more: of those that the decoder takes a row apart for, LZW has the longest
/// strings.
const MOST: u64 = 4096;

/// The entries of the first directory.
pub(super) struct Directory<'a> {
    file: &'a [u8],
    big: bool,
    entries: Vec<Entry>,
    /// Where it is not the first one.
    moved: Option<Moved>,
    /// Where the place of the next one stands.
    end: u64,
}

/// A directory that is to be taken for the first one.
struct Moved {
    /// Where the header says where the first one begins, and in how many bytes.
    header: (u64, u64),
    place: u64,
}

/// Where the first directory of a file begins.
pub(super) fn first(file: &[u8]) -> Option<u64> {
    let bare = Directory { file, big: file.starts_with(b"MM"), entries: Vec::new(), moved: None, end: 0 };
    let (at, word) = if bare.number(2, 2)? == 43 { (8, 8) } else { (4, 4) };
    bare.number(at, word)
}

struct Entry {
    tag: u16,
    /// Bytes of a value; 0 where the type is not known.
    size: u64,
    count: u64,
    /// Where the values stand.
    values: u64,
}

/// The strips or tiles of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunks {
    pub(super) width: u32,
    pub(super) height: u32,
    /// How many there are.
    pub(super) count: u64,
    /// Bytes of a row.
    pub(super) row: u64,
    /// Whether each is a JPEG file, which is unpacked as a whole.
    pub(super) jpeg: bool,
}

fn corrupt(text: impl Into<String>) -> Fault {
    Fault::Corrupt(text.into())
}

impl<'a> Directory<'a> {
    /// The first directory.
    pub(super) fn of(file: &'a [u8]) -> Result<Self, Fault> {
        Self::read(file, None)
    }

    /// The directory that begins there.
    pub(super) fn at(file: &'a [u8], start: u64) -> Result<Self, Fault> {
        Self::read(file, Some(start))
    }

    fn read(file: &'a [u8], place: Option<u64>) -> Result<Self, Fault> {
        let cut = || Fault::Truncated("it stops inside its directory".to_owned());
        let big = file.starts_with(b"MM");
        let mut directory = Self { file, big, entries: Vec::new(), moved: None, end: 0 };
        // BigTIFF has numbers of 8 bytes for 4, and of 8 for 2 in front of a directory.
        let wide = match directory.number(2, 2).ok_or_else(cut)? {
            42 => false,
            43 => true,
            version => return Err(corrupt(format!("version {version} of the format is not known here"))),
        };
        let (start, counted, word) = if wide { (8, 8, 8) } else { (4, 2, 4) };
        let header = (start, word);
        let start = match place {
            Some(place) => place,
            None => directory.number(start, word).ok_or_else(cut)?,
        };
        directory.moved = place.map(|place| Moved { header, place });
        let count = directory.number(start, counted).ok_or_else(cut)?;
        for index in 0..count {
            let entry =
                (4 + 2 * word).checked_mul(index).and_then(|offset| start.checked_add(counted + offset));
            let entry = entry.filter(|entry| *entry < file.len() as u64).ok_or_else(cut)?;
            let number = |from, bytes| directory.number(entry + from, bytes).ok_or_else(cut);
            let (tag, size) = (number(0, 2)?, size(number(2, 2)?));
            let (count, place) = (number(4, word)?, number(4 + word, word)?);
            if size == 0 && wide {
                return Err(corrupt(format!("its entry {tag} is of a type that is not known here")));
            }
            let bytes = size.checked_mul(count).filter(|bytes| *bytes <= file.len() as u64);
            let many =
                || corrupt(format!("its entry {tag} claims {count} values, more than the file can hold"));
            let bytes = bytes.ok_or_else(many)?;
            let values = if bytes <= word { entry + 4 + word } else { place };
            directory.entries.push(Entry { tag: tag as u16, size, count, values });
        }
        // Every entry lies within the file, so that this is a place near its end at most.
        directory.end = start + counted + (4 + 2 * word) * count;
        Ok(directory)
    }

    /// So many bytes as a number.
    fn number(&self, at: u64, bytes: u64) -> Option<u64> {
        let (at, end) = (usize::try_from(at).ok()?, usize::try_from(at.checked_add(bytes)?).ok()?);
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        let bytes = self.file.get(at..end)?;
        Some(if self.big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) })
    }

    /// Of several entries the decoder takes the last; those of unknown types it passes.
    fn entry(&self, (tag, _): Tag) -> Option<&Entry> {
        self.entries.iter().rfind(|entry| entry.tag == tag && entry.size > 0)
    }

    /// The first value of an entry.
    fn first(&self, (tag, name): Tag) -> Result<Option<u64>, Fault> {
        let Some(entry) = self.entry((tag, name)) else { return Ok(None) };
        let wrong = || corrupt(format!("its {name} is no number"));
        self.number(entry.values, entry.size).filter(|_| entry.count > 0).map(Some).ok_or_else(wrong)
    }

    /// The value of an entry that has one.
    fn value(&self, tag: Tag) -> Result<Option<u64>, Fault> {
        match self.entry(tag) {
            Some(entry) if entry.count != 1 => {
                Err(corrupt(format!("its {} has {} values", tag.1, entry.count)))
            }
            _ => self.first(tag),
        }
    }

    /// The value of an entry that there has to be, at least 1.
    fn side(&self, tag: Tag) -> Result<u32, Fault> {
        let value = self.value(tag)?.and_then(|value| u32::try_from(value).ok()).filter(|value| *value > 0);
        value.ok_or_else(|| corrupt(format!("it has no {} from 1 to 4294967295", tag.1)))
    }

    /// Where the next directory begins, if there is one.
    pub(super) fn next(&self) -> Option<u64> {
        let word = if self.number(2, 2)? == 43 { 8 } else { 4 };
        self.number(self.end, word).filter(|next| *next > 0)
    }

    /// Bytes of its entries.
    pub(super) fn length(&self) -> u64 {
        self.entries.len() as u64 * 12
    }

    /// What the header says of a file whose first directory this is: where, and which bytes.
    pub(super) fn header(&self) -> Option<(u64, Vec<u8>)> {
        let Moved { header: (at, word), place } = *self.moved.as_ref()?;
        let bytes = place.to_be_bytes();
        let mut bytes = bytes[8 - word as usize..].to_vec();
        if !self.big {
            bytes.reverse();
        }
        Some((at, bytes))
    }

    /// Where the directory says that indices into a palette are stored, if it does.
    pub(super) fn place_of_palette(&self) -> Option<u64> {
        /// Of `PhotometricInterpretation`.
        const PALETTE: u64 = 3;
        let entry = self.entry(tag::PHOTOMETRIC)?;
        (self.number(entry.values, 2)? == PALETTE).then_some(entry.values)
    }

    /// Strips or tiles, once everything is checked that memory goes by.
    pub(super) fn chunks(&self) -> Result<Chunks, Fault> {
        let list = |entry: &&Entry| tag::READ.contains(&entry.tag) && entry.count > LONGEST_LIST;
        if let Some(entry) = self.entries.iter().find(list) {
            return Err(corrupt(format!("its entry {} claims {} values", entry.tag, entry.count)));
        }
        let (width, height) = (self.side(tag::WIDTH)?, self.side(tag::HEIGHT)?);
        let samples = self.value(tag::SAMPLES)?.unwrap_or(1).min(0xFFFF);
        let (planes, together) =
            if self.value(tag::PLANES)? == Some(2) { (samples, 1) } else { (1, samples) };
        let tiled = self.entry(tag::TILES[0]).is_some();
        let (wide, tall, places) = if tiled {
            (self.side(tag::TILE_WIDTH)?, self.side(tag::TILE_HEIGHT)?, tag::TILES)
        } else {
            let rows = if self.entry(tag::ROWS).is_some() { self.side(tag::ROWS)? } else { height };
            (width, rows.min(height), tag::STRIPS)
        };
        let count = u64::from(width.div_ceil(wide)) * u64::from(height.div_ceil(tall));
        let count = count.saturating_mul(planes);
        for place in places {
            let given = self.entry(place).map_or(0, |entry| entry.count);
            if given != count || u32::try_from(count).is_err() {
                let text =
                    format!("its {} has {given} values, but {count} strips or tiles are needed", place.1);
                return Err(corrupt(text));
            }
        }
        // Rows of the file and of the picture, which are no wider.
        let bits = self.first(tag::BITS)?.unwrap_or(1).min(0xFF);
        let row = (u64::from(wide) * bits * together).div_ceil(8);
        if row > (self.file.len() as u64).saturating_mul(MOST) {
            return Err(corrupt(format!("{} bytes cannot hold a row of {row}", self.file.len())));
        }
        let jpeg = self.value(tag::COMPRESSION)? == Some(JPEG);
        let chunks = Chunks { width: wide, height: tall, count, row, jpeg };
        if jpeg {
            self.check_jpegs(&chunks, places)?;
        }
        Ok(chunks)
    }

    /// The decoder for JPEG takes memory for the size that a JPEG file claims, whatever its strip or tile has.
    fn check_jpegs(&self, chunks: &Chunks, places: [Tag; 2]) -> Result<(), Fault> {
        let tables = match self.entry(tag::JPEG_TABLES) {
            Some(entry) => self.bytes(entry.values, entry.count * entry.size),
            None => &[],
        };
        for index in 0..chunks.count {
            let [at, length] = places.map(|place| {
                let entry = self.entry(place)?;
                self.number(entry.values.checked_add(index * entry.size)?, entry.size)
            });
            let (Some(at), Some(length)) = (at, length) else {
                return Err(Fault::Truncated("it stops inside its places of strips".to_owned()));
            };
            if let Some((wide, tall)) = jpeg::larger(tables, self.bytes(at, length), chunks) {
                let Chunks { width, height, .. } = chunks;
                let text = format!("it has a JPEG of {wide}x{tall} in a strip or tile of {width}x{height}");
                return Err(corrupt(text));
            }
        }
        Ok(())
    }

    /// Those of some bytes that there are.
    fn bytes(&self, at: u64, length: u64) -> &'a [u8] {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(self.file.len());
        &self.file[place(at)..place(at.saturating_add(length))]
    }
}

/// Bytes of a value of a type; 0 for types that are not known.
const fn size(kind: u64) -> u64 {
    match kind {
        1 | 2 | 6 | 7 => 1,
        3 | 8 => 2,
        4 | 9 | 11 | 13 => 4,
        5 | 10 | 12 | 16 | 17 | 18 => 8,
        _ => 0,
    }
}
