use mip_core::{DType, ImageDesc};

use crate::Border;

/// The median of the samples in a square around each pixel, for every colour channel by itself; alpha is kept. Of u8.
///
/// Samples are counted, so that a square of many pixels costs little more than one of few. Small ones are expressions, see
/// [`crate::median_of`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Median {
    /// Pixels a side; odd, 3 to [`Median::MAX_SIDE`].
    pub side: u32,
    /// What is read outside the image; a constant is one of the values of u8.
    pub border: Border,
}

impl Median {
    /// The largest side: 16 bits count all its samples.
    pub const MAX_SIDE: u32 = 255;

    /// Samples that lie before the median.
    pub const fn before(self) -> u32 {
        self.side * self.side / 2
    }

    /// The value outside the image, 0 where the border names pixels.
    pub const fn constant(self) -> u8 {
        match self.border {
            Border::Constant(value) => value as u8,
            Border::Reflect101 | Border::Reflect | Border::Replicate | Border::Wrap => 0,
        }
    }

    pub(super) fn check(self, input: &ImageDesc, output: &ImageDesc) -> Result<(), String> {
        if self.side.is_multiple_of(2) || !(3..=Self::MAX_SIDE).contains(&self.side) {
            return Err(format!("{} is no odd side from 3 to {}", self.side, Self::MAX_SIDE));
        }
        if input.dtype() != DType::U8 || output != input {
            return Err(format!("medians of counts are of u8 and change no shape, not {input} to {output}"));
        }
        match self.border {
            Border::Constant(value) if f32::from(value as u8) != value => Err(format!("{value} is no u8")),
            _ => Ok(()),
        }
    }
}
