//! Chunks of PNG (PNG Specification, third edition, section 11.3).

use std::io::Cursor;

use super::{Density, DensityUnit, Metadata, PROFILE, is_profile};

/// Signature and header chunk: what other chunks come behind.
const HEADER: usize = 8 + 12 + 13;

/// Bytes of a profile, and what its unpacking may take: what fits the 255 segments of a JPEG file, and far beyond any
/// profile there is.
const LARGEST_PROFILE: usize = 16_000_000;

/// Colour chunks that come before the image data and are carried as they are.
const COLOURS: [&[u8; 4]; 4] = [b"gAMA", b"cHRM", b"sRGB", b"cICP"];

pub(super) fn read(file: &[u8]) -> Metadata {
    let mut metadata = Metadata::default();
    let mut at = 8;
    while let Some((name, body)) = chunk(file, at) {
        at += 12 + body.len();
        match &name {
            b"iCCP" => match profile(file) {
                Some(icc) => metadata.icc = Some(icc.into()),
                None => _ = metadata.others.insert(PROFILE),
            },
            b"pHYs" => metadata.density = density(body),
            b"eXIf" if !super::jpeg::only_orientation(body) => _ = metadata.others.insert("EXIF"),
            b"iTXt" if body.starts_with(b"XML:com.adobe.xmp\0") => _ = metadata.others.insert("XMP"),
            b"tEXt" | b"zTXt" | b"iTXt" => _ = metadata.others.insert("texts"),
            b"tIME" => _ = metadata.others.insert("time of change"),
            b"bKGD" => _ = metadata.others.insert("background colour"),
            b"mDCV" | b"cLLI" => _ = metadata.others.insert("HDR light levels"),
            b"acTL" => _ = metadata.others.insert("animation"),
            b"IEND" => break,
            _ if COLOURS.contains(&&name) => metadata.colours.push((name, body.to_vec())),
            _ => {}
        }
    }
    metadata
}

/// Name and contents of the chunk at a place.
fn chunk(file: &[u8], at: usize) -> Option<([u8; 4], &[u8])> {
    let head = file.get(at..)?.first_chunk::<8>()?;
    let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
    let end = at.checked_add(length)?.checked_add(8)?;
    Some(([head[4], head[5], head[6], head[7]], file.get(at + 8..end)?))
}

/// The profile unpacked, if it is one.
fn profile(file: &[u8]) -> Option<Vec<u8>> {
    let limits = png::Limits { bytes: LARGEST_PROFILE };
    let reader = png::Decoder::new_with_limits(Cursor::new(file), limits).read_info().ok()?;
    let icc = reader.info().icc_profile.as_ref()?.to_vec();
    is_profile(&icc).then_some(icc)
}

fn density(body: &[u8]) -> Option<Density> {
    let bytes = body.first_chunk::<9>().filter(|_| body.len() == 9)?;
    let side = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let unit = if bytes[8] == 1 { DensityUnit::Metre } else { DensityUnit::Aspect };
    Some(Density { x: side(0), y: side(4), unit })
}

/// Puts chunks behind the header chunk of a file.
pub(super) fn add(file: &mut Vec<u8>, density: Option<Density>, colours: &[([u8; 4], Vec<u8>)]) {
    let mut chunks = Vec::new();
    let mut push = |name: [u8; 4], body: &[u8]| {
        let mut sum = crc32fast::Hasher::new();
        sum.update(&name);
        sum.update(body);
        chunks.extend_from_slice(&(body.len() as u32).to_be_bytes());
        chunks.extend_from_slice(&name);
        chunks.extend_from_slice(body);
        chunks.extend_from_slice(&sum.finalize().to_be_bytes());
    };
    for (name, body) in colours {
        push(*name, body);
    }
    if let Some(Density { x, y, unit }) = density {
        let unit = u8::from(unit == DensityUnit::Metre);
        push(*b"pHYs", &[&x.to_be_bytes()[..], &y.to_be_bytes(), &[unit]].concat());
    }
    let at = HEADER.min(file.len());
    file.splice(at..at, chunks);
}
