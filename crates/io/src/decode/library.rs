//! BMP, QOI, TGA, WebP and EXR by the decoders of `image`, within our limits.

use std::error::Error;
use std::io::{self, Cursor};

use image::codecs::bmp::BmpDecoder;
use image::codecs::qoi::QoiDecoder;
use image::codecs::tga::TgaDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{ColorType, ImageDecoder, ImageError};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};

use super::look::{Needs, rows};
use super::spread::spread_pairs;
use super::{Fault, Reader, WarningKind, orientation, zeroes};

impl Reader {
    pub(super) fn decode_bmp(&mut self, file: &[u8]) -> Result<ImageBuffer, Fault> {
        let decoder = BmpDecoder::new(Cursor::new(file)).map_err(fault)?;
        if is_gray(&decoder) { self.decode_gray(decoder) } else { self.decode_with(decoder) }
    }

    pub(super) fn decode_qoi(&mut self, file: &[u8]) -> Result<ImageBuffer, Fault> {
        self.decode_with(QoiDecoder::new(Cursor::new(file)).map_err(fault)?)
    }

    pub(super) fn decode_tga(&mut self, file: &[u8]) -> Result<ImageBuffer, Fault> {
        self.decode_with(TgaDecoder::new(Cursor::new(file)).map_err(fault)?)
    }

    /// Lossy and lossless; of an animation the first frame.
    pub(super) fn decode_webp(&mut self, file: &[u8]) -> Result<(ImageBuffer, Orientation), Fault> {
        let says =
            file.get(4..8).and_then(<[u8]>::first_chunk).map_or(0, |length| u32::from_le_bytes(*length));
        if (file.len() as u64) < u64::from(says) + 8 {
            let text = format!("it has {} of {} bytes", file.len(), u64::from(says) + 8);
            return Err(Fault::Truncated(text));
        }
        // What lies behind is no part of it, but the library would read it.
        let file = &file[..(says as usize).saturating_add(8).min(file.len())];
        let mut decoder = WebPDecoder::new(Cursor::new(file)).map_err(fault)?;
        let (width, height) = decoder.dimensions();
        // The library takes memory for what a frame claims before it compares it with the canvas.
        let larger = |(w, h): &(u32, u32)| *w > width || *h > height;
        if let Some((w, h)) = webp_frames(file.get(12..).unwrap_or_default(), true)?.into_iter().find(larger)
        {
            return Err(Fault::Corrupt(format!("it has a frame of {w}x{h} on a canvas of {width}x{height}")));
        }
        if decoder.has_animation() {
            // The library multiplies the sides and the channels of a canvas in 32 bits.
            if u64::from(width) * u64::from(height) >= 1 << 30 {
                return Err(Fault::Corrupt(format!("it is an animation of {width}x{height} pixels")));
            }
            self.warn(WarningKind::Further, "it is an animation, of which only the first picture is read");
        }
        let orientation = orientation(decoder.exif_metadata().ok().flatten().as_deref());
        Ok((self.decode_with(decoder)?, orientation))
    }

    /// Decodes what a decoder has opened, once its size is checked.
    pub(super) fn decode_with(&mut self, decoder: impl ImageDecoder) -> Result<ImageBuffer, Fault> {
        let (width, height) = decoder.dimensions();
        self.check_size(width, height)?;
        let color = decoder.color_type();
        let (format, dtype) = pixels(color)?;
        let mut image = self.buffer(ImageDesc::new(width, height, format, dtype)?)?;
        if is_pairs(color) {
            let mut pairs: Vec<u8> = zeroes(total_bytes(&decoder), "pairs of gray and alpha")?;
            decoder.read_image(&mut pairs).map_err(fault)?;
            spread_pairs(&pairs, &mut image);
        } else {
            decoder.read_image(image.view_mut().data_mut()).map_err(fault)?;
        }
        Ok(image)
    }

    /// A picture whose channels are alike.
    fn decode_gray(&mut self, decoder: impl ImageDecoder) -> Result<ImageBuffer, Fault> {
        let (width, height) = decoder.dimensions();
        self.check_size(width, height)?;
        let mut image = self.buffer(ImageDesc::new(width, height, PixelFormat::Gray, DType::U8)?)?;
        let mut colors: Vec<u8> = zeroes(total_bytes(&decoder), "pixels with a palette")?;
        decoder.read_image(&mut colors).map_err(fault)?;
        for (gray, [red, ..]) in image.view_mut().data_mut().iter_mut().zip(colors.as_chunks::<3>().0) {
            *gray = *red;
        }
        Ok(image)
    }
}

fn total_bytes(decoder: &impl ImageDecoder) -> usize {
    usize::try_from(decoder.total_bytes()).unwrap_or(usize::MAX)
}

/// Whether a palette is of grays only, which is how BMP holds gray pictures.
fn is_gray(decoder: &BmpDecoder<Cursor<&[u8]>>) -> bool {
    let gray = |[red, green, blue]: &[u8; 3]| red == green && green == blue;
    decoder.get_palette().is_some_and(|palette| palette.iter().all(gray))
}

pub(super) fn bmp_needs(first: &[u8]) -> Option<Needs> {
    let decoder = BmpDecoder::new(Cursor::new(first)).ok()?;
    let needs = needs(&decoder)?;
    let gray = if is_gray(&decoder) { needs.pixels / 3 } else { 0 };
    Some(Needs { pixels: needs.pixels.saturating_add(gray), ..needs })
}

pub(super) fn qoi_needs(first: &[u8]) -> Option<Needs> {
    needs(&QoiDecoder::new(Cursor::new(first)).ok()?)
}

pub(super) fn tga_needs(first: &[u8]) -> Option<Needs> {
    needs(&TgaDecoder::new(Cursor::new(first)).ok()?)
}

pub(super) fn webp_needs(first: &[u8]) -> Option<Needs> {
    let riff = |at: usize| Some(&first.get(at..)?.first_chunk::<4>()?[..]);
    let side = |at: usize| {
        let [low, middle, high] = *first.get(at..)?.first_chunk::<3>()?;
        Some(u32::from_le_bytes([low, middle, high, 0]))
    };
    let (width, height, turned) = match riff(12)? {
        // 14 bits each, the upper ones of which say how the picture is scaled up.
        b"VP8 " => (u16_at(first, 26)? & 0x3FFF, u16_at(first, 28)? & 0x3FFF, false),
        b"VP8L" => {
            let bits = u32::from_le_bytes(*first.get(21..)?.first_chunk()?);
            ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, false)
        }
        // Flags say whether there is EXIF; sides less 1 have 24 bits.
        b"VP8X" => (side(24)? + 1, side(27)? + 1, first.get(20)? & 8 != 0),
        _ => return None,
    };
    let area = (width as usize).checked_mul(height as usize).filter(|&area| area > 0)?;
    let copies = if turned { 8 } else { 4 };
    // Planes of the lossy decoder, whole pixels of the lossless one, and alpha beside either.
    let scratch = rows((width as usize).saturating_mul(64), 4).saturating_add(area.saturating_mul(8));
    Some(Needs { width, height, pixels: area.saturating_mul(copies), scratch })
}

/// Sides of the frames as they claim them themselves, those of an animation's frames among them. Chunks that claim more than
/// there is are refused: the library takes memory for all of it.
fn webp_frames(mut chunks: &[u8], outside: bool) -> Result<Vec<(u32, u32)>, Fault> {
    let mut frames = Vec::new();
    while let Some(([a, b, c, d, sizes @ ..], rest)) = chunks.split_first_chunk::<8>() {
        let length = u32::from_le_bytes(*sizes) as usize;
        let cut = || Fault::Truncated(format!("a part has {} of {length} bytes", rest.len()));
        let body = rest.get(..length).ok_or_else(cut)?;
        match &[*a, *b, *c, *d] {
            // 14 bits each, behind a tag and a start code.
            b"VP8 " => {
                frames.extend(u16_at(body, 6).zip(u16_at(body, 8)).map(|(w, h)| (w & 0x3FFF, h & 0x3FFF)));
            }
            b"VP8L" => frames.extend(body.get(1..5).and_then(<[u8]>::first_chunk).map(|&bits| {
                let bits = u32::from_le_bytes(bits);
                ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
            })),
            b"ANMF" if outside => frames.extend(webp_frames(body.get(16..).unwrap_or_default(), false)?),
            _ => {}
        }
        // Chunks of odd length are followed by a byte.
        chunks = rest.get(length.saturating_add(length % 2)..).unwrap_or_default();
    }
    Ok(frames)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?).into())
}

/// What an opened decoder needs, which takes a few rows beside the pixels.
fn needs(decoder: &impl ImageDecoder) -> Option<Needs> {
    let (width, height) = decoder.dimensions();
    let area = (width as usize).saturating_mul(height as usize);
    let color = decoder.color_type();
    let (format, dtype) = pixels(color).ok()?;
    let pairs = if is_pairs(color) { 2 } else { 0 };
    let pixel = (format.channels() + pairs) * dtype.size();
    let scratch = rows((width as usize).saturating_mul(16), 4);
    Some(Needs { width, height, pixels: area.saturating_mul(pixel), scratch })
}

/// The pixels that a decoder's become.
fn pixels(color: ColorType) -> Result<(PixelFormat, DType), Fault> {
    Ok(match color {
        ColorType::L8 => (PixelFormat::Gray, DType::U8),
        ColorType::L16 => (PixelFormat::Gray, DType::U16),
        ColorType::Rgb8 => (PixelFormat::Rgb, DType::U8),
        ColorType::Rgb16 => (PixelFormat::Rgb, DType::U16),
        ColorType::Rgb32F => (PixelFormat::Rgb, DType::F32),
        ColorType::La8 | ColorType::Rgba8 => (PixelFormat::Rgba, DType::U8),
        ColorType::La16 | ColorType::Rgba16 => (PixelFormat::Rgba, DType::U16),
        ColorType::Rgba32F => (PixelFormat::Rgba, DType::F32),
        _ => return Err(Fault::Corrupt("its kind of colours is not supported".to_owned())),
    })
}

const fn is_pairs(color: ColorType) -> bool {
    matches!(color, ColorType::La8 | ColorType::La16)
}

/// What a decoder says, told apart by whether the file is too short.
#[allow(clippy::needless_pass_by_value, reason = "what `map_err` takes")]
pub(super) fn fault(error: ImageError) -> Fault {
    let mut source: Option<&dyn Error> = Some(&error);
    while let Some(cause) = source {
        let ends = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
        if cause.downcast_ref::<io::Error>().is_some_and(ends) {
            return Fault::Truncated("it stops before its image does".to_owned());
        }
        source = cause.source();
    }
    Fault::Corrupt(error.to_string())
}
