//! PGM, PPM and PAM, raw (netpbm's `pgm(5)` to `pam(5)`).

use mip_core::{DType, ImageDesc, PixelFormat};

use crate::FileFormat;

/// A file of interleaved pixels in gray, rgb or rgba order. PNM is PGM or PPM, whichever holds the picture.
pub(super) fn encode(format: FileFormat, pixels: &[u8], desc: &ImageDesc) -> Vec<u8> {
    let (width, height) = (desc.width(), desc.height());
    let largest = if desc.dtype() == DType::U16 { 65535 } else { 255 };
    let header = match (format, desc.format()) {
        (FileFormat::Pam, _) => {
            let channels = desc.channels();
            let kind = match channels {
                1 => "GRAYSCALE",
                3 => "RGB",
                _ => "RGB_ALPHA",
            };
            format!(
                "P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {largest}\nTUPLTYPE {kind}\nENDHDR\n"
            )
        }
        (_, PixelFormat::Gray) => format!("P5\n{width} {height}\n{largest}\n"),
        _ => format!("P6\n{width} {height}\n{largest}\n"),
    };
    let mut file = Vec::with_capacity(header.len() + pixels.len());
    file.extend(header.into_bytes());
    if desc.dtype() == DType::U16 {
        // Most significant byte first, whatever this machine does.
        file.extend(
            pixels.as_chunks::<2>().0.iter().flat_map(|sample| u16::from_ne_bytes(*sample).to_be_bytes()),
        );
    } else {
        file.extend_from_slice(pixels);
    }
    file
}
