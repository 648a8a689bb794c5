use mip_core::{DType, ImageDesc};

use super::regions::is_gray;

/// The distance of each pixel to the nearest one that is 0, exactly, in two steps. Where nothing is 0 it is infinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// Gray u8 to gray f32: the distance in whole rows to the nearest 0 in the same column.
    Columns,
    /// That to the distance, over all columns of the row.
    Rows(Metric),
}

/// What a distance is, of `dx` columns and `dy` rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Metric {
    /// `sqrt(dx^2 + dy^2)`: the root in binary64, rounded to binary32.
    #[default]
    L2,
    /// `|dx| + |dy|`.
    L1,
    /// `max(|dx|, |dy|)`.
    Linf,
}

impl Distance {
    /// Longest side of an image: distances along it are exact in binary32.
    pub const MAX_SIDE: u32 = 1 << 16;

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Columns => "distance_columns",
            Self::Rows(_) => "distance_rows",
        }
    }

    pub(super) fn check(self, input: &ImageDesc, output: &ImageDesc) -> Result<(), String> {
        if input.width().max(input.height()) > Self::MAX_SIDE {
            return Err(format!("{input} has a side longer than {}", Self::MAX_SIDE));
        }
        let dtype = match self {
            Self::Columns => DType::U8,
            Self::Rows(_) => DType::F32,
        };
        is_gray(input, input, dtype).and_then(|()| is_gray(output, input, DType::F32))
    }
}
