//! What devices execute, as plain data.
//!
//! Operators lower to a small set of [`Kernel`]s whose doc comments fix the arithmetic down to the order of
//! operations; the planner puts kernels into [`Group`]s and groups into a [`Plan`]; backends execute groups
//! and know nothing of operators or graphs. Whoever implements a kernel, on whatever machine, produces the
//! same bytes because the definition stands here and nowhere else.
//!
//! # The rules all kernels share
//! * Samples are widened to binary32 ([`mip_core::Sample::to_f32`], exact for u8 and u16), arithmetic is
//!   binary32 in exactly the order written, and each kernel ends with one [`mip_core::Sample::from_f32`] to
//!   its output type. An implementation may use any other arithmetic that gives the same bytes.
//! * `fma(a, b, c)` is the correctly rounded `a*b + c`. Nothing else is ever contracted.
//! * `/` and `sqrt` are the correctly rounded IEEE operations.
//! * Filters in two directions go horizontally first; the intermediate stays binary32, unrounded.

#![forbid(unsafe_code)]

mod eval;
mod expr;
mod group;
mod kernel;
mod plan;
mod tiling;

pub use eval::{RowBands, RowScratch, WholeRows, evaluate, whole_frame};
pub use expr::{
    Binary, Bits, Channel, Compare, Expr, ExprBuilder, Function, LookupTable, Offset, Op, Results, Unary,
    ValueId, luma,
};
pub use group::{Group, GroupId, Operand, Stage, Workspace};
pub use kernel::{
    Above, Access, Automatic, Axis, AxisMap, AxisTaps, Border, Boxes, Canny, ChannelMap, Connectivity,
    Coordinates, CropFilter, Crops, CustomError, CustomKernel, Distance, Gather, Histogram, Integral,
    Interpolation, Kernel, Known, Labels, Lookup, MapUnit, Median, Metric, Point, Regions, Resample, Rule,
    Sampled, Separable, Span, Stencil, Table, Tile, TileGrid, Uniforms, Warp, Whole, WholeOrder, Window,
    YuvFactors, YuvSample, median_of,
};
pub use plan::{Buffer, BufferId, EdgeDecision, Place, Plan, PlanInput, PlanOutput, PlanTask, TaskId, Wait};
pub use tiling::{Tiles, Tiling};

/// README's program, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
