use mip_core::{DType, ImageDesc};

/// Sums over all that lies above and to the left, in two steps, for each channel by itself, alpha too. Sums are whole numbers modulo
/// 2^32, in i32 as two's complement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integral {
    /// An image of u8 to what each strip of [`Integral::strip`] rows adds: the sum of its samples left of column x, in row s of strip s,
    /// for x from 0 to the width.
    Strips {
        /// Of squares of samples.
        squared: bool,
    },
    /// The image and the strips' sums to the sum of all samples left of x and above y, for x from 0 to the width and y from 0 to the
    /// height.
    Sums {
        /// Of squares of samples.
        squared: bool,
    },
}

impl Integral {
    /// Longest side of an image.
    pub const MAX_SIDE: u32 = 1 << 16;
    /// The most samples of a channel whose sum i32 holds, whatever they are: 8421504.
    pub const MAX_SAMPLES: u64 = i32::MAX as u64 / 255;
    /// A strip has so many rows, or a multiple of it.
    pub const ROWS: u32 = 16;
    /// Most strips of an image: whoever begins at a strip adds up those above it.
    const MAX_STRIPS: u32 = 128;

    /// Rows of a strip of an image of this height; the last strip may be lower.
    pub const fn strip(height: u32) -> u32 {
        let rows = height.div_ceil(Self::MAX_STRIPS).div_ceil(Self::ROWS) * Self::ROWS;
        if rows > 0 { rows } else { Self::ROWS }
    }

    /// Whether squares are summed.
    pub const fn squared(self) -> bool {
        match self {
            Self::Strips { squared } | Self::Sums { squared } => squared,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Strips { .. } => "integral_strips",
            Self::Sums { .. } => "integral",
        }
    }

    pub(super) const fn input_count(self) -> usize {
        match self {
            Self::Strips { .. } => 1,
            Self::Sums { .. } => 2,
        }
    }

    pub(super) fn check(self, inputs: &[ImageDesc], output: &ImageDesc) -> Result<(), String> {
        let image = &inputs[0];
        let [width, height] = [image.width(), image.height()];
        if image.dtype() != DType::U8 || width.max(height) > Self::MAX_SIDE {
            return Err(format!("{image} instead of u8 of at most {} on a side", Self::MAX_SIDE));
        }
        if !self.squared() && u64::from(width) * u64::from(height) > Self::MAX_SAMPLES {
            return Err(format!(
                "{image} has more than {} pixels, whose sum i32 may not hold",
                Self::MAX_SAMPLES
            ));
        }
        let strips = [width + 1, height.div_ceil(Self::strip(height))];
        match self {
            Self::Strips { .. } => is_sums(output, image, strips),
            Self::Sums { .. } => {
                is_sums(&inputs[1], image, strips)?;
                is_sums(output, image, [width + 1, height + 1])
            }
        }
    }
}

/// Whether an image holds so many sums for each channel of another.
fn is_sums(desc: &ImageDesc, image: &ImageDesc, [width, height]: [u32; 2]) -> Result<(), String> {
    let alike = (desc.format(), desc.layout()) == (image.format(), image.layout());
    if alike && desc.dtype() == DType::I32 && [desc.width(), desc.height()] == [width, height] {
        return Ok(());
    }
    Err(format!("{desc} instead of {width}x{height} {} i32", image.format()))
}
