use super::Axis;

/// Copies the pixel at `(x.map(dst_x), y.map(dst_y))`: crop, flip, nearest-neighbour resize. Format, dtype
/// and layout stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}
