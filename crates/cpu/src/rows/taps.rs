use std::ops::Range;

use mip_plan::{AxisMap, AxisTaps, Border};

use super::{Indices, OUTSIDE};

/// Which input rows an output row needs; the same for every input of a kernel.
///
/// The work on a row may be cut into passes, each naming at most [`Taps::MAX`] rows, so that a filter over a
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
    /// Any rows of a buffer, which the kernel finds for itself.
    Whole,
}

impl Taps {
    /// Rows a pass of a range reads at most.
    pub(crate) const RANGE: usize = 8;
    /// Rows any pass reads at most: a window of radius 15.
    pub(crate) const MAX: usize = 31;

    /// Number of passes over a row.
    pub(crate) fn passes(&self) -> usize {
        match self {
            Self::Range(table) => table.taps().div_ceil(Self::RANGE),
            Self::Same | Self::Mapped(_) | Self::Window { .. } | Self::Whole => 1,
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
            Self::Whole => 0,
        }
    }

    /// Tells all input rows of a range of output rows that are inside the image, as ranges, some perhaps twice. What it
    /// costs grows with the height only where rows are listed in a table.
    pub(crate) fn sources(&self, rows: Range<u32>, mut tell: impl FnMut(Range<u32>)) {
        if rows.is_empty() {
            return;
        }
        match self {
            Self::Same => tell(rows),
            Self::Mapped(AxisMap::Nearest { input, output }) if input > output => {
                let map = AxisMap::Nearest { input: *input, output: *output };
                rows.for_each(|y| tell(map.map(y)..map.map(y) + 1));
            }
            Self::Mapped(map @ (AxisMap::Step { step: 2.., .. } | AxisMap::Extend { .. })) => {
                rows.for_each(|y| tell(map.map(y)..map.map(y) + 1));
            }
            // Without gaps, upwards or downwards.
            Self::Mapped(map) => {
                let (first, last) = (map.map(rows.start), map.map(rows.end - 1));
                tell(first.min(last)..first.max(last) + 1);
            }
            Self::Window { radius, border, height } => {
                tell(rows.start.saturating_sub(*radius)..rows.end.saturating_add(*radius).min(*height));
                let above = i64::from(rows.start) - i64::from(*radius)..0;
                let below = i64::from(*height)..i64::from(rows.end) + i64::from(*radius);
                for row in above.chain(below).filter_map(|row| border.index(row, *height)) {
                    tell(row..row + 1);
                }
            }
            Self::Range(table) => {
                let taps = table.taps() as u32;
                let starts = &table.starts()[rows.start as usize..rows.end as usize];
                for &start in starts {
                    tell(start..start + taps);
                }
            }
            // They are there: a buffer is no stage's result.
            Self::Whole => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn sources_of_a_range_are_those_of_its_rows() {
        let height = 40;
        let windows =
            [Border::Reflect101, Border::Reflect, Border::Replicate, Border::Wrap, Border::Constant(0.0)];
        let windows = windows
            .into_iter()
            .flat_map(|border| [0, 1, 7, 15].map(|radius| Taps::Window { radius, border, height }));
        let map = |input, output| Taps::Mapped(AxisMap::Nearest { input, output });
        let maps = [map(40, 90), map(200, 40), map(40, 40), Taps::Mapped(AxisMap::Offset { first: 3 })];
        let outputs: Vec<Vec<(i64, f64)>> =
            (0..40).map(|i| (i..i + 20).map(|x| (x, 0.05)).collect()).collect();
        let table = Taps::Range(AxisTaps::from_contributions(60, &outputs));
        let step = |first, step, shift| Taps::Mapped(AxisMap::Step { first, step, shift, last: 60 });
        let maps = maps.into_iter().chain([
            step(0, 1, 1),
            step(3, 1, 0),
            step(1, 2, 0),
            step(0, 3, 1),
            step(30, 2, 0),
        ]);
        let others = [Taps::Same, Taps::Mapped(AxisMap::Flip { last: 39 }), table];
        for taps in windows.chain(maps).chain(others) {
            for rows in [0..1, 0..40, 3..9, 30..40, 39..40, 17..17] {
                let mut expected = BTreeSet::new();
                for (y, pass) in rows.clone().flat_map(|y| (0..taps.passes()).map(move |pass| (y, pass))) {
                    let mut indices = [0; Taps::MAX];
                    let count = taps.rows(y, pass, &mut indices);
                    expected.extend(indices[..count].iter().copied().filter(|&row| row != OUTSIDE));
                }
                let mut found = BTreeSet::new();
                taps.sources(rows.clone(), |rows| found.extend(rows));
                assert_eq!(found, expected, "{taps:?} {rows:?}");
            }
        }
    }
}
