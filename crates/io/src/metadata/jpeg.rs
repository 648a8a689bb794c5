//! Application segments of JPEG (T.81 B.2.4.6), up to the first scan.

use super::{Density, DensityUnit, Metadata, PROFILE, is_profile};

const ICC: &[u8] = b"ICC_PROFILE\0";
const EXIF: &[u8] = b"Exif\0";

pub(super) fn read(file: &[u8]) -> Metadata {
    let mut metadata = Metadata::default();
    let mut parts: Vec<(u8, u8, &[u8])> = Vec::new();
    for (code, body) in segments(file) {
        match code {
            0xE0 if body.starts_with(b"JFIF\0") => metadata.density = density(body),
            0xE1 if body.starts_with(EXIF) && !only_orientation(body.get(6..).unwrap_or_default()) => {
                _ = metadata.others.insert("EXIF");
            }
            0xE1 if body.starts_with(b"http://ns.adobe.com/") => _ = metadata.others.insert("XMP"),
            0xE2 if body.starts_with(ICC) => {
                if let [number, count, part @ ..] = &body[ICC.len()..] {
                    parts.push((*number, *count, part));
                }
            }
            0xE2 if body.starts_with(b"MPF\0") => _ = metadata.others.insert("further pictures (MPF)"),
            0xE2 if body.starts_with(b"urn:iso:std:iso:ts:21496") => _ = metadata.others.insert("gain map"),
            0xED if body.starts_with(b"Photoshop 3.0\0") => _ = metadata.others.insert("IPTC"),
            0xFE => _ = metadata.others.insert("comment"),
            _ => {}
        }
    }
    if !parts.is_empty() {
        match joined(parts) {
            Some(icc) => metadata.icc = Some(icc.into()),
            None => _ = metadata.others.insert(PROFILE),
        }
    }
    metadata
}

/// Codes and contents of the segments before the first scan.
fn segments(file: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut at = 2;
    std::iter::from_fn(move || {
        // Stray bytes between segments are skipped, as they are where the file is decoded.
        while file
            .get(at..at + 2)
            .is_some_and(|pair| pair[0] != 0xFF || matches!(pair[1], 0 | 0xFF | 1 | 0xD0..=0xD8))
        {
            at += 1;
        }
        let head = file.get(at..)?.first_chunk::<4>()?;
        let length = usize::from(u16::from_be_bytes([head[2], head[3]]));
        if matches!(head[1], 0xD9 | 0xDA) || length < 2 {
            return None;
        }
        let body = file.get(at + 4..at + 2 + length)?;
        at += 2 + length;
        Some((head[1], body))
    })
}

/// A profile from its parts, numbered from 1 (ICC.1 B.4), if all are there and make one.
fn joined(mut parts: Vec<(u8, u8, &[u8])>) -> Option<Vec<u8>> {
    parts.sort_by_key(|part| part.0);
    let whole =
        parts.iter().zip(1_u8..).all(|(part, number)| part.0 == number && usize::from(part.1) == parts.len());
    let icc = parts.iter().map(|part| part.2).collect::<Vec<_>>().concat();
    (whole && is_profile(&icc)).then_some(icc)
}

/// Density of a JFIF header (T.871 10.1): behind the name come version, unit, and two numbers.
fn density(body: &[u8]) -> Option<Density> {
    let &[unit, x1, x0, y1, y0] = body.get(7..12)?.first_chunk::<5>()?;
    let (x, y) = (u16::from_be_bytes([x1, x0]), u16::from_be_bytes([y1, y0]));
    let unit = match unit {
        1 => DensityUnit::Inch,
        2 => DensityUnit::Centimetre,
        _ => DensityUnit::Aspect,
    };
    // 1 by 1 without a unit, or 0, is what files have that say nothing.
    let says = x > 0 && y > 0 && (unit != DensityUnit::Aspect || x != y);
    says.then_some(Density { x: x.into(), y: y.into(), unit })
}

/// Whether EXIF data, from its byte order mark on, has nothing but the orientation (tag 0112), which is applied to the
/// pixels and so not lost.
pub(super) fn only_orientation(tiff: &[u8]) -> bool {
    let little = tiff.starts_with(b"II");
    let number = |at: usize, size: usize| {
        let bytes = tiff.get(at..at.checked_add(size)?)?;
        let shift = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(if little { bytes.iter().rev().fold(0, shift) } else { bytes.iter().fold(0, shift) } as usize)
    };
    let sole = || {
        let at = number(4, 4)?;
        Some(number(at, 2)? == 1 && number(at + 2, 2)? == 0x0112 && number(at + 14, 4).unwrap_or(0) == 0)
    };
    sole().unwrap_or(false)
}
