use super::{Axis, Border};

/// Copies the pixel at `(x.map(dst_x), y.map(dst_y))`: crop, pad, flip, nearest-neighbour resize. Format, dtype
/// and layout stay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gather {
    /// Source column of an output column.
    pub x: AxisMap,
    /// Source row of an output row.
    pub y: AxisMap,
}

impl Gather {
    /// The coordinates along an axis.
    pub const fn along(&self, axis: Axis) -> AxisMap {
        match axis {
            Axis::X => self.x,
            Axis::Y => self.y,
        }
    }
}

/// Source coordinate of an output coordinate along one axis, in integers; always inside the source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AxisMap {
    /// `first + i`.
    Offset {
        /// Source coordinate of output 0.
        first: u32,
    },
    /// `last - i`: mirrored.
    Flip {
        /// Source coordinate of output 0.
        last: u32,
    },
    /// `floor((2 i + 1) * input / (2 * output))`, in 64-bit integers (sides are at most `i32::MAX`).
    Nearest {
        /// Source extent.
        input: u32,
        /// Output extent.
        output: u32,
    },
    /// `min(first + (i >> shift) * step, last)`: samples of one kind among others, each for several outputs. How chroma is
    /// read that several pixels share, where its samples lie side by side or take turns; and how every second pixel is.
    Step {
        /// Source coordinate of output 0.
        first: u32,
        /// From one source coordinate to the next, at least 1.
        step: u32,
        /// Outputs that share a source coordinate, as a power of two; less than 32.
        shift: u32,
        /// The largest source coordinate.
        last: u32,
    },
    /// `border.index(i - before, input)`: the source continued beyond its edges. Never a constant border; see
    /// [`super::Point::inside`].
    Extend {
        /// Outputs before source coordinate 0.
        before: u32,
        /// Source extent.
        input: u32,
        /// Output extent.
        output: u32,
        /// What lies beyond the edges.
        border: Border,
    },
}

impl AxisMap {
    /// Whether both are the same but for where a crop begins.
    pub(super) fn same_program(self, other: Self) -> bool {
        matches!((self, other), (Self::Offset { .. }, Self::Offset { .. })) || self == other
    }

    /// The source coordinate of output coordinate `i`.
    #[inline]
    pub const fn map(self, i: u32) -> u32 {
        match self {
            Self::Offset { first } => first + i,
            Self::Flip { last } => last - i,
            Self::Nearest { input, output } => {
                ((2 * i as u64 + 1) * input as u64 / (2 * output as u64)) as u32
            }
            Self::Step { first, step, shift, last } => {
                let source = first as u64 + (i >> shift) as u64 * step as u64;
                if source < last as u64 { source as u32 } else { last }
            }
            Self::Extend { before, input, border, .. } => {
                match border.index(i as i64 - before as i64, input) {
                    Some(source) => source,
                    None => 0,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_is_exact_where_floats_are_not() {
        assert_eq!(AxisMap::Nearest { input: 128, output: 160 }.map(7), 6);
        let longest = i32::MAX as u32;
        assert_eq!(AxisMap::Nearest { input: longest, output: longest }.map(longest - 1), longest - 1);
    }

    #[test]
    fn steps_read_what_takes_turns_and_is_shared() {
        // V of U V U V, for five pixels of which two share a sample; the Ys of Y U Y V.
        let last = u32::MAX - 1;
        let v = AxisMap::Step { first: 1, step: 2, shift: 1, last: 5 };
        assert_eq!([0, 1, 2, 3, 4].map(|i| v.map(i)), [1, 1, 3, 3, 5]);
        assert!(v.stays_inside(6, 5) && v.stays_inside(6, 70) && !v.stays_inside(5, 5));
        let y = AxisMap::Step { first: 0, step: 2, shift: 0, last };
        assert_eq!([0, 1, 2].map(|i| y.map(i)), [0, 2, 4]);
        // The second pixels of pairs, where the last pair is one pixel.
        let second = AxisMap::Step { first: 1, step: 2, shift: 0, last: 4 };
        assert_eq!([0, 1, 2, 3].map(|i| second.map(i)), [1, 3, 4, 4]);
        for map in [v, y, second] {
            for (start, end) in [(0_i64, 1), (0, 5), (3, 4), (1, 4), (2, 6)] {
                let read: Vec<i64> = (start..end).map(|i| i64::from(map.map(i as u32))).collect();
                let (low, high) = (read[0], read[read.len() - 1] + 1);
                assert_eq!(map.footprint(start..end), low..high);
                assert!(map.extent((end - start) as u64) >= (high - low) as u64);
            }
        }
        let longest = AxisMap::Step { first: u32::MAX, step: u32::MAX, shift: 0, last };
        assert_eq!(longest.map(u32::MAX), last);
        assert!(longest.stays_inside(u32::MAX, u32::MAX));
        assert!(!AxisMap::Step { first: 0, step: 1, shift: 32, last: 8 }.stays_inside(9, 9));
        assert!(!AxisMap::Step { first: 0, step: 0, shift: 0, last: 8 }.stays_inside(9, 9));
    }
}
