//! The kernels: one file a family, each with the definition that every backend follows.

mod border;
mod contract;
mod coordinates;
mod crops;
mod custom;
mod gather;
mod median;
mod point;
mod resample;
mod stencil;
mod warp;
mod whole;
mod window;
mod yuv;

use std::sync::Arc;

pub use border::Border;
pub use contract::{Axis, Window};
pub use coordinates::{Coordinates, MapUnit};
pub use crops::{CropFilter, Crops, Span};
pub use custom::{CustomError, CustomKernel};
pub use gather::{AxisMap, Gather};
pub use median::median_of;
pub use point::{ChannelMap, Known, Point};
pub use resample::{AxisTaps, Resample};
pub use stencil::Stencil;
pub use warp::{Interpolation, Sampled, Warp};
pub(crate) use whole::colors;
pub use whole::{
    Above, Automatic, Boxes, Canny, Connectivity, Distance, Histogram, Integral, Labels, Lookup, Median,
    Metric, Regions, Rule, Table, Tile, TileGrid, Whole, WholeOrder,
};
pub use window::Separable;
pub use yuv::{YuvFactors, YuvSample};

/// Parameters that may change between executions without a new plan: numbers whose count and meaning the
/// kernel's documentation fixes.
pub type Uniforms = Arc<[f32]>;

/// One computation on pixels. Two kernels are equal when they need the same code and tables; uniforms are
/// not part of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub enum Kernel {
    /// Reads its own pixel.
    Point(Point),
    /// Reads one computed pixel.
    Gather(Gather),
    /// Reads or interpolates pixels at coordinates that mix x and y.
    Warp(Warp),
    /// Weighted sums over computed ranges, separable in x and y.
    Resample(Resample),
    /// Symmetric separable filter over a fixed neighbourhood.
    Separable(Separable),
    /// An expression of a fixed neighbourhood.
    Stencil(Stencil),
    /// What must see a whole image: counts, tables and lookups, connected regions, distances.
    Whole(Whole),
    /// A user's own code.
    Custom(Arc<dyn CustomKernel>),
}

/// How a kernel reads its input; all that the planner needs for fusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The pixel at the output's own coordinates.
    Point,
    /// One pixel, or a small computed range, at coordinates that depend only on the output's coordinates.
    Gather,
    /// The neighbourhood within `radius_x`, `radius_y` of the output's own coordinates.
    Window {
        /// Columns to the left and to the right.
        radius_x: u32,
        /// Rows above and below.
        radius_y: u32,
    },
    /// Anything: the whole input must exist first.
    Whole,
}

impl Kernel {
    /// How this kernel reads its input.
    pub fn access(&self) -> Access {
        match self {
            Self::Point(_) => Access::Point,
            Self::Gather(_) | Self::Resample(_) => Access::Gather,
            Self::Separable(_) | Self::Stencil(_) => {
                let (radius_x, radius_y) = self.window().map_or((0, 0), |w| (w.radius_x, w.radius_y));
                Access::Window { radius_x, radius_y }
            }
            Self::Warp(_) | Self::Whole(_) | Self::Custom(_) => Access::Whole,
        }
    }

    /// Number of input images.
    pub fn input_count(&self) -> usize {
        match self {
            Self::Point(k) => k.expr.input_count(),
            Self::Gather(_) | Self::Resample(_) | Self::Separable(_) | Self::Stencil(_) => 1,
            Self::Warp(k) => k.input_count(),
            Self::Whole(k) => k.input_count(),
            Self::Custom(k) => k.input_count(),
        }
    }

    /// Whether both are the same computation but for where a crop begins and for the values in tables of equal sizes, so
    /// that they may well need the same code. A user's own kernel is like no other.
    pub fn same_program(&self, other: &Self) -> bool {
        let table = |a: &AxisTaps, b: &AxisTaps| (a.taps(), a.outputs()) == (b.taps(), b.outputs());
        match (self, other) {
            (Self::Gather(a), Self::Gather(b)) => a.x.same_program(b.x) && a.y.same_program(b.y),
            (Self::Warp(a), Self::Warp(b)) => a.same_program(b),
            (Self::Point(a), Self::Point(b)) => a.expr.same_program(&b.expr),
            (Self::Stencil(a), Self::Stencil(b)) => a.border == b.border && a.expr.same_program(&b.expr),
            (Self::Resample(a), Self::Resample(b)) => table(&a.x, &b.x) && table(&a.y, &b.y),
            (Self::Custom(_), _) => false,
            _ => self == other,
        }
    }

    /// A short name for plans, generated code and profiles.
    pub fn name(&self) -> &str {
        match self {
            Self::Point(_) => "point",
            Self::Gather(_) => "gather",
            Self::Warp(_) => "warp",
            Self::Resample(_) => "resample",
            Self::Separable(_) => "separable",
            Self::Stencil(_) => "stencil",
            Self::Whole(k) => k.name(),
            Self::Custom(k) => k.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crops_of_any_place_are_the_same_program() {
        let crop =
            |first, last| Kernel::Gather(Gather { x: AxisMap::Offset { first }, y: AxisMap::Flip { last } });
        assert!(crop(1, 9).same_program(&crop(700, 9)));
        assert!(!crop(1, 9).same_program(&crop(1, 8)), "a mirrored axis is part of the code");
        assert!(!crop(1, 9).same_program(&Kernel::Point(Point::copy())));
        let resize = |weights: &[(i64, f64)]| {
            let x = AxisTaps::from_contributions(8, &[weights.to_vec()]);
            Kernel::Resample(Resample { y: x.clone(), x })
        };
        let [half, third, three] =
            [&[(0, 0.5), (1, 0.5)][..], &[(5, 0.3), (6, 0.7)], &[(0, 0.2), (1, 0.2), (2, 0.6)]].map(resize);
        assert!(half.same_program(&third) && half != third);
        assert!(!half.same_program(&three), "another number of taps");
    }
}
