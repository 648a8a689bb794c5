//! Pictures with an ICC profile (ICC.1) made sRGB.
//!
//! `moxcms` reads profiles. What it converts with would be a twentieth of the program, for profiles that pictures seldom have; tone
//! curves and a matrix are computed here, in binary32 and one order, so that pixels are the same on every machine.

use std::fmt;
use std::sync::Arc;

use mip_core::{DType, ImageBuffer, PixelFormat, Sample};
use moxcms::{CmsError, ColorProfile, DataColorSpace, ToneReprCurve};

use super::Fault;

/// What is done with the ICC profile of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum IccUse {
    /// Pixels stay as they are stored; the profile goes with the result where that can hold it.
    #[default]
    Keep,
    /// Pixels of u8 and u16 are converted to sRGB (IEC 61966-2-1), relative to the white of both (ICC's media-relative colorimetric
    /// intent), and lose their profile; colours that sRGB has not are clipped. Pictures without a profile are taken to be sRGB already.
    ///
    /// Profiles with tone curves and a matrix are applied: sRGB, Adobe RGB, Display P3, `ProPhoto`, BT.2020 and those of most displays. A
    /// picture is refused whose profile is damaged, has tables of colours (A2B), or is for other colours than the pixels are (a
    /// CMYK picture's); and one of another dtype.
    Srgb,
}

/// A conversion that is ready, for pictures with the same profile and of the same kind.
pub(super) struct Conversion {
    profile: Arc<[u8]>,
    kind: (PixelFormat, DType),
    to_srgb: ToSrgb,
}

enum ToSrgb {
    /// What each gray becomes.
    Gray8(Vec<u8>),
    Gray16(Vec<u16>),
    Colors8(Colors, Vec<u8>),
    Colors16(Colors),
}

/// From red, green and blue as they are stored to linear ones of sRGB.
struct Colors {
    /// What each stored value is, linear.
    linear: [Vec<f32>; 3],
    matrix: [[f32; 3]; 3],
}

impl fmt::Debug for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversion").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Conversion {
    /// From a profile to sRGB, for pictures of that kind.
    pub(super) fn new(profile: &Arc<[u8]>, kind: (PixelFormat, DType)) -> Result<Self, Fault> {
        let to_srgb = ToSrgb::new(profile, kind).map_err(Fault::Profile)?;
        Ok(Self { profile: Arc::clone(profile), kind, to_srgb })
    }

    pub(super) fn is_for(&self, profile: &Arc<[u8]>, kind: (PixelFormat, DType)) -> bool {
        self.kind == kind && self.profile == *profile
    }

    pub(super) fn convert(&self, image: &mut ImageBuffer) {
        let channels = image.desc().channels();
        match &self.to_srgb {
            ToSrgb::Gray8(table) => {
                each_row(image, |row: &mut [u8]| row.iter_mut().for_each(|v| *v = table[usize::from(*v)]));
            }
            ToSrgb::Gray16(table) => {
                each_row(image, |row: &mut [u16]| row.iter_mut().for_each(|v| *v = table[usize::from(*v)]));
            }
            ToSrgb::Colors8(colors, encoded) => {
                each_row(image, |row| colors.convert(row, channels, |v| encoded[(v * STEPS + 0.5) as usize]));
            }
            ToSrgb::Colors16(colors) => each_row(image, |row| colors.convert(row, channels, encode::<u16>)),
        }
    }
}

/// Linear values between which the nearest of u8 is known: a step of u8 is 20 of them where the curve is steepest.
const STEPS: f32 = 65_535.0;

/// What a linear value from 0 to 1 is in sRGB, in sample units.
fn encode<T: Sample>(linear: f32) -> T {
    let encoded = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    T::from_f32(encoded * T::DTYPE.full_scale() as f32)
}

impl ToSrgb {
    fn new(profile: &[u8], (format, dtype): (PixelFormat, DType)) -> Result<Self, String> {
        let damaged = |error: CmsError| format!("it is damaged or of no supported kind ({error})");
        let from = ColorProfile::new_from_slice(profile).map_err(damaged)?;
        let space = match format {
            PixelFormat::Gray => DataColorSpace::Gray,
            PixelFormat::Rgb | PixelFormat::Rgba => DataColorSpace::Rgb,
            other => return Err(format!("no conversion is known for {other} pixels")),
        };
        if from.color_space != space {
            return Err(format!("it is for {:?} colours, and the pixels are {format}", from.color_space));
        }
        let count = match dtype {
            DType::U8 => 1 << 8,
            DType::U16 => 1 << 16,
            other => return Err(format!("only u8 and u16 are converted, and the pixels are {other}")),
        };
        let linear = |curve: Option<&ToneReprCurve>| linear(curve, count).map_err(damaged);
        if format == PixelFormat::Gray {
            let gray = linear(from.gray_trc.as_ref())?.ok_or("it has no tone curve")?;
            return Ok(match dtype {
                DType::U8 => Self::Gray8(gray.into_iter().map(encode).collect()),
                _ => Self::Gray16(gray.into_iter().map(encode).collect()),
            });
        }
        let tables =
            [&from.lut_a_to_b_perceptual, &from.lut_a_to_b_colorimetric, &from.lut_a_to_b_saturation];
        let curves = [
            linear(from.red_trc.as_ref())?,
            linear(from.green_trc.as_ref())?,
            linear(from.blue_trc.as_ref())?,
        ];
        let ([Some(red), Some(green), Some(blue)], true) =
            (curves, tables.iter().all(|table| table.is_none()))
        else {
            return Err("it has tables of colours, and only tone curves with a matrix are applied".to_owned());
        };
        let matrix = from.transform_matrix(&ColorProfile::new_srgb()).v.map(|row| row.map(|v| v as f32));
        let colors = Colors { linear: [red, green, blue], matrix };
        Ok(match dtype {
            DType::U8 => {
                Self::Colors8(colors, (0..=u16::MAX).map(|v| encode(f32::from(v) / STEPS)).collect())
            }
            _ => Self::Colors16(colors),
        })
    }
}

/// A tone curve's value for each of so many samples, 0 to 1.
fn linear(curve: Option<&ToneReprCurve>, count: usize) -> Result<Option<Vec<f32>>, CmsError> {
    let Some(curve) = curve else { return Ok(None) };
    let evaluator = curve.make_linear_evaluator()?;
    let full = (count - 1) as f32;
    Ok(Some((0..count).map(|value| unit(evaluator.evaluate_value(value as f32 / full))).collect()))
}

/// Clipped; what is no number becomes 0.
fn unit(value: f32) -> f32 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

fn each_row<T: Sample>(image: &mut ImageBuffer, convert: impl Fn(&mut [T])) {
    let mut view = image.view_mut();
    for y in 0..view.layout().desc.height() as usize {
        convert(view.row_as_mut(0, 0, y));
    }
}

impl Colors {
    /// Converts pixels of so many channels; a fourth stays.
    fn convert<T: Sample + Into<u16>>(&self, row: &mut [T], channels: usize, encode: impl Fn(f32) -> T) {
        for pixel in row.chunks_exact_mut(channels) {
            let [r, g, b] = [0, 1, 2].map(|c| self.linear[c][usize::from(pixel[c].into())]);
            for (to, [x, y, z]) in pixel.iter_mut().zip(self.matrix) {
                *to = encode(unit(x * r + y * g + z * b));
            }
        }
    }
}
