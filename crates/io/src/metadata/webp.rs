//! Chunks of WebP's RIFF container.

use super::{Metadata, PROFILE, is_profile, jpeg};

pub(super) fn read(file: &[u8]) -> Metadata {
    let mut metadata = Metadata::default();
    let mut at = 12;
    while let Some((name, body)) = chunk(file, at) {
        // Of an odd number of bytes there is one more.
        at += 8 + body.len().next_multiple_of(2);
        match name {
            b"ICCP" if is_profile(body) => metadata.icc = Some(body.into()),
            b"ICCP" => _ = metadata.others.insert(PROFILE),
            b"EXIF" if !jpeg::only_orientation(body.strip_prefix(b"Exif\0\0").unwrap_or(body)) => {
                _ = metadata.others.insert("EXIF");
            }
            b"XMP " => _ = metadata.others.insert("XMP"),
            _ => {}
        }
    }
    metadata
}

/// Name and contents of the chunk at a place.
fn chunk(file: &[u8], at: usize) -> Option<(&[u8; 4], &[u8])> {
    let (name, rest) = file.get(at..)?.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    Some((name, rest.get(..u32::from_le_bytes(*length) as usize)?))
}
