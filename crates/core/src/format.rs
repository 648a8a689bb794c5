use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ImageError;

/// Channels of a pixel and their order. The dtype is separate: see [`DType`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PixelFormat {
    /// One channel of luma (or of anything else).
    Gray,
    /// Red, green, blue.
    Rgb,
    /// Blue, green, red: OpenCV's order.
    Bgr,
    /// Red, green, blue, straight (not premultiplied) alpha.
    Rgba,
    /// Blue, green, red, straight alpha.
    Bgra,
    /// Hue, saturation, value (the largest of red, green and blue). The hue is 0 to 179 in u8 (half degrees, as in OpenCV), 0 to
    /// 65535 in u16 (a turn is 65536) and degrees below 360 in floats; saturation and value are 0 to full scale.
    Hsv,
    /// Hue as of [`PixelFormat::Hsv`], lightness (the mean of the largest and the smallest colour), saturation.
    Hls,
    /// Luma and chroma of full range, blue before red, with the weights of ITU-R BT.601: JPEG's (ITU-T T.871). Chroma is none at
    /// 128, 32768 or 0.5.
    Ycbcr,
    /// CIE 1976 L\*a\*b\* of sRGB, white D65: 0 to 100 and about -128 to 127 in floats; in u8 `2.55 L`, `a + 128`, `b + 128`,
    /// as in OpenCV.
    Lab,
    /// CIE 1976 L\*u\*v\* of sRGB, white D65: 0 to 100, about -83 to 175 and -134 to 107 in floats; in u8 `2.55 L`,
    /// `(u + 134) 255 / 354`, `(v + 140) 255 / 262`, as in OpenCV. What no light is (v' below 1/64, in u8 5/32) becomes the nearest v' that is.
    Luv,
    /// CIE 1931 XYZ of sRGB, white D65, where Y of white is full scale. Z of bright blues is above, which u8 cuts off.
    Xyz,
    /// Red, green and blue of linear light: samples of sRGB without its transfer function (IEC 61966-2-1).
    Linear,
}

impl PixelFormat {
    /// Every format, in declaration order: first [`PixelFormat::PICTURES`].
    pub const ALL: [Self; 12] = [
        Self::Gray,
        Self::Rgb,
        Self::Bgr,
        Self::Rgba,
        Self::Bgra,
        Self::Hsv,
        Self::Hls,
        Self::Ycbcr,
        Self::Lab,
        Self::Luv,
        Self::Xyz,
        Self::Linear,
    ];

    /// Those that pictures come in and leave in: gray, and red, green and blue in some order. The others are colour spaces.
    pub const PICTURES: [Self; 5] = [Self::Gray, Self::Rgb, Self::Bgr, Self::Rgba, Self::Bgra];

    /// Number of channels: 1, 3 or 4.
    pub const fn channels(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::Rgb
            | Self::Bgr
            | Self::Hsv
            | Self::Hls
            | Self::Ycbcr
            | Self::Lab
            | Self::Luv
            | Self::Xyz
            | Self::Linear => 3,
            Self::Rgba | Self::Bgra => 4,
        }
    }

    /// Whether the last channel is alpha.
    pub const fn has_alpha(self) -> bool {
        matches!(self, Self::Rgba | Self::Bgra)
    }

    /// Whether its three channels are coordinates of a colour other than red, green and blue as screens take them.
    pub const fn is_color_space(self) -> bool {
        match self {
            Self::Gray | Self::Rgb | Self::Bgr | Self::Rgba | Self::Bgra => false,
            Self::Hsv | Self::Hls | Self::Ycbcr | Self::Lab | Self::Luv | Self::Xyz | Self::Linear => true,
        }
    }

    /// Channel indices of red, green and blue; `None` for gray and for colour spaces.
    pub const fn rgb_indices(self) -> Option<[usize; 3]> {
        if self.is_color_space() { None } else { self.color_indices() }
    }

    /// Channel indices of red, green and blue, or of a colour space's channels in their own order; `None` for gray.
    pub const fn color_indices(self) -> Option<[usize; 3]> {
        match self {
            Self::Gray => None,
            Self::Bgr | Self::Bgra => Some([2, 1, 0]),
            Self::Rgb
            | Self::Rgba
            | Self::Hsv
            | Self::Hls
            | Self::Ycbcr
            | Self::Lab
            | Self::Luv
            | Self::Xyz
            | Self::Linear => Some([0, 1, 2]),
        }
    }

    /// The name used in pipeline files: `gray`, `rgb`, `bgr`, `rgba`, `bgra`, `hsv`, `hls`, `ycbcr`, `lab`, `luv`, `xyz`, `linear`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gray => "gray",
            Self::Rgb => "rgb",
            Self::Bgr => "bgr",
            Self::Rgba => "rgba",
            Self::Bgra => "bgra",
            Self::Hsv => "hsv",
            Self::Hls => "hls",
            Self::Ycbcr => "ycbcr",
            Self::Lab => "lab",
            Self::Luv => "luv",
            Self::Xyz => "xyz",
            Self::Linear => "linear",
        }
    }
}

/// Type of one sample (one channel of one pixel).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// 8-bit unsigned, full scale 255.
    U8,
    /// 16-bit unsigned, full scale 65535.
    U16,
    /// 16-bit signed, full scale 32767: differences, gradients.
    I16,
    /// 32-bit signed, full scale 2147483647: sums, which are no picture. What computes with samples takes the nearest
    /// binary32, which is another number above 2^24; what only moves them keeps every bit.
    I32,
    /// IEEE binary16, full scale 1.0 by convention; any value is allowed. Arithmetic is binary32, and only the result
    /// is rounded; beyond 65504 it is infinite.
    F16,
    /// IEEE binary32, full scale 1.0 by convention; any value is allowed.
    F32,
}

impl DType {
    /// Every dtype, in declaration order.
    pub const ALL: [Self; 6] = [Self::U8, Self::U16, Self::I16, Self::I32, Self::F16, Self::F32];

    /// Those of pictures, in declaration order: all but i32.
    pub const PICTURES: [Self; 5] = [Self::U8, Self::U16, Self::I16, Self::F16, Self::F32];

    /// Size of one sample in bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::I32 | Self::F32 => 4,
        }
    }

    /// The value that stands for full intensity (and opaque alpha): 255, 65535, 32767, 2147483647 or 1.
    pub const fn full_scale(self) -> f64 {
        match self {
            Self::U8 => 255.0,
            Self::U16 => 65535.0,
            Self::I16 => 32767.0,
            Self::I32 => 2_147_483_647.0,
            Self::F16 | Self::F32 => 1.0,
        }
    }

    /// The smallest and the largest integer of an integer type; `None` for floats.
    pub const fn integers(self) -> Option<(f64, f64)> {
        match self {
            Self::U8 | Self::U16 => Some((0.0, self.full_scale())),
            Self::I16 => Some((-32768.0, 32767.0)),
            Self::I32 => Some((-2_147_483_648.0, 2_147_483_647.0)),
            Self::F16 | Self::F32 => None,
        }
    }

    /// Whether samples are IEEE numbers with a fraction, infinities and NaN.
    pub const fn is_float(self) -> bool {
        self.integers().is_none()
    }

    /// The name used in pipeline files: `u8`, `u16`, `i16`, `i32`, `f16`, `f32`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::F16 => "f16",
            Self::F32 => "f32",
        }
    }
}

/// Order of samples in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Height, width, channel: interleaved pixels, one plane.
    #[default]
    Hwc,
    /// Channel, height, width: one plane a channel, as neural networks take it.
    Chw,
}

impl Layout {
    /// Both layouts.
    pub const ALL: [Self; 2] = [Self::Hwc, Self::Chw];

    /// The name used in pipeline files: `hwc` or `chw`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hwc => "hwc",
            Self::Chw => "chw",
        }
    }
}

macro_rules! named {
    ($type:ty, $what:literal, $allowed:literal) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $type {
            type Err = ImageError;

            fn from_str(text: &str) -> Result<Self, ImageError> {
                Self::ALL.into_iter().find(|v| v.name() == text).ok_or_else(|| ImageError::UnknownName {
                    what: $what,
                    given: text.to_owned(),
                    allowed: $allowed,
                })
            }
        }
    };
}

named!(PixelFormat, "pixel format", "gray, rgb, bgr, rgba, bgra, hsv, hls, ycbcr, lab, luv, xyz, linear");
named!(DType, "dtype", "u8, u16, i16, i32, f16, f32");
named!(Layout, "layout", "hwc, chw");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for f in PixelFormat::ALL {
            assert_eq!(f.name().parse::<PixelFormat>(), Ok(f));
        }
        for d in DType::ALL {
            assert_eq!(d.name().parse::<DType>(), Ok(d));
        }
        for l in Layout::ALL {
            assert_eq!(l.name().parse::<Layout>(), Ok(l));
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let text = "grey".parse::<PixelFormat>().unwrap_err().to_string();
        assert!(text.contains("grey") && text.contains("gray, rgb, bgr, rgba, bgra"), "{text}");
    }
}
