//! The headers of a file ("`OpenEXR` File Layout"), as far as memory goes by them.
//!
//! The library takes memory for all that they claim, so they are read here first. Whatever it might understand in
//! another way than we do is refused.

use super::Fault;

/// Flags in the second byte of the version.
const TILED: u8 = 0x02;
const SEVERAL_PARTS: u8 = 0x10;

/// Sides are shorter than this in the format's own library too.
const LONGEST_SIDE: i64 = 1 << 30;

pub(super) struct Header {
    pub(super) parts: Vec<Part>,
    /// Whether each block names its part, as in files that may have several.
    pub(super) several: bool,
    /// Where the tables of blocks begin.
    pub(super) end: usize,
}

pub(super) struct Part {
    pub(super) shown: Window,
    pub(super) data: Window,
    pub(super) tiles: Option<Tiles>,
    pub(super) compression: u8,
    /// Bytes of a sample of each channel.
    pub(super) channels: Vec<u8>,
}

/// A window on a part's pixels; sides of at least 1.
pub(super) struct Window {
    /// Its first row.
    pub(super) top: i32,
    pub(super) width: u32,
    pub(super) height: u32,
}

pub(super) struct Tiles {
    pub(super) width: u32,
    pub(super) height: u32,
    /// 0: one level; 1: each level half as large as the one before; 2: halved in either direction.
    pub(super) levels: u8,
    /// Whether halves are rounded up.
    pub(super) up: bool,
}

impl Header {
    pub(super) fn of(file: &[u8]) -> Result<Self, Fault> {
        let mut text = Text { rest: file.get(8..).ok_or_else(cut)? };
        let flags = file[5];
        let several = flags & SEVERAL_PARTS != 0;
        let mut parts = Vec::new();
        loop {
            parts.push(part(&mut text, flags & TILED != 0)?);
            // Of several parts the last is followed by an empty one.
            if !several || text.ends()? {
                break;
            }
        }
        Ok(Self { parts, several, end: file.len() - text.rest.len() })
    }
}

impl Part {
    /// Rows of a block that is no tile.
    pub(super) fn rows(&self) -> u32 {
        match self.compression {
            0..=2 => 1,
            3 | 5 => 16,
            9 | 10 => 256,
            _ => 32,
        }
    }

    /// Bytes of a pixel, all channels together.
    pub(super) fn pixel(&self) -> u64 {
        self.channels.iter().map(|&bytes| u64::from(bytes)).sum()
    }

    /// Bytes of the largest block.
    pub(super) fn block(&self) -> u64 {
        let (width, height) = match &self.tiles {
            Some(tiles) => (tiles.width.min(self.data.width), tiles.height.min(self.data.height)),
            None => (self.data.width, self.rows().min(self.data.height)),
        };
        (u64::from(width) * u64::from(height)).saturating_mul(self.pixel())
    }
}

fn cut() -> Fault {
    Fault::Truncated("it stops inside its header".to_owned())
}

fn corrupt(text: impl Into<String>) -> Fault {
    Fault::Corrupt(text.into())
}

/// The attributes of a part, up to the empty name behind them.
fn part(text: &mut Text<'_>, tiled: bool) -> Result<Part, Fault> {
    let (mut shown, mut data, mut channels, mut compression) = (None, None, None, None);
    let (mut tiles, mut tiled) = (None, tiled);
    let mut seen: Vec<&[u8]> = Vec::new();
    while !text.ends()? {
        let (name, kind) = (text.word()?, text.word()?);
        let length =
            usize::try_from(text.i32()?).map_err(|_| corrupt("an attribute has a negative length"))?;
        let mut value = Text { rest: text.take(length)? };
        let wanted: &[u8] = match name {
            b"displayWindow" | b"dataWindow" => b"box2i",
            b"channels" => b"chlist",
            b"compression" => b"compression",
            b"tiles" => b"tiledesc",
            b"type" => b"string",
            _ => continue,
        };
        if kind != wanted || seen.contains(&name) {
            return Err(corrupt(format!(
                "its attribute {} is of a wrong type or there twice",
                name.escape_ascii()
            )));
        }
        seen.push(name);
        match name {
            b"displayWindow" => shown = Some(window(&mut value)?),
            b"dataWindow" => data = Some(window(&mut value)?),
            b"channels" => channels = Some(samples(&mut value)?),
            b"compression" => compression = Some(value.take(1)?[0]),
            b"tiles" => tiles = Some(tile(&mut value)?),
            _ => tiled = matches!(value.rest, b"tiledimage" | b"deeptile"),
        }
    }
    let lacks = |name: &str| corrupt(format!("its header lacks {name}"));
    Ok(Part {
        shown: shown.ok_or_else(|| lacks("displayWindow"))?,
        data: data.ok_or_else(|| lacks("dataWindow"))?,
        channels: channels.ok_or_else(|| lacks("channels"))?,
        compression: compression.ok_or_else(|| lacks("compression"))?,
        tiles: if tiled { Some(tiles.ok_or_else(|| lacks("tiles"))?) } else { None },
    })
}

fn window(value: &mut Text<'_>) -> Result<Window, Fault> {
    let [left, top, right, bottom] = [value.i32()?, value.i32()?, value.i32()?, value.i32()?];
    let side = |from: i32, to: i32| {
        let side = i64::from(to) - i64::from(from) + 1;
        let wrong = || corrupt(format!("it has a window from ({left}, {top}) to ({right}, {bottom})"));
        u32::try_from(side).ok().filter(|_| (1..LONGEST_SIDE).contains(&side)).ok_or_else(wrong)
    };
    Ok(Window { top, width: side(left, right)?, height: side(top, bottom)? })
}

/// Bytes of a sample of each channel.
fn samples(value: &mut Text<'_>) -> Result<Vec<u8>, Fault> {
    let mut channels = Vec::new();
    while !value.ends()? {
        value.word()?;
        channels.push(match value.i32()? {
            1 => 2,
            0 | 2 => 4,
            kind => return Err(corrupt(format!("samples of kind {kind} are not known here"))),
        });
        // Whether it is linear, three bytes without a meaning, and the steps between samples.
        value.take(12)?;
    }
    if channels.is_empty() { Err(corrupt("it has no channels")) } else { Ok(channels) }
}

fn tile(value: &mut Text<'_>) -> Result<Tiles, Fault> {
    let [width, height] = [value.i32()?, value.i32()?];
    let mode = value.take(1)?[0];
    let side =
        |side: i32| u32::try_from(side).ok().filter(|side| *side > 0 && i64::from(*side) < LONGEST_SIDE);
    match (side(width), side(height), mode & 15, mode >> 4) {
        (Some(width), Some(height), levels @ 0..=2, up @ 0..=1) => {
            Ok(Tiles { width, height, levels, up: up == 1 })
        }
        _ => Err(corrupt(format!("it has tiles of {width}x{height} in mode {mode}"))),
    }
}

/// What is left to read.
pub(super) struct Text<'a> {
    pub(super) rest: &'a [u8],
}

impl<'a> Text<'a> {
    /// Whether there is an empty name, which ends a list; passes it.
    fn ends(&mut self) -> Result<bool, Fault> {
        let ends = *self.rest.first().ok_or_else(cut)? == 0;
        if ends {
            self.rest = &self.rest[1..];
        }
        Ok(ends)
    }

    /// A name, and the zero behind it.
    fn word(&mut self) -> Result<&'a [u8], Fault> {
        let length = self.rest.iter().position(|&byte| byte == 0).ok_or_else(cut)?;
        if length == 0 {
            return Err(corrupt("a name in its header is empty"));
        }
        let word = self.take(length)?;
        self.take(1)?;
        Ok(word)
    }

    pub(super) fn i32(&mut self) -> Result<i32, Fault> {
        self.take(4).map(|bytes| i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(cut)?;
        self.rest = rest;
        Ok(taken)
    }
}
