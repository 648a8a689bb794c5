use std::io::Cursor;

use image::codecs::png::PngDecoder;
use image::metadata::Orientation;
use image::{ColorType, ImageDecoder as _, ImageError, Limits};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};

use super::spread::spread_pairs;
use super::{Fault, Reader, orientation, zeroes};

/// Deflate cannot shrink data further than this.
const MAX_DEFLATE_RATIO: u64 = 1032;

impl Reader {
    pub(super) fn decode_png(&mut self, file: &[u8]) -> Result<(ImageBuffer, Orientation), Fault> {
        let walk = walk(file)?;
        self.check_size(walk.width, walk.height)?;
        if walk.least_bytes() > (walk.data_bytes + 16).saturating_mul(MAX_DEFLATE_RATIO) {
            let text =
                format!("{} bytes of data cannot hold {}x{}", walk.data_bytes, walk.width, walk.height);
            return Err(Fault::Corrupt(text));
        }
        let corrupt = |e: ImageError| Fault::Corrupt(e.to_string());
        let mut decoder = PngDecoder::with_limits(Cursor::new(file), Limits::default()).map_err(corrupt)?;
        let (width, height) = decoder.dimensions();
        let orientation = orientation(decoder.exif_metadata().ok().flatten().as_deref());
        let color = decoder.color_type();
        let (format, dtype) = match color {
            ColorType::L8 => (PixelFormat::Gray, DType::U8),
            ColorType::L16 => (PixelFormat::Gray, DType::U16),
            ColorType::Rgb8 => (PixelFormat::Rgb, DType::U8),
            ColorType::Rgb16 => (PixelFormat::Rgb, DType::U16),
            ColorType::La8 | ColorType::Rgba8 => (PixelFormat::Rgba, DType::U8),
            ColorType::La16 | ColorType::Rgba16 => (PixelFormat::Rgba, DType::U16),
            _ => return Err(Fault::Corrupt("its kind of colours is not supported".to_owned())),
        };
        let mut image = self.buffer(ImageDesc::new(width, height, format, dtype)?)?;
        match color {
            ColorType::La8 | ColorType::La16 => {
                let bytes = usize::try_from(decoder.total_bytes()).unwrap_or(usize::MAX);
                let mut pairs: Vec<u8> = zeroes(bytes, "pairs of gray and alpha")?;
                decoder.read_image(&mut pairs).map_err(corrupt)?;
                if let Some(key) = walk.transparent_gray() {
                    make_transparent(&mut pairs, key);
                }
                spread_pairs(&pairs, &mut image);
            }
            _ => decoder.read_image(image.view_mut().data_mut()).map_err(corrupt)?,
        }
        Ok((image, orientation))
    }
}

/// Where the gray is `key`, makes the alpha 0, and elsewhere 255.
fn make_transparent(pairs: &mut [u8], key: u8) {
    for [gray, alpha] in pairs.as_chunks_mut::<2>().0 {
        *alpha = if *gray == key { 0 } else { 255 };
    }
}

struct Walk {
    width: u32,
    height: u32,
    bits_per_pixel: u64,
    gray: bool,
    /// The gray that is transparent, when the picture is gray.
    gray_key: Option<u16>,
    /// Whether pixels are indices into a palette.
    indexed: bool,
    /// Compressed image data in all IDAT chunks.
    data_bytes: u64,
}

impl Walk {
    /// The transparent gray of a picture of less than 8 bits, as it is once widened to 8. Of the 16 bits that it is
    /// stored in those at the bottom count (PNG section 11.3.2.1); the decoder compares more of them.
    fn transparent_gray(&self) -> Option<u8> {
        let key = self.gray_key.filter(|_| matches!(self.bits_per_pixel, 1 | 2 | 4))?;
        let largest = (1 << self.bits_per_pixel) - 1;
        Some(((key & largest) * (255 / largest)) as u8)
    }

    /// Bytes that the image data inflates to, at least.
    fn least_bytes(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height) / 8 * self.bits_per_pixel
    }
}

/// Walks the chunks to the end chunk. The decoder itself is content once it has all rows, so a file cut
/// behind them would pass.
fn walk(file: &[u8]) -> Result<Walk, Fault> {
    let stops = |inside: &str| {
        Fault::Truncated(format!(
            "it stops inside {inside}, after {} bytes, without an end chunk",
            file.len()
        ))
    };
    let mut walk = Walk {
        width: 0,
        height: 0,
        bits_per_pixel: 0,
        gray: false,
        gray_key: None,
        indexed: false,
        data_bytes: 0,
    };
    let mut at = 8;
    loop {
        let header = file.get(at..at + 8).ok_or_else(|| stops("its chunks"))?;
        let (length, kind) = (be32(header), [header[4], header[5], header[6], header[7]]);
        let body = (at + 8).checked_add(length as usize).and_then(|end| file.get(at + 8..end));
        let name = || format!("chunk {}", kind.escape_ascii());
        let body = body.ok_or_else(|| stops(&name()))?;
        let end = at + 8 + body.len() + 4;
        if end > file.len() {
            return Err(stops(&name()));
        }
        match &kind {
            b"IHDR" if at == 8 && body.len() == 13 => {
                let samples = match body[9] {
                    2 => 3,
                    4 => 2,
                    6 => 4,
                    _ => 1,
                };
                (walk.gray, walk.indexed) = (body[9] == 0, body[9] == 3);
                walk.bits_per_pixel = samples * u64::from(body[8]);
                (walk.width, walk.height) = (be32(body), be32(&body[4..]));
            }
            _ if at == 8 => return Err(Fault::Corrupt("it does not start with a header chunk".into())),
            b"PLTE" if walk.indexed => check_palette(body)?,
            b"tRNS" if walk.data_bytes == 0 && walk.gray => {
                walk.gray_key = body.try_into().ok().map(u16::from_be_bytes);
            }
            b"IDAT" => walk.data_bytes += u64::from(length),
            b"IEND" => return Ok(walk),
            _ => {}
        }
        at = end;
    }
}

/// A palette has 1 to 256 colours of 3 bytes (PNG section 11.2.2).
fn check_palette(colors: &[u8]) -> Result<(), Fault> {
    if !colors.is_empty() && colors.len() <= 768 && colors.len().is_multiple_of(3) {
        return Ok(());
    }
    let bytes = colors.len();
    Err(Fault::Corrupt(format!(
        "its palette has {bytes} bytes, but must have 3 for each of 1 to 256 colours"
    )))
}

fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
