//! BMP, QOI and TGA by the decoders of `image`, within our limits.

use std::error::Error;
use std::io::{self, Cursor};

use image::codecs::bmp::BmpDecoder;
use image::codecs::qoi::QoiDecoder;
use image::codecs::tga::TgaDecoder;
use image::{ColorType, ImageDecoder, ImageError};
use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};

use super::look::{Needs, rows};
use super::spread::spread_pairs;
use super::{Fault, Reader, zeroes};

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
