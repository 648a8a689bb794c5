//! TIFF: strips, deflate, with the differences of integers; `BigTIFF` where 4 GiB may not do.

use std::borrow::Cow;
use std::io::Cursor;

use bytemuck::{AnyBitPattern, NoUninit};
use mip_core::{DType, ImageDesc};
use tiff::encoder::colortype::{self, ColorType};
use tiff::encoder::{Compression as Method, DeflateLevel, Rational, TiffEncoder, TiffKind, TiffValue};
use tiff::tags::{ExtraSamples, Predictor, ResolutionUnit, Tag};
use tiff::{TiffError, TiffUnsupportedError};

use super::{Compression, WriteOptions};
use crate::Carried;
use crate::metadata::DensityUnit;

/// A file of interleaved pixels in gray, rgb or rgba order.
pub(super) fn encode(pixels: &[u8], desc: &ImageDesc, options: &WriteOptions) -> Result<Vec<u8>, String> {
    let mut file = Cursor::new(Vec::new());
    // Offsets have 32 bits, and deflate may add a little.
    let written = if desc.bytes() > 0xF000_0000 {
        TiffEncoder::new_big(&mut file).and_then(|encoder| picture(encoder, pixels, desc, options))
    } else {
        TiffEncoder::new(&mut file).and_then(|encoder| picture(encoder, pixels, desc, options))
    };
    written.map_err(|error| error.to_string())?;
    Ok(file.into_inner())
}

type Sink<'a> = &'a mut Cursor<Vec<u8>>;

fn picture<K: TiffKind>(
    encoder: TiffEncoder<Sink<'_>, K>,
    pixels: &[u8],
    desc: &ImageDesc,
    options: &WriteOptions,
) -> Result<(), TiffError> {
    let job = Job { encoder, desc, options };
    match (desc.channels(), desc.dtype()) {
        (1, DType::U8) => job.write::<colortype::Gray8>(pixels),
        (1, DType::U16) => job.write::<colortype::Gray16>(pixels),
        (1, DType::F32) => job.write::<colortype::Gray32Float>(pixels),
        (3, DType::U8) => job.write::<colortype::RGB8>(pixels),
        (3, DType::U16) => job.write::<colortype::RGB16>(pixels),
        (3, DType::F32) => job.write::<colortype::RGB32Float>(pixels),
        (_, DType::U8) => job.write::<colortype::RGBA8>(pixels),
        (_, DType::U16) => job.write::<colortype::RGBA16>(pixels),
        (_, DType::F32) => job.write::<colortype::RGBA32Float>(pixels),
        (1, DType::F16) => job.write::<halves::Gray>(pixels),
        (3, DType::F16) => job.write::<halves::Rgb>(pixels),
        (_, DType::F16) => job.write::<halves::Rgba>(pixels),
        // Refused before.
        (_, DType::I16 | DType::I32) => {
            Err(TiffError::UnsupportedError(TiffUnsupportedError::UnsupportedDataType))
        }
    }
}

struct Job<'a, K: TiffKind> {
    encoder: TiffEncoder<Sink<'a>, K>,
    desc: &'a ImageDesc,
    options: &'a WriteOptions,
}

impl<K: TiffKind> Job<'_, K> {
    fn write<C: ColorType>(self, pixels: &[u8]) -> Result<(), TiffError>
    where
        C::Inner: AnyBitPattern + NoUninit,
        [C::Inner]: TiffValue,
    {
        let Self { encoder, desc, options } = self;
        let level = match options.compression {
            Compression::Fast => DeflateLevel::Fast,
            Compression::Balanced => DeflateLevel::Balanced,
            Compression::Best => DeflateLevel::Best,
        };
        let predictor = if desc.dtype().is_float() { Predictor::None } else { Predictor::Horizontal };
        let mut encoder = encoder.with_compression(Method::Deflate(level)).with_predictor(predictor);
        let mut image = encoder.new_image::<C>(desc.width(), desc.height())?;
        if desc.format().has_alpha() {
            // Colours were not multiplied with it. `extra_samples` would count it twice.
            let alpha = [ExtraSamples::UnassociatedAlpha.to_u16()];
            image.encoder().write_tag(Tag::ExtraSamples, &alpha[..])?;
        }
        let carried = options.carried.as_deref();
        if let Some(icc) = carried.and_then(Carried::icc) {
            image.encoder().write_tag(Tag::IccProfile, icc)?;
        }
        if let Some((x, y, unit)) = carried.and_then(Carried::density) {
            image.resolution_unit(match unit {
                DensityUnit::Aspect | DensityUnit::Metre => ResolutionUnit::None,
                DensityUnit::Inch => ResolutionUnit::Inch,
                DensityUnit::Centimetre => ResolutionUnit::Centimeter,
            });
            image.x_resolution(Rational { n: x, d: 1 });
            image.y_resolution(Rational { n: y, d: 1 });
        }
        let samples: Cow<'_, [C::Inner]> = bytemuck::try_cast_slice(pixels)
            .map_or_else(|_| Cow::Owned(bytemuck::pod_collect_to_vec(pixels)), Cow::Borrowed);
        image.write_data(&samples)
    }
}

mod halves {
    //! Colours of 16-bit floats, which the library has no names for.

    use tiff::encoder::colortype::ColorType;
    use tiff::tags::{PhotometricInterpretation as Photometric, SampleFormat};

    macro_rules! colors {
        ($($name:ident: $photometric:ident, $samples:literal;)*) => {$(
            pub(super) struct $name;

            impl ColorType for $name {
                /// Its bits.
                type Inner = u16;
                const TIFF_VALUE: Photometric = Photometric::$photometric;
                const BITS_PER_SAMPLE: &'static [u16] = &[16; $samples];
                const SAMPLE_FORMAT: &'static [SampleFormat] = &[SampleFormat::IEEEFP; $samples];

                fn horizontal_predict(_: &[u16], _: &mut Vec<u16>) {
                    unreachable!("differences are of integers")
                }
            }
        )*};
    }

    colors! {
        Gray: BlackIsZero, 1;
        Rgb: RGB, 3;
        Rgba: RGB, 4;
    }
}
