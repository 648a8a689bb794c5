use mip_core::{DType, ImageDesc};

use super::{Whole, colors, is_rows};

/// Rectangles of equal size that an image is divided into, from left to right and from top to bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileGrid {
    /// Rectangles side by side.
    pub columns: u32,
    /// Rectangles one below the other.
    pub rows: u32,
    /// Columns of a rectangle.
    pub width: u32,
    /// Rows of a rectangle.
    pub height: u32,
}

/// How often each value occurs in each rectangle of an image of u8.
///
/// The result is gray f32 with [`Whole::VALUES`] columns. Row `channel * tiles + tile` is for a colour channel in its order
/// in memory and a rectangle of the grid; alpha is not counted.
///
/// No uniforms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Histogram {
    /// The rectangles.
    pub grid: TileGrid,
    /// Whether what lies to the right of the image and below it counts as its reflection
    /// ([`crate::Border::Reflect101`]); otherwise it is not counted.
    pub reflected: bool,
}

impl TileGrid {
    /// Pixels of a rectangle at most, so that every count is exact in binary32.
    pub const MAX_PIXELS: u64 = 1 << 24;
    /// Rectangles at most.
    pub const MAX_TILES: u32 = 1 << 16;

    /// Bands over the whole width of an image, enough to be counted side by side: the whole image's counts are their sum.
    pub fn bands(image: &ImageDesc) -> Self {
        const BANDS: u32 = 128;
        let (width, height) = (image.width(), image.height());
        let fits = (Self::MAX_PIXELS / u64::from(width)).clamp(1, u64::from(u32::MAX)) as u32;
        let band = height.div_ceil(BANDS).clamp(1, fits);
        Self { columns: 1, rows: height.div_ceil(band), width, height: band }
    }

    /// Number of rectangles.
    pub const fn tiles(&self) -> u64 {
        self.columns as u64 * self.rows as u64
    }

    /// Pixels of a rectangle.
    pub const fn pixels(&self) -> u64 {
        self.width as u64 * self.height as u64
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let Self { columns, rows, width, height } = *self;
        if columns.min(rows).min(width).min(height) == 0 {
            return Err("a grid of nothing".to_owned());
        }
        if self.tiles() > u64::from(Self::MAX_TILES) || self.pixels() > Self::MAX_PIXELS {
            let (tiles, pixels) = (Self::MAX_TILES, Self::MAX_PIXELS);
            return Err(format!(
                "{columns}x{rows} tiles of {width}x{height} pixels, of at most {tiles} and {pixels}"
            ));
        }
        Ok(())
    }
}

impl Histogram {
    pub(super) fn check(&self, input: &ImageDesc, output: &ImageDesc) -> Result<(), String> {
        self.grid.check()?;
        if input.dtype() != DType::U8 {
            return Err(format!("{} is not counted, only u8 is", input.dtype()));
        }
        let height = u64::from(colors(input)) * self.grid.tiles();
        is_rows(output, Whole::VALUES, height, DType::F32, "counts")
    }
}
