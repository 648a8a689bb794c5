//! Tags of a directory of TIFF beside its picture.

use std::io::{Cursor, Read, Seek};

use tiff::decoder::Decoder;
use tiff::tags::Tag;

use super::{Density, DensityUnit, Metadata, PROFILE, is_profile};

pub(super) fn read(file: &[u8]) -> Metadata {
    if crate::decode::is_plausible_tiff(file) { of(Cursor::new(file)) } else { Metadata::default() }
}

/// Of the page whose directory begins there.
pub(super) fn read_page(file: &[u8], start: u64) -> Metadata {
    crate::decode::tiff_page(file, start).map_or_else(Metadata::default, of)
}

fn of(file: impl Read + Seek) -> Metadata {
    let mut metadata = Metadata::default();
    let Ok(mut decoder) = Decoder::new(file) else { return metadata };
    let mut has = |tag: Tag| decoder.find_tag(tag).ok().flatten().is_some();
    for (tag, name) in [(Tag::ExifDirectory, "EXIF"), (Tag::GpsDirectory, "EXIF"), (Tag::Unknown(700), "XMP")]
    {
        if has(tag) {
            metadata.others.insert(name);
        }
    }
    if has(Tag::IccProfile) {
        match decoder.get_tag_u8_vec(Tag::IccProfile).ok().filter(|icc| is_profile(icc)) {
            Some(icc) => metadata.icc = Some(icc.into()),
            None => _ = metadata.others.insert(PROFILE),
        }
    }
    metadata.density = density(&mut decoder);
    metadata
}

/// The resolution, rounded to whole pixels. 1 by 1 without a unit is what files have that say nothing.
fn density(decoder: &mut Decoder<impl Read + Seek>) -> Option<Density> {
    let unit = match decoder.find_tag_unsigned::<u16>(Tag::ResolutionUnit).ok()?.unwrap_or(2) {
        1 => DensityUnit::Aspect,
        2 => DensityUnit::Inch,
        3 => DensityUnit::Centimetre,
        _ => return None,
    };
    let mut side = |tag: Tag| {
        let value = decoder.find_tag(tag).ok()??;
        let tiff::decoder::ifd::Value::Rational(numerator, denominator) = value else { return None };
        let value = f64::from(numerator) / f64::from(denominator);
        (value >= 0.5 && value < f64::from(u32::MAX)).then_some(value.round() as u32)
    };
    let (x, y) = (side(Tag::XResolution)?, side(Tag::YResolution)?);
    (unit != DensityUnit::Aspect || x != y).then_some(Density { x, y, unit })
}
