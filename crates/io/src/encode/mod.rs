//! Pixels to files.

mod check;
#[cfg(feature = "exr")]
mod exr;
mod hdr;
mod interleave;
mod jpeg;
mod npy;
mod pnm;
mod tga;
mod tiff;

use std::borrow::Cow;
use std::sync::Arc;

pub use check::check_encodable;
pub use jpeg::ChromaSampling;
pub(crate) use jpeg::Level as JpegLevel;
pub(crate) use npy::{stacked_header, stacked_shape};

use image::codecs::bmp::BmpEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::codecs::qoi::QoiEncoder;
#[cfg(feature = "webp")]
use image::codecs::webp::WebPEncoder;
use image::{ExtendedColorType, ImageEncoder as _, ImageResult};
use mip_core::{DType, ImageBuffer, ImageDesc, ImageError, PixelFormat, faults, panics};

use crate::metadata::DensityUnit;
use crate::{Carried, FileFormat, IoError};

/// How images are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteOptions {
    /// JPEG quality, 1 to 100. Default 90.
    pub jpeg_quality: u8,
    /// How much chroma a JPEG file of colors has. Default: 4:4:4 from quality 90 on, else 4:2:0.
    pub jpeg_sampling: Option<ChromaSampling>,
    /// Units (blocks of 8x8 samples, of all components that share pixels) between restart markers of a JPEG file; 0, the
    /// default, for none.
    pub jpeg_restart_interval: u16,
    /// How much time may be taken for a smaller file, where the format has a choice. Default little.
    pub compression: Compression,
    /// Metadata to write with the pixels. Default `None`.
    pub carried: Option<Arc<Carried>>,
}

/// How much time to take for a smaller file, of the same pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Compression {
    /// Little.
    #[default]
    Fast,
    /// Several times as much.
    Balanced,
    /// Whatever makes it smallest.
    Best,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            jpeg_quality: 90,
            jpeg_sampling: None,
            jpeg_restart_interval: 0,
            compression: Compression::default(),
            carried: None,
        }
    }
}

/// Encodes one image: gray, rgb and rgba as they are, bgr and bgra reordered, planar images interleaved.
///
/// # Errors
/// As [`check_encodable`]; more than one frame; a quality out of range; no memory.
pub fn encode(image: &ImageBuffer, format: FileFormat, options: &WriteOptions) -> Result<Vec<u8>, IoError> {
    let desc = image.desc();
    check_encodable(desc, format)?;
    if image.batch_size() != 1 {
        return Err(IoError::Batch { frames: image.batch_size() });
    }
    if !(1..=100).contains(&options.jpeg_quality) {
        return Err(IoError::Quality { given: options.jpeg_quality });
    }
    let failed = |reason: String| IoError::Encode { image: *desc, format, reason };
    if let Some(feature) = format.missing_feature() {
        return Err(failed(format!(
            "it needs the feature `{feature}`, which this program was built without"
        )));
    }
    let samples = match format {
        FileFormat::Npy if desc.planes() > 1 => interleave::rgb_planes(image),
        _ => interleave::rgb_order(image),
    };
    let samples = samples.map_err(|error| failed(error.to_string()))?;
    // The encoder takes its memory without asking; whether there is some has to be found out before.
    let bytes = encoding_bytes(desc);
    let none = |_| ImageError::OutOfMemory { bytes, what: "encoding".to_owned() };
    faults::try_reserve_exact(&mut Vec::<u8>::new(), bytes)
        .map_err(none)
        .map_err(|error| failed(error.to_string()))?;
    let encoded = panics::caught(|| match format {
        FileFormat::Png => png(&samples, desc, options),
        FileFormat::Jpeg => jpeg(&samples, desc, options),
        FileFormat::Pgm | FileFormat::Ppm | FileFormat::Pam | FileFormat::Pnm => {
            Ok(pnm::encode(format, &samples, desc))
        }
        FileFormat::Bmp => collected(|file| {
            BmpEncoder::new(file).write_image(&samples, desc.width(), desc.height(), color(desc))
        }),
        FileFormat::Qoi => collected(|file| {
            QoiEncoder::new(file).write_image(&samples, desc.width(), desc.height(), color(desc))
        }),
        FileFormat::Tga => Ok(tga::encode(&samples, desc)),
        #[cfg(feature = "webp")]
        FileFormat::WebP => webp(&samples, desc, options),
        FileFormat::Tiff => tiff::encode(&samples, desc, options),
        FileFormat::Hdr => Ok(hdr::encode(&samples, desc)),
        FileFormat::Npy => Ok(npy::encode(&samples, desc)),
        #[cfg(feature = "exr")]
        FileFormat::Exr => exr::encode(&samples, desc),
        FileFormat::Pbm | FileFormat::Gif | FileFormat::Jxl | FileFormat::Avif => {
            Err(format!("{format} is only read"))
        }
        #[cfg(not(all(feature = "exr", feature = "webp")))]
        _ => Err("no encoder was built".to_owned()),
    });
    let panicked = |reason| Err(format!("the encoder failed (internal error: {reason})"));
    encoded.unwrap_or_else(panicked).map_err(failed)
}

/// The first frame as an array has it: planes or pixels, in gray, rgb or rgba order, little endian; borrowed where it is so.
pub(crate) fn array_samples(image: &ImageBuffer) -> Result<Cow<'_, [u8]>, IoError> {
    let desc = image.desc();
    let samples =
        if desc.planes() > 1 { interleave::rgb_planes(image) } else { interleave::rgb_order(image) };
    let mut samples = samples.map_err(|error| IoError::Encode {
        image: *desc,
        format: FileFormat::Npy,
        reason: error.to_string(),
    })?;
    if cfg!(target_endian = "big") {
        npy::to_little_endian(samples.to_mut(), desc.dtype());
    }
    Ok(samples)
}

/// Bytes that [`encode`] takes at most beside the image: twice its size, for pixels that do not compress.
pub const fn encoding_bytes(image: &ImageDesc) -> usize {
    image.bytes().saturating_mul(2).saturating_add(1 << 20)
}

/// The file that is written.
fn collected(write: impl FnOnce(&mut Vec<u8>) -> ImageResult<()>) -> Result<Vec<u8>, String> {
    let mut file = Vec::new();
    write(&mut file).map(|()| file).map_err(|error| error.to_string())
}

/// Interleaved pixels in gray, rgb or rgba order, as `image` calls them.
const fn color(desc: &ImageDesc) -> ExtendedColorType {
    use ExtendedColorType as C;
    match (desc.channels(), desc.dtype()) {
        (1, DType::U8) => C::L8,
        (1, DType::U16) => C::L16,
        // No encoder of `image` takes these.
        (1, DType::F32) | (_, DType::I32) => C::Unknown(32),
        (_, DType::I16 | DType::F16) => C::Unknown(16),
        (3, DType::U8) => C::Rgb8,
        (3, DType::U16) => C::Rgb16,
        (3, DType::F32) => C::Rgb32F,
        (_, DType::U8) => C::Rgba8,
        (_, DType::U16) => C::Rgba16,
        (_, DType::F32) => C::Rgba32F,
    }
}

fn png(pixels: &[u8], desc: &ImageDesc, options: &WriteOptions) -> Result<Vec<u8>, String> {
    let color = color(desc);
    let mut file = Vec::new();
    let compression = match options.compression {
        Compression::Fast => CompressionType::Fast,
        Compression::Balanced => CompressionType::Default,
        Compression::Best => CompressionType::Best,
    };
    let mut encoder = PngEncoder::new_with_quality(&mut file, compression, FilterType::default());
    let carried = options.carried.as_deref();
    if let Some(icc) = carried.and_then(Carried::icc) {
        encoder.set_icc_profile(icc.to_vec()).map_err(|e| e.to_string())?;
    }
    encoder.write_image(pixels, desc.width(), desc.height(), color).map_err(|e| e.to_string())?;
    if let Some(carried) = carried {
        carried.add_to_png(&mut file);
    }
    Ok(file)
}

#[cfg(feature = "webp")]
fn webp(pixels: &[u8], desc: &ImageDesc, options: &WriteOptions) -> Result<Vec<u8>, String> {
    let icc = options.carried.as_deref().and_then(Carried::icc);
    collected(|file| {
        let mut encoder = WebPEncoder::new_lossless(file);
        if let Some(icc) = icc {
            encoder.set_icc_profile(icc.to_vec()).map_err(image::ImageError::Unsupported)?;
        }
        encoder.write_image(pixels, desc.width(), desc.height(), color(desc))
    })
}

fn jpeg(samples: &[u8], desc: &ImageDesc, options: &WriteOptions) -> Result<Vec<u8>, String> {
    let carried = options.carried.as_deref();
    let density = carried.and_then(Carried::jfif_density);
    let quality = options.jpeg_quality;
    let file = jpeg::File {
        samples,
        // Both sides were checked to fit 16 bits.
        width: desc.width() as u16,
        height: desc.height() as u16,
        channels: if desc.format() == PixelFormat::Gray { 1 } else { 3 },
        quality,
        sampling: options.jpeg_sampling.unwrap_or_else(|| ChromaSampling::of_quality(quality)),
        restart_interval: options.jpeg_restart_interval,
        icc: carried.and_then(Carried::icc),
        density: density.map_or((1, 1, 0), |(x, y, unit)| (x, y, jfif_unit(unit))),
    };
    file.encode()
}

/// What JFIF calls a unit.
const fn jfif_unit(unit: DensityUnit) -> u8 {
    match unit {
        DensityUnit::Inch => 1,
        DensityUnit::Centimetre => 2,
        // Metres were made inches before.
        DensityUnit::Aspect | DensityUnit::Metre => 0,
    }
}
