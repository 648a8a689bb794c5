use mip_core::{DType, ImageDesc, PixelFormat};

use super::{Whole, is_rows};

/// Connected regions of an image: found, counted, numbered and measured, one step after the other.
///
/// Between the steps goes a **forest**: an image of the size of what was looked at, gray f32, whose 32 bits a pixel are a whole
/// number and no binary32. [`Regions::BACKGROUND`] belongs to no region. Any other number leads to another pixel of the same
/// region: n to the one at byte `4 * (n - 1)` of the frame. Who follows them comes to the region's root, which leads to
/// itself: its first pixel in raster order; or to 0, of a region with a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regions {
    /// Gray u8 to a forest: neighbours that are not 0 belong together.
    Connect {
        /// Which neighbours.
        connectivity: Connectivity,
        /// Whether samples above 1 are seeds.
        seeds: bool,
    },
    /// A forest to the pixels of each region, at its root, 0 elsewhere; 32-bit whole numbers in gray f32.
    Areas,
    /// A forest to the number of roots from the row's start up to each pixel, which is included; 32-bit whole numbers in gray
    /// f32. With `by_area` a second input, of [`Regions::Areas`], and one uniform: only roots of regions of at least so many
    /// pixels count.
    Rank {
        /// Whether regions have to be large enough.
        by_area: bool,
    },
    /// Ranks to the number of roots in all rows above each one: a row of as many 32-bit whole numbers, in gray f32.
    RowStarts,
    /// Forest, ranks and row starts to gray f32: 1, 2, ... by the roots' raster order, 0 where there is no region that counts.
    Number,
    /// A forest to gray u8: 255 in regions with a seed, 0 elsewhere.
    Seeded,
    /// Gray f32 with numbered regions to rows of [`Regions::MEASURES`] numbers, one for each of 1, 2, ...: the bounding box's
    /// first column and row, its width and height, and the number of pixels; all 0 where there is no such number. Whatever is
    /// no whole number of a row is not measured.
    Measure,
}

/// Which of its neighbours a pixel is connected with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Connectivity {
    /// Those beside, above and below it.
    Four,
    /// Those at its corners too.
    #[default]
    Eight,
}

impl Regions {
    /// What a forest has where there is no region.
    pub const BACKGROUND: u32 = u32::MAX;
    /// Numbers of a measured region.
    pub const MEASURES: u32 = 5;
    /// Rows of measured regions at most.
    pub const MAX_MEASURED: u32 = 1 << 16;

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Connect { .. } => "connect",
            Self::Areas => "areas",
            Self::Rank { .. } => "rank",
            Self::RowStarts => "row_starts",
            Self::Number => "number",
            Self::Seeded => "seeded",
            Self::Measure => "measure",
        }
    }

    pub(super) const fn input_count(self) -> usize {
        match self {
            Self::Connect { .. } | Self::Areas | Self::RowStarts | Self::Seeded | Self::Measure => 1,
            Self::Rank { by_area } => 1 + by_area as usize,
            Self::Number => 3,
        }
    }

    pub(super) const fn uniform_count(self) -> usize {
        match self {
            Self::Rank { by_area } => by_area as usize,
            Self::Connect { .. }
            | Self::Areas
            | Self::RowStarts
            | Self::Number
            | Self::Seeded
            | Self::Measure => 0,
        }
    }

    /// Whether an image is small enough: every pixel of it, and of rows that are padded, has a number.
    pub const fn numbers_fit(image: &ImageDesc) -> bool {
        (image.width() as u64).next_multiple_of(1024) * (image.height() as u64) < u32::MAX as u64
    }

    pub(super) fn check(self, inputs: &[ImageDesc], output: &ImageDesc) -> Result<(), String> {
        let image = &inputs[0];
        if !Self::numbers_fit(image) {
            return Err(format!("{image} has more pixels than 32 bits number"));
        }
        match self {
            Self::Connect { .. } => is_gray(image, image, DType::U8).and_then(|()| is_forest(output, image)),
            Self::Areas => is_forest(image, image).and_then(|()| is_forest(output, image)),
            Self::Rank { .. } => inputs.iter().chain([output]).try_for_each(|desc| is_forest(desc, image)),
            Self::RowStarts => is_forest(image, image)
                .and_then(|()| is_rows(output, image.height(), 1, DType::F32, "row starts")),
            Self::Number => {
                is_rows(&inputs[2], image.height(), 1, DType::F32, "row starts")?;
                [image, &inputs[1], output].into_iter().try_for_each(|desc| is_forest(desc, image))
            }
            Self::Seeded => is_forest(image, image).and_then(|()| is_gray(output, image, DType::U8)),
            Self::Measure => {
                if output.height() > Self::MAX_MEASURED {
                    return Err(format!("{} regions, of at most {}", output.height(), Self::MAX_MEASURED));
                }
                is_forest(image, image)?;
                is_rows(output, Self::MEASURES, output.height().into(), DType::F32, "measures")
            }
        }
    }

    pub(super) const fn operations(self) -> f64 {
        match self {
            Self::Connect { .. } => 8.0,
            Self::Areas | Self::Number | Self::Seeded => 4.0,
            Self::Rank { .. } => 2.0,
            // A whole image goes into a few numbers.
            Self::RowStarts | Self::Measure => 64.0,
        }
    }
}

fn is_forest(desc: &ImageDesc, image: &ImageDesc) -> Result<(), String> {
    is_gray(desc, image, DType::F32)
}

/// Whether an image is gray, of this dtype and as large as another.
pub(super) fn is_gray(desc: &ImageDesc, like: &ImageDesc, dtype: DType) -> Result<(), String> {
    let size = (like.width(), like.height());
    let fits =
        (desc.format(), desc.dtype()) == (PixelFormat::Gray, dtype) && (desc.width(), desc.height()) == size;
    if fits { Ok(()) } else { Err(format!("{desc} instead of {}x{} gray {dtype}", size.0, size.1)) }
}

impl From<Regions> for Whole {
    fn from(step: Regions) -> Self {
        Self::Regions(step)
    }
}
