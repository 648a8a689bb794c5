//! Computations over whole images: what is counted, tables made of counts, samples looked up in tables, connected regions,
//! distances, and sums over all that lies before.

mod boxes;
mod canny;
mod distance;
mod histogram;
mod integral;
mod labels;
mod lookup;
mod rank;
mod regions;
mod table;
mod tile;

use mip_core::{DType, ImageDesc, PixelFormat};

pub use boxes::Boxes;
pub use canny::Canny;
pub use distance::{Distance, Metric};
pub use histogram::{Histogram, TileGrid};
pub use integral::Integral;
pub use labels::Labels;
pub use lookup::Lookup;
pub use rank::Median;
pub use regions::{Connectivity, Regions};
pub use table::{Above, Automatic, Rule, Table};
pub use tile::Tile;

/// A computation that must see a whole image before it has its first result, so that nothing fuses with it. Several of them
/// one after the other are one operator: counts, a table made of them, an image looked up in the table, all on the device.
///
/// Edges, regions and distances are steps of operators likewise.
///
/// What is counted and looked up is u8. Counts and tables are gray images of a row each: [`Whole::VALUES`] columns, one
/// for each value of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Whole {
    /// How often each value occurs.
    Histogram(Histogram),
    /// A table, or a few numbers, made of counts.
    Table(Table),
    /// Each sample replaced by an entry of a table.
    Lookup(Lookup),
    /// Medians of large squares.
    Median(Median),
    /// What may be an edge.
    Canny(Canny),
    /// Connected regions.
    Regions(Regions),
    /// Distances to the nearest 0.
    Distance(Distance),
    /// Sums over all that lies above and to the left.
    Integral(Integral),
    /// Lists of boxes.
    Boxes(Boxes),
    /// Images beside each other.
    Tile(Tile),
}

impl Whole {
    /// Values of a sample.
    pub const VALUES: u32 = 256;

    /// A short name for plans, generated code and profiles.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Histogram(_) => "histogram",
            Self::Table(_) => "table",
            Self::Lookup(_) => "lookup",
            Self::Median(_) => "median",
            Self::Canny(_) => "canny",
            Self::Regions(step) => step.name(),
            Self::Distance(step) => step.name(),
            Self::Integral(step) => step.name(),
            Self::Boxes(step) => step.name(),
            Self::Tile(_) => "tile",
        }
    }

    /// Number of input images.
    pub const fn input_count(&self) -> usize {
        match self {
            Self::Histogram(_) | Self::Table(_) | Self::Median(_) | Self::Canny(_) | Self::Distance(_) => 1,
            Self::Lookup(_) => 2,
            Self::Integral(step) => step.input_count(),
            Self::Regions(step) => step.input_count(),
            Self::Boxes(step) => step.input_count(),
            Self::Tile(tile) => tile.count as usize,
        }
    }

    /// Number of uniforms.
    pub const fn uniform_count(&self) -> usize {
        match self {
            Self::Table(table) => table.rule.uniform_count(),
            Self::Histogram(_)
            | Self::Lookup(_)
            | Self::Median(_)
            | Self::Distance(_)
            | Self::Integral(_) => 0,
            Self::Canny(_) => 2,
            Self::Regions(step) => step.uniform_count(),
            Self::Boxes(step) => step.uniform_count(),
            Self::Tile(_) => Tile::UNIFORMS,
        }
    }

    /// Whether it can make `output` of `inputs`, of which there are as many as it takes.
    pub(super) fn check(&self, inputs: &[ImageDesc], output: &ImageDesc) -> Result<(), String> {
        match self {
            Self::Histogram(histogram) => histogram.check(&inputs[0], output),
            Self::Table(table) => table.check(&inputs[0], output),
            Self::Lookup(lookup) => lookup.check(&inputs[0], &inputs[1], output),
            Self::Median(median) => median.check(&inputs[0], output),
            Self::Canny(_) => Canny::check(&inputs[0], output),
            Self::Regions(step) => step.check(inputs, output),
            Self::Distance(step) => step.check(&inputs[0], output),
            Self::Integral(step) => step.check(inputs, output),
            Self::Boxes(step) => step.check(inputs, output),
            Self::Tile(tile) => tile.check(inputs, output),
        }
    }

    /// As [`super::Kernel::operations`].
    pub(super) const fn operations(&self) -> f64 {
        match self {
            // For each of the values that a row holds, thousands of samples are counted.
            Self::Histogram(_) => 64.0,
            Self::Table(_) | Self::Distance(_) => 8.0,
            Self::Lookup(Lookup::Rows) | Self::Tile(_) => 1.0,
            Self::Lookup(Lookup::Between(_)) => 9.0,
            // Two sides of samples are counted for a pixel where each has counts of its own.
            Self::Median(median) => 16.0 * median.side as f64,
            Self::Canny(_) => 24.0,
            Self::Regions(step) => step.operations(),
            Self::Integral(_) | Self::Boxes(Boxes::Outline | Boxes::Label(_) | Boxes::Cover) => 2.0,
            // Each box is compared with all others.
            Self::Boxes(Boxes::Suppress) => 4096.0,
        }
    }
}

/// What of a result can be computed by itself, so that threads share the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WholeOrder {
    /// Each row.
    Rows,
    /// Bands of rows, which are joined afterwards.
    Bands,
    /// Nothing less than a frame.
    Frames,
}

impl Whole {
    /// What can be computed by itself.
    pub const fn order(&self) -> WholeOrder {
        match self {
            Self::Histogram(_)
            | Self::Table(_)
            | Self::Lookup(_)
            | Self::Median(_)
            | Self::Canny(_)
            | Self::Tile(_)
            | Self::Distance(Distance::Rows(_))
            | Self::Integral(_)
            | Self::Boxes(Boxes::Outline | Boxes::Label(_) | Boxes::Cover)
            | Self::Regions(Regions::Rank { .. } | Regions::RowStarts | Regions::Number | Regions::Seeded) => {
                WholeOrder::Rows
            }
            Self::Regions(Regions::Connect { .. }) => WholeOrder::Bands,
            Self::Distance(Distance::Columns)
            | Self::Boxes(Boxes::Suppress)
            | Self::Regions(Regions::Areas | Regions::Measure) => WholeOrder::Frames,
        }
    }
}

/// Channels that are counted and looked up: alpha is neither.
pub(crate) const fn colors(desc: &ImageDesc) -> u32 {
    (desc.channels() - desc.format().has_alpha() as usize) as u32
}

/// Whether an image is rows of so many numbers of a dtype.
fn is_rows(desc: &ImageDesc, width: u32, height: u64, dtype: DType, what: &str) -> Result<(), String> {
    let fits = desc.format() == PixelFormat::Gray
        && desc.dtype() == dtype
        && desc.width() == width
        && u64::from(desc.height()) == height;
    if fits { Ok(()) } else { Err(format!("{what} must be {width}x{height} gray {dtype} instead of {desc}")) }
}
