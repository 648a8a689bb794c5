//! What every kernel promises, in one place: which images it takes, what it reads of them, and what it costs. The planner,
//! the checker and the devices ask here.

use std::ops::Range;

use mip_core::{DType, ImageDesc};

use super::{AxisMap, AxisTaps, Border, Kernel, Point, Stencil, Warp, Whole};
use crate::expr::{Expr, Results};

/// One direction of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Along a row: columns.
    X,
    /// Along a column: rows.
    Y,
}

/// The neighbourhood that a kernel reads around each pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Columns to the left and to the right.
    pub radius_x: u32,
    /// Rows above and below.
    pub radius_y: u32,
    /// What it reads outside the image.
    pub border: Border,
}

/// Largest radius of a [`super::Separable`].
const MAX_RADIUS: u32 = 15;

impl Kernel {
    /// Whether the kernel can make `output` of `inputs` with so many uniforms. Devices rely on it: the plan checker asks
    /// for every stage.
    ///
    /// # Errors
    /// What does not fit, in words.
    pub fn check(&self, uniforms: usize, inputs: &[ImageDesc], output: ImageDesc) -> Result<(), String> {
        let count = self.input_count();
        let fits = || {
            ensure(inputs.len() == count, || format!("{} input(s) instead of {count}", inputs.len()))?;
            let expected = self.uniform_count().unwrap_or(uniforms);
            ensure(uniforms == expected, || format!("{uniforms} uniform(s) instead of {expected}"))?;
            self.check_numbers(inputs, &output)?;
            self.check_shapes(inputs, &output)
        };
        fits().map_err(|rule| {
            let from: Vec<String> = inputs.iter().map(ToString::to_string).collect();
            format!("{} from {} to {output}: {rule}", self.name(), from.join(", "))
        })
    }

    /// Samples of i32 hold more than binary32: they are moved as they are, or computed with pixel by pixel, where each is taken
    /// for the nearest binary32.
    fn check_numbers(&self, inputs: &[ImageDesc], output: &ImageDesc) -> Result<(), String> {
        let takes = match self {
            Self::Point(_)
            | Self::Gather(_)
            | Self::Warp(Warp::Transposed { .. })
            | Self::Whole(Whole::Integral(_))
            | Self::Custom(_) => true,
            Self::Warp(Warp::Sampled(_) | Warp::Crops(_))
            | Self::Resample(_)
            | Self::Separable(_)
            | Self::Stencil(_)
            | Self::Whole(_) => false,
        };
        let sums = inputs.iter().chain([output]).any(|desc| desc.dtype() == DType::I32);
        ensure(takes || !sums, || "i32 is only moved, or computed with pixel by pixel".into())
    }

    fn check_shapes(&self, inputs: &[ImageDesc], output: &ImageDesc) -> Result<(), String> {
        let Some(input) = inputs.first() else { return Ok(()) };
        let size = || ensure(inputs.iter().all(|i| same_size(i, output)), || "the size must stay".into());
        let dtype = || ensure(input.dtype() == output.dtype(), || "the dtype must stay".into());
        let format = || ensure(input.format() == output.format(), || "the format must stay".into());
        let layout = || ensure(input.layout() == output.layout(), || "the layout must stay".into());
        match self {
            Self::Point(k) => {
                size()?;
                ensure(k.expr.reach() == (0, 0), || "it reads pixels beside its own".into())?;
                check_expression(&k.expr, inputs, output)
            }
            Self::Gather(k) => {
                (dtype().and_then(|()| format()).and_then(|()| layout()))?;
                ensure(k.x.stays_inside(input.width(), output.width()), || {
                    "columns outside the source".into()
                })?;
                ensure(k.y.stays_inside(input.height(), output.height()), || "rows outside the source".into())
            }
            Self::Warp(k) => {
                (dtype().and_then(|()| format()).and_then(|()| layout()))?;
                k.check(inputs, output)
            }
            Self::Resample(k) => {
                let wide = k.x.has_wide() && k.y.has_wide();
                ensure(wide || !k.is_wide(input), || "negative weights without those in binary64".into())?;
                (dtype().and_then(|()| format()).and_then(|()| layout()))?;
                ensure(k.x.stays_inside(input.width(), output.width()), || {
                    "columns outside the source".into()
                })?;
                ensure(k.y.stays_inside(input.height(), output.height()), || "rows outside the source".into())
            }
            Self::Separable(k) => {
                (dtype().and_then(|()| format()).and_then(|()| layout()))?;
                size()?;
                ensure(k.radius_x.max(k.radius_y) <= MAX_RADIUS, || format!("radius above {MAX_RADIUS}"))
            }
            Self::Stencil(k) => {
                size()?;
                ensure(k.expr.input_count() == 1, || "a stencil reads one image".into())?;
                check_expression(&k.expr, inputs, output)
            }
            Self::Whole(k) => k.check(inputs, output),
            // A user's kernel may have any inputs and any output.
            Self::Custom(_) => Ok(()),
        }
    }

    /// Number of uniforms; `None` when that is the kernel's own business.
    pub fn uniform_count(&self) -> Option<usize> {
        match self {
            Self::Separable(k) => Some(k.radius_x as usize + k.radius_y as usize + 2),
            Self::Warp(k) => Some(k.uniform_count()),
            Self::Whole(k) => Some(k.uniform_count()),
            Self::Point(Point { expr }) | Self::Stencil(Stencil { expr, .. }) => Some(expr.uniforms().len()),
            Self::Gather(_) | Self::Resample(_) => Some(0),
            Self::Custom(_) => None,
        }
    }

    /// The expression it computes, if it is one.
    pub fn expression(&self) -> Option<&Expr> {
        match self {
            Self::Point(Point { expr }) | Self::Stencil(Stencil { expr, .. }) => Some(expr),
            Self::Gather(_)
            | Self::Warp(_)
            | Self::Resample(_)
            | Self::Separable(_)
            | Self::Whole(_)
            | Self::Custom(_) => None,
        }
    }

    /// The neighbourhood it reads, if it is a window.
    pub fn window(&self) -> Option<Window> {
        match self {
            Self::Separable(k) => {
                Some(Window { radius_x: k.radius_x, radius_y: k.radius_y, border: k.border })
            }
            Self::Stencil(k) => {
                let (radius_x, radius_y) = k.expr.reach();
                Some(Window { radius_x, radius_y, border: k.border })
            }
            Self::Point(_)
            | Self::Gather(_)
            | Self::Warp(_)
            | Self::Resample(_)
            | Self::Whole(_)
            | Self::Custom(_) => None,
        }
    }

    /// The source coordinates that a range of outputs reads along an axis. A window's lie outside the image near its edges,
    /// where its border says what is read. Outputs behind the last one count as the last one where coordinates come from a
    /// table. Of a kernel that reads the whole image ([`super::Access::Whole`]): all there can be.
    pub fn footprint(&self, axis: Axis, outputs: Range<i64>) -> Range<i64> {
        let Range { start, end } = outputs;
        match self {
            Self::Point(_) => start..end,
            Self::Gather(k) => k.along(axis).footprint(start..end),
            Self::Resample(k) => k.along(axis).footprint(start..end),
            Self::Separable(_) | Self::Stencil(_) => {
                let radius = i64::from(self.radius(axis));
                start - radius..end + radius
            }
            Self::Warp(_) | Self::Whole(_) | Self::Custom(_) => 0..i64::from(u32::MAX),
        }
    }

    /// The most source coordinates that `extent` outputs side by side read along an axis.
    pub fn extent(&self, axis: Axis, extent: u64) -> u64 {
        match self {
            Self::Point(_) => extent,
            Self::Gather(k) => k.along(axis).extent(extent),
            Self::Resample(k) => k.along(axis).extent(extent),
            Self::Separable(_) | Self::Stencil(_) => extent + 2 * u64::from(self.radius(axis)),
            Self::Warp(_) | Self::Whole(_) | Self::Custom(_) => u64::from(u32::MAX),
        }
    }

    /// Source coordinates that one output reads along an axis at once.
    pub fn taps(&self, axis: Axis) -> u64 {
        match self {
            Self::Point(_) | Self::Gather(_) | Self::Warp(_) | Self::Whole(_) | Self::Custom(_) => 1,
            Self::Resample(k) => k.along(axis).taps() as u64,
            Self::Separable(_) | Self::Stencil(_) => 2 * u64::from(self.radius(axis)) + 1,
        }
    }

    /// Binary32 operations for a sample of the result, a fused multiply-add counted as one; of a user's kernel nothing is
    /// known.
    pub fn operations(&self) -> f64 {
        match self {
            Self::Gather(_) => 1.0,
            Self::Warp(k) => k.operations(),
            Self::Whole(k) => k.operations(),
            // Rows between the two directions are made once for as many as there are source rows for a result.
            Self::Resample(k) => {
                let ends = k.y.starts().first().zip(k.y.starts().last());
                let rows = ends.map_or(0, |(first, last)| last.saturating_sub(*first) as usize + k.y.taps());
                k.x.taps() as f64 * rows as f64 / k.y.outputs().max(1) as f64 + k.y.taps() as f64
            }
            Self::Separable(k) => 2.0 * f64::from(k.radius_x + k.radius_y) + 2.0,
            Self::Point(Point { expr }) | Self::Stencil(Stencil { expr, .. }) => expression_operations(expr),
            Self::Custom(_) => 0.0,
        }
    }

    fn radius(&self, axis: Axis) -> u32 {
        self.window().map_or(0, |w| if axis == Axis::X { w.radius_x } else { w.radius_y })
    }
}

impl AxisMap {
    pub(super) fn stays_inside(self, input: u32, output: u32) -> bool {
        match self {
            Self::Offset { first } => first.checked_add(output).is_some_and(|end| end <= input),
            Self::Flip { last } => last < input && output <= last + 1,
            Self::Nearest { input: from, output: to } => (from, to) == (input, output),
            Self::Step { step, shift, last, .. } => shift < u32::BITS && step > 0 && last < input,
            Self::Extend { input: from, output: to, border, .. } => {
                (from, to) == (input, output) && !matches!(border, Border::Constant(_))
            }
        }
    }

    pub(super) fn footprint(self, outputs: Range<i64>) -> Range<i64> {
        let Range { start, end } = outputs;
        match self {
            Self::Offset { first } => start + i64::from(first)..end + i64::from(first),
            Self::Flip { last } => i64::from(last) - end + 1..i64::from(last) - start + 1,
            Self::Nearest { output, .. } => {
                let inside = |i: i64| i.clamp(0, i64::from(output) - 1) as u32;
                i64::from(self.map(inside(start)))..i64::from(self.map(inside(end - 1))) + 1
            }
            Self::Step { first, step, shift, last } => {
                let source =
                    |i: i64| (i64::from(first) + (i >> shift) * i64::from(step)).min(i64::from(last));
                source(start)..source(end - 1) + 1
            }
            Self::Extend { before, input, output, border } => {
                let inside = |i: i64| i.clamp(0, i64::from(output) - 1) - i64::from(before);
                extended(border, inside(start)..inside(end - 1) + 1, i64::from(input))
            }
        }
    }

    pub(super) fn extent(self, extent: u64) -> u64 {
        match self {
            Self::Offset { .. } | Self::Flip { .. } => extent,
            Self::Nearest { input, output } => {
                (extent * u64::from(input)).div_ceil(u64::from(output).max(1)) + 1
            }
            Self::Step { step, shift, .. } => {
                (extent.max(1) - 1).div_ceil(1 << shift.min(31)) * u64::from(step) + 1
            }
            // From one edge to the other at once.
            Self::Extend { border: Border::Wrap, input, .. } => u64::from(input),
            Self::Extend { input, .. } => extent.min(u64::from(input)),
        }
    }
}

/// What a range of coordinates stands for, some of them outside `0..n`: from the lowest to the highest.
fn extended(border: Border, range: Range<i64>, n: i64) -> Range<i64> {
    let Range { start, end } = range;
    let at = |i: i64| border.index(i, n as u32).map_or(0, i64::from);
    let ends = at(start).min(at(end - 1))..at(start).max(at(end - 1)) + 1;
    // Whether a coordinate that stands for an edge, which do so again and again, is among them.
    let meets = |edges: [i64; 2], period: i64| {
        edges.iter().any(|edge| start + (edge - start).rem_euclid(period) < end)
    };
    let turned = |first: [i64; 2], last: [i64; 2], period: i64| {
        let low = if meets(first, period) { 0 } else { ends.start };
        low..if meets(last, period) { n } else { ends.end }
    };
    match border {
        Border::Replicate | Border::Constant(_) => ends,
        Border::Reflect101 => turned([0; 2], [n - 1; 2], (2 * n - 2).max(1)),
        Border::Reflect => turned([0, -1], [n - 1, n], 2 * n),
        Border::Wrap => turned([0; 2], [n - 1; 2], n),
    }
}

impl AxisTaps {
    fn stays_inside(&self, input: u32, output: u32) -> bool {
        let inside = |start: &u32| *start as usize + self.taps() <= input as usize;
        self.outputs() == output as usize && self.starts().iter().all(inside)
    }

    /// The source coordinates that a range of outputs reads; outputs outside those there are count as the nearest one.
    pub fn footprint(&self, outputs: Range<i64>) -> Range<i64> {
        let start = |i: i64| i64::from(self.starts()[i.clamp(0, self.outputs() as i64 - 1) as usize]);
        start(outputs.start)..start(outputs.end - 1) + self.taps() as i64
    }

    fn extent(&self, extent: u64) -> u64 {
        let starts = self.starts();
        let Some(last) = starts.len().checked_sub(1) else { return 0 };
        let step = (extent as usize).max(1);
        let range = |first: usize| {
            let end = (first + step - 1).min(last);
            u64::from(starts[end].saturating_sub(starts[first])) + self.taps() as u64
        };
        (0..starts.len()).step_by(step).map(range).max().unwrap_or(0)
    }
}

fn ensure(holds: bool, rule: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(rule()) }
}

const fn same_size(a: &ImageDesc, b: &ImageDesc) -> bool {
    a.width() == b.width() && a.height() == b.height()
}

fn check_expression(expr: &Expr, inputs: &[ImageDesc], output: &ImageDesc) -> Result<(), String> {
    match expr.results() {
        Results::EachChannel(_) => {
            ensure(inputs[0].format() == output.format(), || "the format must stay".into())?;
            let keeps_alpha = output.format().has_alpha();
            ensure(!keeps_alpha || inputs[0].dtype() == output.dtype(), || {
                "alpha is kept, so the dtype must stay".into()
            })?;
        }
        Results::Channels(results) => {
            let (made, wanted) = (results.len(), output.channels());
            ensure(made == wanted, || format!("{made} result(s) for {wanted} channel(s)"))?;
        }
    }
    expr.resolve(inputs, output).map(drop)
}

fn expression_operations(expr: &Expr) -> f64 {
    let each = match expr.results() {
        Results::EachChannel(_) => 1,
        Results::Channels(results) => results.len(),
    };
    expr.operations() as f64 / each as f64 + 1.0
}
