//! What Exif says about a picture's orientation.

use image::metadata::Orientation;

/// Tag of the orientation (Exif 2.32, 4.6.4).
const ORIENTATION: u16 = 0x0112;

/// Orientation from a TIFF structure, of either byte order, as any integer type that fits a value (TIFF 6.0
/// has readers accept BYTE, SHORT and LONG for each other). `None`: there is none, or it makes no sense.
pub(super) fn orientation(tiff: &[u8]) -> Option<Orientation> {
    let reader = Tiff { bytes: tiff, big: tiff.starts_with(b"MM") };
    if !(reader.big || tiff.starts_with(b"II")) || reader.u16(2)? != 42 {
        return None;
    }
    let directory = reader.u32(4)? as usize;
    let entries = usize::from(reader.u16(directory)?);
    let places = (0..entries).map(|i| directory + 2 + 12 * i);
    let entry =
        places.take_while(|at| at + 12 <= tiff.len()).find(|at| reader.u16(*at) == Some(ORIENTATION))?;
    if reader.u32(entry + 4)? == 0 {
        return None;
    }
    let value = match reader.u16(entry + 2)? {
        1 => u32::from(*tiff.get(entry + 8)?),
        3 => u32::from(reader.u16(entry + 8)?),
        4 => reader.u32(entry + 8)?,
        _ => return None,
    };
    Orientation::from_exif(u8::try_from(value).ok()?)
}

struct Tiff<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl Tiff<'_> {
    fn u16(&self, at: usize) -> Option<u16> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn u32(&self, at: usize) -> Option<u32> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }
}
