use mip_plan::{AxisMap, AxisTaps, Border};

use super::{Indices, OUTSIDE};

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

    /// Writes the input row of each tap of a pass, [`OUTSIDE`] for those outside a constant border; returns
    /// their number.
    #[inline]
    pub(crate) fn rows(&self, y: u32, pass: usize, rows: &mut Indices) -> usize {
        match self {
            Self::Same => {
                rows[0] = y;
                1
            }
            Self::Mapped(map) => {
                rows[0] = map.map(y);
                1
            }
            Self::Window { radius, border, height } => {
                let count = 2 * *radius as usize + 1;
                if y >= *radius && y + *radius < *height {
                    for (row, i) in rows[..count].iter_mut().zip(y - *radius..) {
                        *row = i;
                    }
                    return count;
                }
                let first = i64::from(y) - i64::from(*radius);
                for (row, i) in rows[..count].iter_mut().zip(first..) {
                    *row = border.index(i, *height).unwrap_or(OUTSIDE);
                }
                count
            }
            Self::Range(table) => {
                let done = pass * Self::RANGE;
                let count = (table.taps() - done).min(Self::RANGE);
                let first = table.starts()[y as usize] + done as u32;
                for (row, i) in rows[..count].iter_mut().zip(first..) {
                    *row = i;
                }
                count
            }
        }
    }
}
