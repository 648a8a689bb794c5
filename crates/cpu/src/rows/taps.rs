use mip_plan::{AxisMap, AxisTaps, Border};

/// Which input rows an output row needs; the same for every input of a kernel.
///
/// The work on a row may be cut into passes, each naming at most [`Taps::MOST`] rows, so that a filter over a
/// thousand rows does not need a thousand rows in the cache.
#[derive(Debug, Clone)]
pub(crate) enum Taps {
    /// The row itself.
    Same,
    /// One computed row.
    Mapped(AxisMap),
    /// The rows around it.
    Window { radius: u32, border: Border, height: u32 },
    /// A computed range.
    Range(AxisTaps),
}

impl Taps {
    /// Rows a pass of a range reads at most.
    pub(crate) const RANGE: usize = 8;
    /// Rows any pass reads at most: a window of radius 15.
    pub(crate) const MOST: usize = 31;

    /// Number of passes over a row.
    pub(crate) fn passes(&self) -> usize {
        match self {
            Self::Range(table) => table.taps().div_ceil(Self::RANGE),
            _ => 1,
        }
    }

    /// Number of taps of a pass.
    pub(crate) fn count(&self, pass: usize) -> usize {
        match self {
            Self::Same | Self::Mapped(_) => 1,
            Self::Window { radius, .. } => 2 * *radius as usize + 1,
            Self::Range(table) => (table.taps() - pass * Self::RANGE).min(Self::RANGE),
        }
    }

    /// The input row of tap `k`; `None` outside a constant border.
    #[inline]
    pub(crate) fn row(&self, y: u32, pass: usize, k: usize) -> Option<u32> {
        match self {
            Self::Same => Some(y),
            Self::Mapped(map) => Some(map.map(y)),
            Self::Window { radius, border, height } => {
                border.index(i64::from(y) + k as i64 - i64::from(*radius), *height)
            }
            Self::Range(table) => Some(table.starts()[y as usize] + (pass * Self::RANGE + k) as u32),
        }
    }
}
