//! Computations over whole images: what is counted, tables made of counts, and samples looked up in tables.

mod histogram;
mod lookup;
mod table;

use mip_core::{DType, ImageDesc, PixelFormat};

pub use histogram::{Histogram, TileGrid};
pub use lookup::Lookup;
pub use table::{Above, Automatic, Rule, Table};

/// A computation that must see a whole image before it has its first result, so that nothing fuses with it. Several of them
/// one after the other are one operator: counts, a table made of them, an image looked up in the table, all on the device.
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
        }
    }

    /// Number of input images.
    pub const fn input_count(&self) -> usize {
        match self {
            Self::Histogram(_) | Self::Table(_) => 1,
            Self::Lookup(_) => 2,
        }
    }

    /// Number of uniforms.
    pub const fn uniform_count(&self) -> usize {
        match self {
            Self::Table(table) => table.rule.uniform_count(),
            Self::Histogram(_) | Self::Lookup(_) => 0,
        }
    }

    /// Whether it can make `output` of `inputs`, of which there are as many as it takes.
    pub(super) fn check(&self, inputs: &[ImageDesc], output: &ImageDesc) -> Result<(), String> {
        match self {
            Self::Histogram(histogram) => histogram.check(&inputs[0], output),
            Self::Table(table) => table.check(&inputs[0], output),
            Self::Lookup(lookup) => lookup.check(&inputs[0], &inputs[1], output),
        }
    }

    /// As [`super::Kernel::operations`].
    pub(super) const fn operations(&self) -> f64 {
        match self {
            // For each of the values that a row holds, thousands of samples are counted.
            Self::Histogram(_) => 64.0,
            Self::Table(_) => 8.0,
            Self::Lookup(Lookup::Rows) => 1.0,
            Self::Lookup(Lookup::Between(_)) => 9.0,
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
