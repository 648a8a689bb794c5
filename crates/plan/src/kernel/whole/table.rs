use mip_core::{DType, ImageDesc};

use super::{Whole, is_rows};

/// A row of numbers for each `parts` rows of counts, which are added first.
///
/// In what [`Rule`] says, `h[v]` is the count of value v, `n` the sum of all, and `c[v] = h[0] + ... + h[v]`. Whole numbers are
/// exact; quotients of them are binary64, unless something else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// What is made of the counts.
    pub rule: Rule,
    /// Rows of counts for a row of the result.
    pub parts: u32,
}

/// What a [`Table`] is. Tables of 256 entries are u8, others f32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The counts themselves, as binary32.
    Counts,
    /// Five numbers: mean, standard deviation of the population, minimum, maximum and sum, each rounded to binary32. The
    /// variance is the sum of `h[v] * (v - mean)^2` by rising v, divided by n.
    Statistics,
    /// Of counts of differences, three numbers: the largest, their mean and the mean of their squares, each rounded to binary32.
    Differences,
    /// OpenCV's `equalizeHist`: `c[v] - h[first]` times `255 / (n - h[first])` in binary32, rounded half to even, with the
    /// first value that occurs; of one value alone every entry is that value.
    Equalize,
    /// Pillow's `ImageOps.equalize`: with `step = (n - h[last]) / 255`, the last value that occurs, entry v is
    /// `(step / 2 + c[v] - h[v]) / step`, in whole numbers, at most 255; v itself where step is 0 or one value alone occurs.
    EqualizePillow,
    /// Pillow's `ImageOps.autocontrast` with a rounded result: from each end of the values `floor(n * cutoff / 100)` samples are
    /// left out; what is left, from low to high, becomes `(v - low) * 255 / (high - low)`, to the nearest, ties to even,
    /// saturated. v itself where nothing is left or low is high. Uniforms: `[cutoff]`, percent.
    Stretch,
    /// A threshold that follows from the counts, and what becomes of samples above it. Uniforms: `[max_value]`.
    Threshold(Automatic, Above),
    /// The table of a tile of OpenCV's CLAHE. With a clip limit above 0: `limit = max(floor(clip_limit * pixels / 256), 1)`,
    /// what is above it is taken away and given back, `excess / 256` to each value and the rest 1 each to every
    /// `max(256 / rest, 1)`th. Entry v is `c[v] * (255 / pixels)` in binary32, rounded half to even. Uniforms: `[clip_limit]`.
    Clahe {
        /// Of a tile.
        pixels: u32,
    },
}

/// How a threshold follows from counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Automatic {
    /// Otsu's: the first t with the largest variance between the samples up to t and those above,
    /// `w * (n - w) * (s / w - (S - s) / (n - w))^2` with `w = c[t]` and s the sum of the values up to t, S of all. 0 where all
    /// samples are equal.
    Otsu,
    /// The triangle: the value whose count lies farthest below the line from the peak to the end of the longer slope, and one
    /// less, as in OpenCV.
    Triangle,
}

/// What becomes of samples above a threshold, and of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Above {
    /// The maximum above, 0 elsewhere.
    Binary,
    /// 0 above, the maximum elsewhere.
    BinaryInv,
    /// The threshold above, the sample elsewhere.
    Trunc,
    /// The sample above, 0 elsewhere.
    ToZero,
    /// 0 above, the sample elsewhere.
    ToZeroInv,
}

impl Rule {
    /// Number of uniforms.
    pub const fn uniform_count(self) -> usize {
        match self {
            Self::Counts | Self::Statistics | Self::Differences | Self::Equalize | Self::EqualizePillow => 0,
            Self::Stretch | Self::Threshold(..) | Self::Clahe { .. } => 1,
        }
    }

    /// Columns of a row, and their dtype.
    pub const fn shape(self) -> (u32, DType) {
        match self {
            Self::Counts => (Whole::VALUES, DType::F32),
            Self::Statistics => (5, DType::F32),
            Self::Differences => (3, DType::F32),
            Self::Equalize
            | Self::EqualizePillow
            | Self::Stretch
            | Self::Threshold(..)
            | Self::Clahe { .. } => (Whole::VALUES, DType::U8),
        }
    }
}

impl Table {
    /// Samples that a row may be counted from: sums of them stay below 2^32.
    pub const MAX_SAMPLES: u64 = u32::MAX as u64;

    pub(super) fn check(&self, counts: &ImageDesc, output: &ImageDesc) -> Result<(), String> {
        if self.parts == 0 || u64::from(self.parts) > super::TileGrid::MAX_TILES.into() {
            return Err(format!("{} rows of counts for one of the table", self.parts));
        }
        let (width, dtype) = self.rule.shape();
        let height = u64::from(output.height());
        is_rows(counts, Whole::VALUES, height * u64::from(self.parts), DType::F32, "counts")?;
        is_rows(output, width, height, dtype, "the table")
    }
}
