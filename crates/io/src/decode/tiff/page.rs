//! What a directory says about its picture.

use mip_core::PixelFormat;
use tiff::ColorType;
use tiff::tags::{CompressionMethod, SampleFormat, Tag};

use super::{Fault, Open, fault};

/// A picture that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) colors: Colors,
    pub(super) depth: Depth,
    /// Whether each channel lies in a plane of its own.
    planar: bool,
    /// Whether colours were multiplied with alpha ("associated").
    pub(super) multiplied: bool,
}

/// What the samples of a pixel are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colors {
    Gray,
    GrayAlpha,
    Rgb,
    Rgba,
    Palette,
    Cmyk,
}

/// What a sample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// 1, 2 or 4 bits, packed into bytes, rows of whole bytes.
    Bits(u8),
    U8,
    U16,
    F16,
    F32,
}

impl Colors {
    /// Samples of a pixel in the file.
    pub(super) const fn stored(self) -> usize {
        match self {
            Self::Gray | Self::Palette => 1,
            Self::GrayAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba | Self::Cmyk => 4,
        }
    }

    /// What they become.
    pub(super) const fn format(self) -> PixelFormat {
        match self {
            Self::Gray => PixelFormat::Gray,
            Self::Rgb | Self::Palette | Self::Cmyk => PixelFormat::Rgb,
            Self::Rgba | Self::GrayAlpha => PixelFormat::Rgba,
        }
    }
}

impl Depth {
    /// Bytes of a sample, 1 for those that are packed.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::Bits(_) | Self::U8 => 1,
            Self::U16 | Self::F16 => 2,
            Self::F32 => 4,
        }
    }

    fn of(bits: u8, format: SampleFormat) -> Option<Self> {
        match (format, bits) {
            (SampleFormat::Uint, 1 | 2 | 4) => Some(Self::Bits(bits)),
            (SampleFormat::Uint, 8) => Some(Self::U8),
            (SampleFormat::Uint, 16) => Some(Self::U16),
            (SampleFormat::IEEEFP, 16) => Some(Self::F16),
            (SampleFormat::IEEEFP, 32) => Some(Self::F32),
            _ => None,
        }
    }
}

/// `ExtraSamples`: alpha that colours were multiplied with, and alpha that they were not.
const ASSOCIATED: u16 = 1;
const UNASSOCIATED: u16 = 2;

impl Page {
    /// # Errors
    /// What is damaged, and every kind of picture that is not read, with its name.
    pub(super) fn of(decoder: &mut Open<'_>) -> Result<Self, Fault> {
        let (width, height) = decoder.dimensions().map_err(fault)?;
        let layout = decoder.image_buffer_layout().map_err(fault)?;
        let extra =
            decoder.find_tag_unsigned_vec::<u16>(Tag::ExtraSamples).map_err(fault)?.unwrap_or_default();
        let jpeg = Some(CompressionMethod::ModernJPEG.to_u16());
        let jpeg = decoder.find_tag_unsigned::<u16>(Tag::Compression).map_err(fault)? == jpeg;
        let kind = decoder.colortype().map_err(fault)?;
        let other =
            || Fault::Corrupt(format!("pixels of kind {kind:?} are not read; save it as gray or rgb"));
        let (colors, bits) = match kind {
            ColorType::Gray(bits) if decoder.inner().has_palette() => (Colors::Palette, bits),
            ColorType::Gray(bits) => (Colors::Gray, bits),
            ColorType::GrayA(bits) => (Colors::GrayAlpha, bits),
            ColorType::Multiband { bit_depth, num_samples: 2 }
                if matches!(extra[..], [ASSOCIATED | UNASSOCIATED]) =>
            {
                (Colors::GrayAlpha, bit_depth)
            }
            ColorType::RGB(bits) => (Colors::Rgb, bits),
            // Of JPEG the decoder gives rgb.
            ColorType::YCbCr(bits) if jpeg => (Colors::Rgb, bits),
            ColorType::RGBA(bits) => (Colors::Rgba, bits),
            ColorType::CMYK(bits) => (Colors::Cmyk, bits),
            _ => return Err(other()),
        };
        let sample = || {
            let format = layout.sample_format;
            Fault::Corrupt(format!(
                "samples of {bits} bits, {format:?}, are not read; save it with u8, u16, f16 or f32"
            ))
        };
        let depth = Depth::of(bits, layout.sample_format).ok_or_else(sample)?;
        let page = Self {
            width,
            height,
            colors,
            depth,
            planar: layout.planes > 1,
            multiplied: extra.first() == Some(&ASSOCIATED) && colors.format() == PixelFormat::Rgba,
        };
        match (colors, depth) {
            (Colors::Palette | Colors::Cmyk, Depth::U16 | Depth::F16 | Depth::F32) => Err(sample()),
            (Colors::Palette | Colors::Gray, _) | (_, Depth::U8 | Depth::U16 | Depth::F16 | Depth::F32) => {
                page.check_row(layout.row_stride.map_or(0, Into::into))
            }
            _ => Err(sample()),
        }
    }

    /// Refuses pictures with samples that are neither colour nor alpha.
    fn check_row(self, row_bytes: usize) -> Result<Self, Fault> {
        let stored = if self.planar { 1 } else { self.colors.stored() as u64 };
        let bits = match self.depth {
            Depth::Bits(bits) => u64::from(bits),
            _ => self.depth.bytes() as u64 * 8,
        };
        if (u64::from(self.width) * stored * bits).div_ceil(8) == row_bytes as u64 {
            Ok(self)
        } else {
            Err(Fault::Corrupt("it has samples beside its colours; save it as gray, rgb or rgba".to_owned()))
        }
    }

    /// Whether the file has samples and channels as the picture has them.
    pub(super) const fn is_as_stored(&self) -> bool {
        let colors = matches!(self.colors, Colors::Gray | Colors::Rgb | Colors::Rgba);
        colors && !matches!(self.depth, Depth::Bits(_)) && !self.planar
    }
}
