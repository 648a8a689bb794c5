use mip_core::{DType, ImageDesc};

use super::{TileGrid, Whole, colors, is_rows};

/// Each colour sample of an image of u8 replaced by what a table says; alpha is kept. The inputs are the image and the
/// table, which is gray u8 with [`Whole::VALUES`] columns.
///
/// No uniforms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// A row of the table for each colour channel, in its order in memory: `table[channel][v]`.
    Rows,
    /// A row for each channel and each rectangle of a grid, `channel * tiles + tile`, and between the centres of rectangles a
    /// bilinear mixture of the four around, in binary32. With tiles of `width` columns:
    ///
    /// ```text
    /// tx = x * (1 / width) - 0.5       left = floor(tx)      fx = tx - left
    /// ```
    ///
    /// the columns of tiles are `max(left, 0)` and `min(left + 1, columns - 1)`, and likewise for y; then
    /// `(a * (1 - fx) + b * fx) * (1 - fy) + (c * (1 - fx) + d * fx) * fy`, each operation rounded (OpenCV's CLAHE).
    Between(TileGrid),
}

impl Lookup {
    pub(super) fn check(
        self,
        image: &ImageDesc,
        table: &ImageDesc,
        output: &ImageDesc,
    ) -> Result<(), String> {
        if image.dtype() != DType::U8 {
            return Err(format!("{} is not looked up, only u8 is", image.dtype()));
        }
        if image != output {
            return Err("what is looked up stays as it is".to_owned());
        }
        let tiles = match self {
            Self::Rows => 1,
            Self::Between(grid) => grid.check().map(|()| grid.tiles())?,
        };
        is_rows(table, Whole::VALUES, u64::from(colors(image)) * tiles, DType::U8, "the table")
    }
}
