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
}

impl PixelFormat {
    /// Every format, in declaration order.
    pub const ALL: [Self; 5] = [Self::Gray, Self::Rgb, Self::Bgr, Self::Rgba, Self::Bgra];

    /// Number of channels: 1, 3 or 4.
    pub const fn channels(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::Rgb | Self::Bgr => 3,
            Self::Rgba | Self::Bgra => 4,
        }
    }

    /// Whether the last channel is alpha.
    pub const fn has_alpha(self) -> bool {
        matches!(self, Self::Rgba | Self::Bgra)
    }

    /// Channel indices of red, green and blue; `None` for gray.
    pub const fn rgb_indices(self) -> Option<[usize; 3]> {
        match self {
            Self::Gray => None,
            Self::Rgb | Self::Rgba => Some([0, 1, 2]),
            Self::Bgr | Self::Bgra => Some([2, 1, 0]),
        }
    }

    /// The name used in pipeline files: `gray`, `rgb`, `bgr`, `rgba`, `bgra`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gray => "gray",
            Self::Rgb => "rgb",
            Self::Bgr => "bgr",
            Self::Rgba => "rgba",
            Self::Bgra => "bgra",
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
    /// IEEE binary16, full scale 1.0 by convention; any value is allowed. Arithmetic is binary32, and only the result
    /// is rounded; beyond 65504 it is infinite.
    F16,
    /// IEEE binary32, full scale 1.0 by convention; any value is allowed.
    F32,
}

impl DType {
    /// Every dtype, in declaration order.
    pub const ALL: [Self; 5] = [Self::U8, Self::U16, Self::I16, Self::F16, Self::F32];

    /// Size of one sample in bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::F32 => 4,
        }
    }

    /// The value that stands for full intensity (and opaque alpha): 255, 65535, 32767 or 1.
    pub const fn full_scale(self) -> f64 {
        match self {
            Self::U8 => 255.0,
            Self::U16 => 65535.0,
            Self::I16 => 32767.0,
            Self::F16 | Self::F32 => 1.0,
        }
    }

    /// The smallest and the largest integer of an integer type; `None` for floats.
    pub const fn integers(self) -> Option<(f64, f64)> {
        match self {
            Self::U8 | Self::U16 => Some((0.0, self.full_scale())),
            Self::I16 => Some((-32768.0, 32767.0)),
            Self::F16 | Self::F32 => None,
        }
    }

    /// Whether samples are IEEE numbers with a fraction, infinities and NaN.
    pub const fn is_float(self) -> bool {
        self.integers().is_none()
    }

    /// The name used in pipeline files: `u8`, `u16`, `i16`, `f16`, `f32`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::I16 => "i16",
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

named!(PixelFormat, "pixel format", "gray, rgb, bgr, rgba, bgra");
named!(DType, "dtype", "u8, u16, i16, f16, f32");
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
