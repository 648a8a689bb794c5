//! A picture of a file: what its properties say.

use image::metadata::Orientation;

use super::super::Fault;
use super::cursor::{Cursor, damaged};
use super::meta::Meta;

/// What is known of a picture before it is decoded.
pub(super) struct Picture<'a> {
    /// As it is stored.
    pub(super) width: u32,
    pub(super) height: u32,
    /// Of its samples, and whether there is luma alone.
    pub(super) bits: u32,
    pub(super) gray: bool,
    /// The items that hold it, row by row: one, or the tiles of a grid.
    pub(super) tiles: Vec<u32>,
    /// Of each item.
    pub(super) tile: (u32, u32),
    /// Tiles in a row.
    pub(super) columns: usize,
    pub(super) turned: Turned,
    /// The ICC profile.
    pub(super) profile: Option<&'a [u8]>,
    pub(super) colour: Option<Colour>,
}

/// What the numbers of ITU-T H.273 say of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Colour {
    pub(super) primaries: u8,
    pub(super) transfer: u8,
    pub(super) matrix: u8,
    pub(super) full: bool,
}

impl<'a> Picture<'a> {
    /// What an item is, which has to be a picture or a grid of some.
    pub(super) fn of(meta: &Meta<'a>, file: Option<&[u8]>, id: u32) -> Result<Self, Fault> {
        let item = meta.item(id)?;
        match &item.kind {
            b"av01" => {
                let mut picture = Self::of_properties(meta, id)?;
                picture.tiles = vec![id];
                picture.tile = (picture.width, picture.height);
                if picture.bits == 0 {
                    return Err(damaged("its samples have no number of bits"));
                }
                Ok(picture)
            }
            b"grid" => {
                let mut picture = Self::of_properties(meta, id)?;
                picture.tiles = meta.referred(id, *b"dimg").to_vec();
                let first = *picture.tiles.first().ok_or_else(|| damaged("a grid has no tiles"))?;
                let tile = Self::of_properties(meta, first)?;
                (picture.bits, picture.gray) = (tile.bits, tile.gray);
                picture.tile = (tile.width, tile.height);
                picture.colour = picture.colour.or(tile.colour);
                picture.profile = picture.profile.or(tile.profile);
                // Its own contents lie anywhere in the file.
                if let Some(file) = file {
                    picture.read_grid(&meta.bytes(file, item)?)?;
                }
                Ok(picture)
            }
            kind => Err(Fault::Corrupt(format!("its picture is of kind '{}'", kind.escape_ascii()))),
        }
    }

    /// The alpha of a picture, if it has one.
    pub(super) fn alpha(meta: &Meta<'a>, file: Option<&[u8]>, id: u32) -> Result<Option<(u32, Self)>, Fault> {
        for other in meta.referring(id, *b"auxl") {
            if ALPHA.contains(&role(meta, other)?) {
                return Ok(Some((other, Self::of(meta, file, other)?)));
            }
        }
        Ok(None)
    }

    fn of_properties(meta: &Meta<'a>, id: u32) -> Result<Self, Fault> {
        let mut picture = Self {
            width: 0,
            height: 0,
            bits: 0,
            gray: false,
            tiles: Vec::new(),
            tile: (0, 0),
            columns: 1,
            turned: Turned::default(),
            profile: None,
            colour: None,
        };
        for property in meta.properties(meta.item(id)?) {
            let (property, essential) = property?;
            let mut cursor = Cursor(property.whole()?);
            match &property.kind {
                b"ispe" => {
                    cursor.version()?;
                    (picture.width, picture.height) = (cursor.number(4)? as u32, cursor.number(4)? as u32);
                }
                b"av1C" => {
                    let about = cursor.number(4)?;
                    picture.bits = if about >> 14 & 1 == 0 {
                        8
                    } else if about >> 13 & 1 == 0 {
                        10
                    } else {
                        12
                    };
                    picture.gray = about >> 12 & 1 == 1;
                }
                b"colr" => match &cursor.kind()? {
                    b"nclx" => {
                        let [primaries, transfer, matrix] =
                            [cursor.number(2)?, cursor.number(2)?, cursor.number(2)?]
                                .map(|v| v.min(255) as u8);
                        let full = cursor.number(1)? >> 7 == 1;
                        picture.colour = Some(Colour { primaries, transfer, matrix, full });
                    }
                    b"prof" | b"rICC" => picture.profile = Some(cursor.0),
                    _ => {}
                },
                b"irot" => picture.turned.rotate(cursor.number(1)? as u8),
                b"imir" => picture.turned.mirror(cursor.number(1)? as u8),
                b"clap" => {
                    let text = "only a part of its picture is to be shown (clap), which is not read";
                    return Err(Fault::Corrupt(text.to_owned()));
                }
                // Of a picture in layers the last one is shown, which is what the decoder gives for this number.
                b"a1op" if cursor.number(1)? == 0 => {}
                b"lsel" if cursor.number(2)? == 0xFFFF => {}
                // They say nothing that is not known otherwise, or nothing of the pixels.
                b"auxC" | b"pixi" | b"pasp" | b"a1lx" | b"clli" | b"mdcv" | b"cclv" | b"amve" => {}
                kind if essential => {
                    let kind = kind.escape_ascii();
                    return Err(Fault::Corrupt(format!(
                        "it cannot be shown without its property '{kind}', which is not read"
                    )));
                }
                _ => {}
            }
        }
        Ok(picture)
    }

    /// A grid's own contents (ISO/IEC 23008-12, 6.6.2.3).
    fn read_grid(&mut self, contents: &[u8]) -> Result<(), Fault> {
        let mut cursor = Cursor(contents);
        let [_, flags, rows, columns] = [(); 4].map(|()| cursor.number(1));
        let (rows, columns) = (rows? as usize + 1, columns? as usize + 1);
        let of_side = if flags? & 1 == 0 { 2 } else { 4 };
        (self.width, self.height) = (cursor.number(of_side)? as u32, cursor.number(of_side)? as u32);
        if rows * columns != self.tiles.len() {
            return Err(damaged(&format!("a grid of {rows} by {columns} has {} tiles", self.tiles.len())));
        }
        self.columns = columns;
        Ok(())
    }
}

/// What an item is to the picture that it belongs to.
fn role<'a>(meta: &Meta<'a>, id: u32) -> Result<&'a [u8], Fault> {
    for property in meta.properties(meta.item(id)?) {
        let (property, _) = property?;
        if property.kind == *b"auxC" {
            let mut cursor = Cursor(property.whole()?);
            cursor.version()?;
            return Ok(cursor.0.split(|byte| *byte == 0).next().unwrap_or_default());
        }
    }
    Ok(&[])
}

/// What alpha is called.
const ALPHA: [&[u8]; 2] = [b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", b"urn:mpeg:hevc:2015:auxid:1"];

/// A mirror image from left to right, or none, and quarters of a turn clockwise behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Turned {
    mirrored: bool,
    quarters: u8,
}

impl Turned {
    /// Turns further, so many quarters the other way.
    fn rotate(&mut self, quarters: u8) {
        self.quarters = (self.quarters + 4 - quarters % 4) % 4;
    }

    /// Exchanges top and bottom (0), or left and right.
    fn mirror(&mut self, axis: u8) {
        // A mirror image of something turned is its mirror image turned the other way.
        self.quarters = (4 - self.quarters) % 4;
        self.mirrored = !self.mirrored;
        if axis & 1 == 0 {
            self.quarters = (self.quarters + 2) % 4;
        }
    }

    pub(super) fn orientation(self) -> Orientation {
        match (self.mirrored, self.quarters) {
            (false, 0) => Orientation::NoTransforms,
            (false, 1) => Orientation::Rotate90,
            (false, 2) => Orientation::Rotate180,
            (false, _) => Orientation::Rotate270,
            (true, 0) => Orientation::FlipHorizontal,
            (true, 1) => Orientation::Rotate270FlipH,
            (true, 2) => Orientation::FlipVertical,
            (true, _) => Orientation::Rotate90FlipH,
        }
    }
}
