//! AVIF: boxes read here, streams of AV1 by the crate `re_rav1d`, within our limits.

mod av1;
mod colors;
mod cursor;
mod meta;
mod picture;
mod profile;

use image::metadata::Orientation;
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};

use self::av1::Planes;
use self::meta::Meta;
use self::picture::Picture;
use super::alpha::divide_alpha;
use super::look::Needs;
use super::{Fault, Reader, WarningKind, orient};

impl Reader {
    /// The primary picture: 8 bits as u8, 10 and 12 as u16, scaled; gray where there is luma alone; with its alpha as rgba.
    pub(super) fn decode_avif(&mut self, file: &[u8]) -> Result<(ImageBuffer, Orientation), Fault> {
        let meta = Meta::of(file)?;
        let picture = Picture::of(&meta, Some(file), meta.primary)?;
        let alpha = Picture::alpha(&meta, Some(file), meta.primary)?;
        for part in [Some(&picture), alpha.as_ref().map(|(_, alpha)| alpha)].into_iter().flatten() {
            self.check_size(part.width, part.height)?;
            self.check_size(part.tile.0, part.tile.1)?;
        }
        let sides = (picture.width, picture.height);
        if alpha.as_ref().is_some_and(|(_, alpha)| (alpha.width, alpha.height) != sides) {
            return Err(Fault::Corrupt("its alpha is not of the size of its picture".to_owned()));
        }
        let desc = describe(&picture, alpha.is_some())?;
        if meta.sequence {
            self.warn(WarningKind::Further, "it is an animation, of which only the first picture is read");
        }
        let planes = planes(&meta, file, &picture)?;
        if planes.bits != picture.bits || (planes.layout == re_rav1d::PixelLayout::I400) != picture.gray {
            return Err(Fault::Corrupt("its stream has other samples than its boxes say".to_owned()));
        }
        let transparent = alpha.as_ref().map(|(_, alpha)| self::planes(&meta, file, alpha)).transpose()?;
        let colour = picture.colour.unwrap_or(planes.colour);
        let mut pixels = self.buffer(desc)?;
        match desc.dtype() {
            DType::U8 => colors::fill::<u8>(&planes, colour, transparent.as_ref(), &mut pixels)?,
            _ => colors::fill::<u16>(&planes, colour, transparent.as_ref(), &mut pixels)?,
        }
        if alpha.is_some_and(|(id, _)| meta.referred(meta.primary, *b"prem").contains(&id)) {
            divide_alpha(&mut pixels);
        }
        self.note_metadata(&meta, file, &picture);
        Ok((pixels, picture.turned.orientation()))
    }

    /// What the file says beside its pixels. EXIF's orientation counts for nothing: the picture has its own.
    fn note_metadata(&mut self, meta: &Meta<'_>, file: &[u8], picture: &Picture<'_>) {
        for item in meta.items.values() {
            match &item.kind {
                b"Exif" => {
                    let bytes = meta.bytes(file, item).unwrap_or_default();
                    self.metadata.lose_exif(bytes.get(4..).unwrap_or_default());
                }
                // XML, whatever it is of.
                b"mime" => self.metadata.lose("XMP"),
                _ => {}
            }
        }
        match (picture.profile, picture.colour) {
            (Some(profile), _) => self.metadata.set_profile(Some(profile.to_vec())),
            (None, Some(colour)) if !picture.gray => profile::note(colour, &mut self.metadata),
            _ => {}
        }
    }
}

/// The samples of a picture.
fn planes(meta: &Meta<'_>, file: &[u8], picture: &Picture<'_>) -> Result<Planes, Fault> {
    let streams = picture.tiles.iter().map(|&tile| meta.bytes(file, meta.item(tile)?));
    Planes::decode(streams, picture.columns, picture.tile, (picture.width, picture.height))
}

/// The pixels that a picture becomes, as it is stored.
fn describe(picture: &Picture<'_>, alpha: bool) -> Result<ImageDesc, Fault> {
    let format = match (picture.gray, alpha) {
        (_, true) => PixelFormat::Rgba,
        (true, false) => PixelFormat::Gray,
        (false, false) => PixelFormat::Rgb,
    };
    let dtype = if picture.bits == 8 { DType::U8 } else { DType::U16 };
    Ok(ImageDesc::new(picture.width, picture.height, format, dtype)?)
}

/// Bytes that a pixel takes while it is decoded: the decoder's samples and ours, of colours and of alpha, and what it notes of blocks.
const PER_PIXEL: usize = 24;

/// Bytes that the decoder takes beside them.
const TABLES: usize = 8 << 20;

pub(super) fn needs(first: &[u8]) -> Option<Needs> {
    let meta = Meta::of(first).ok()?;
    let picture = Picture::of(&meta, None, meta.primary).ok()?;
    let alpha = Picture::alpha(&meta, None, meta.primary).ok()?.is_some();
    let (width, height) = (picture.width, picture.height);
    let of_tile = (picture.tile.0 as usize).saturating_mul(picture.tile.1 as usize);
    let area = (width as usize).checked_mul(height as usize).filter(|&area| area > 0)?;
    let channels = if alpha { 4 } else { describe(&picture, false).ok()?.channels() };
    let turned = picture.turned.orientation();
    let copies = if turned == Orientation::NoTransforms { 1 } else { 2 };
    let pixels = area.saturating_mul(channels * copies * if picture.bits == 8 { 1 } else { 2 });
    let scratch = area.max(of_tile).saturating_mul(PER_PIXEL).saturating_add(TABLES);
    let (width, height) = if orient::swaps(turned) { (height, width) } else { (width, height) };
    Some(Needs { width, height, pixels, scratch })
}
