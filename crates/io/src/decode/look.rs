//! What the first bytes of a file tell about it, before it is read.

#[cfg(feature = "avif")]
use super::avif;
#[cfg(feature = "exr")]
use super::exr;
#[cfg(feature = "jxl")]
use super::jxl;
#[cfg(feature = "webp")]
use super::webp;
use super::{JpegScale, gif, hdr, library, npy, pnm, tiff};
use crate::FileFormat;

/// Bytes that are looked at before anything is decided: headers are in front.
pub(super) const FIRST: usize = 64 << 10;

/// What decoding a file takes, as far as its first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Bytes of the pixels, and of their copy where they have to be turned upright or spread to other channels.
    pub(super) pixels: usize,
    /// Bytes that the decoder takes beside them.
    pub(super) scratch: usize,
}

/// Of a file whose picture is decoded at that scale if it is a JPEG; width and height are those before. `None` when the header is not complete, or not one: then decoding says so.
pub(super) fn needs(format: FileFormat, first: &[u8], scale: JpegScale) -> Option<Needs> {
    match format {
        FileFormat::Png => png(first),
        FileFormat::Jpeg => jpeg(first, scale),
        FileFormat::Pbm | FileFormat::Pgm | FileFormat::Ppm | FileFormat::Pam | FileFormat::Pnm => {
            pnm::needs(first)
        }
        FileFormat::Bmp => library::bmp_needs(first),
        FileFormat::Qoi => library::qoi_needs(first),
        FileFormat::Tga => library::tga_needs(first),
        #[cfg(feature = "webp")]
        FileFormat::WebP => webp::needs(first),
        FileFormat::Tiff => tiff::needs(first),
        FileFormat::Hdr => hdr::needs(first),
        FileFormat::Gif => gif::needs(first),
        FileFormat::Npy => npy::needs(first),
        #[cfg(feature = "exr")]
        FileFormat::Exr => exr::needs(first),
        #[cfg(feature = "jxl")]
        FileFormat::Jxl => jxl::needs(first),
        #[cfg(feature = "avif")]
        FileFormat::Avif => avif::needs(first),
        #[cfg(not(all(feature = "avif", feature = "exr", feature = "jxl", feature = "webp")))]
        _ => None,
    }
}

/// Bytes of rows that decoders keep, and their tables.
pub(super) fn rows(row_bytes: usize, rows: usize) -> usize {
    row_bytes.saturating_mul(rows).saturating_add(1 << 20)
}

fn png(first: &[u8]) -> Option<Needs> {
    let header = first.get(16..29).filter(|_| &first[12..16] == b"IHDR")?;
    let (width, height) = (be32(header), be32(&header[4..]));
    // A side of 0 is no picture, however long the other one is.
    let area = (width as usize).checked_mul(height as usize).filter(|&area| area > 0)?;
    let sample = if header[8] == 16 { 2 } else { 1 };
    let (mut transparent, mut turned) = (false, false);
    let mut at = 8;
    while let Some(head) = first.get(at..at + 8) {
        match &head[4..] {
            b"tRNS" => transparent = true,
            b"eXIf" => turned = true,
            b"IDAT" => break,
            _ => {}
        }
        at = at.checked_add(be32(head) as usize)?.checked_add(12)?;
    }
    // Gray with alpha is decoded as pairs, and becomes rgba.
    let (result, extra) = match header[9] {
        0 if !transparent => (1, 0),
        0 | 4 => (4, 2),
        2 | 3 if !transparent => (3, 0),
        _ => (4, 0),
    };
    let copies = if turned { 2 } else { 1 };
    let samples = (result * copies + extra) * sample;
    let row = (width as usize).saturating_mul(4 * sample);
    Some(Needs { width, height, pixels: area.saturating_mul(samples), scratch: rows(row, 4) })
}

fn jpeg(first: &[u8], scale: JpegScale) -> Option<Needs> {
    let mut at = 2;
    let mut turned = false;
    loop {
        // Stray bytes between segments are skipped, as decoding does.
        while *first.get(at)? != 0xFF || matches!(*first.get(at + 1)?, 0x00 | 0xFF) {
            at += 1;
        }
        let code = first[at + 1];
        at += 2;
        if matches!(code, 0x01 | 0xD0..=0xD9) {
            continue;
        }
        let length = usize::from(u16::from_be_bytes([*first.get(at)?, *first.get(at + 1)?]));
        let body = first.get(at + 2..at.checked_add(length)?).unwrap_or_default();
        match code {
            0xE1 if body.starts_with(b"Exif") => turned = true,
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                let [_, h1, h0, w1, w0, _, ..] = *body else { return None };
                let (width, height) = (u16::from_be_bytes([w1, w0]), u16::from_be_bytes([h1, h0]));
                let factors: Vec<[usize; 2]> = body[6..]
                    .chunks_exact(3)
                    .map(|c| [usize::from(c[1] >> 4).max(1), usize::from(c[1] & 15).max(1)])
                    .collect();
                // What decoding refuses needs nothing, whatever it claims.
                let right = factors.len() <= 4 && factors.as_flattened().iter().all(|&factor| factor <= 4);
                if body.len() != 6 + 3 * usize::from(body[5]) || !right {
                    return None;
                }
                return Some(jpeg_frame(code, [width.into(), height.into()], &factors, turned, scale));
            }
            _ => {}
        }
        at += length.max(2);
    }
}

/// From a frame header (T.81 section B.2.2); `factors` are the sampling factors of its components.
fn jpeg_frame(
    code: u8,
    [width, height]: [u32; 2],
    factors: &[[usize; 2]],
    turned: bool,
    scale: JpegScale,
) -> Needs {
    let (wide, tall) = (width as usize, height as usize);
    let area = scale.of(wide) * scale.of(tall);
    let copies = if turned { 2 } else { 1 };
    let channels = if factors.len() == 1 { 1 } else { 3 };
    let most = |i: usize| factors.iter().map(|f| f[i]).max().unwrap_or(1);
    let most = [most(0), most(1)];
    let units = wide.div_ceil(8 * most[0]) * tall.div_ceil(8 * most[1]);
    // All samples are kept, and of progressive frames all coefficients, of 2 bytes each.
    let coefficients = if matches!(code, 0xC2 | 0xC6 | 0xCA | 0xCE) { 128 } else { 0 };
    let block = |factors: [usize; 2]| coefficients + scale.block_side(factors, most).pow(2);
    let unit: usize = factors.iter().map(|&[h, v]| h * v * block([h, v])).sum();
    let scratch = units.saturating_mul(unit).saturating_add(rows(scale.of(wide) * channels, 16));
    Needs { width, height, pixels: area * channels * copies, scratch }
}

fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png_header(width: u32, height: u32, depth: u8, color: u8, chunk: [u8; 4]) -> Vec<u8> {
        let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        file.extend(width.to_be_bytes());
        file.extend(height.to_be_bytes());
        file.extend([depth, color, 0, 0, 0]);
        file.extend([0; 4]);
        file.extend([0, 0, 0, 0]);
        file.extend(chunk);
        file.extend([0; 4]);
        file
    }

    #[test]
    fn png_headers_tell_the_pixels() {
        let pixels = |depth, color, chunk: &[u8; 4]| {
            needs(FileFormat::Png, &png_header(10, 20, depth, color, *chunk), JpegScale::Full)
        };
        let bytes = |depth, color, chunk| pixels(depth, color, chunk).unwrap().pixels;
        assert_eq!(bytes(8, 2, b"IDAT"), 600);
        assert_eq!(bytes(16, 2, b"IDAT"), 1200);
        assert_eq!(bytes(1, 3, b"IDAT"), 600);
        assert_eq!(bytes(1, 3, b"tRNS"), 800);
        assert_eq!(bytes(8, 4, b"IDAT"), 1200, "pairs, then rgba");
        assert_eq!(bytes(8, 0, b"eXIf"), 400, "turned upright");
        assert_eq!(needs(FileFormat::Png, b"\x89PNG\r\n\x1a\n", JpegScale::Full), None);
    }

    #[test]
    fn jpeg_headers_tell_the_pixels_and_the_coefficients() {
        let file = |code: u8| {
            let mut file = vec![0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 7, 0xFF, 0xFF, code, 0, 17, 8];
            file.extend([0, 20, 0, 10, 3]);
            file.extend([1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]);
            file
        };
        let jpeg = |first: &[u8]| needs(FileFormat::Jpeg, first, JpegScale::Full);
        let baseline = jpeg(&file(0xC0)).unwrap();
        assert_eq!((baseline.width, baseline.height, baseline.pixels), (10, 20, 600));
        let progressive = jpeg(&file(0xC2)).unwrap();
        // 2 x 3 blocks of each component.
        assert_eq!(progressive.scratch - baseline.scratch, 2 * 3 * 3 * 128);
        let eighth = needs(FileFormat::Jpeg, &file(0xC0), JpegScale::Eighth).unwrap();
        assert_eq!((eighth.width, eighth.height, eighth.pixels), (10, 20, 2 * 3 * 3));
        assert!(eighth.scratch < baseline.scratch);
        for length in 0..file(0xC0).len() - 9 {
            assert_eq!(jpeg(&file(0xC0)[..length]), None, "{length}");
        }
    }
}
