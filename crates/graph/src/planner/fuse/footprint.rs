//! What part of each stage a tile of the results needs.

use mip_core::ImageDesc;
use mip_plan::{Access, Axis, Kernel};

use crate::planner::draft::{Draft, DraftValue, StageId};

/// Part of a stage's result.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Part {
    /// Columns.
    pub(super) width: u64,
    /// Rows.
    pub(super) height: u64,
    /// Pixels computed for it, repetitions included.
    pub(super) pixels: f64,
    /// Whether it lies on the chip as a whole; otherwise each pixel is computed where it is read.
    pub(super) kept: bool,
    /// Whether stages of the group read it.
    pub(super) read: bool,
}

/// The part of each member's result that a tile of `width` by `height` pixels of everything stored needs.
///
/// `members` are stages of a group in topological order. Windows need their margin, resamplings the range their
/// taps reach. Results that windows read are kept on the chip, and so are those that resamplings and gathers
/// read, unless they are computed from single pixels of the group's inputs: those are computed at each read.
pub(super) fn parts(
    draft: &Draft<'_>,
    members: &[StageId],
    stored: impl Fn(StageId) -> bool,
    (width, height): (u32, u32),
) -> Vec<Part> {
    let points = points(draft, members);
    let position = |stage: StageId| members.binary_search(&stage).ok();
    let mut parts = vec![Part::default(); members.len()];
    for index in (0..members.len()).rev() {
        let stage = &draft.stages[members[index]];
        let part = &mut parts[index];
        let size = stage.output;
        if stored(members[index]) {
            part.width = part.width.max(width.min(size.width()).into());
            part.height = part.height.max(height.min(size.height()).into());
        }
        let whole = (part.width * part.height) as f64;
        // What is stored is computed for the whole tile anyway; what lies there is computed once.
        part.pixels = if part.kept {
            whole
        } else if stored(members[index]) {
            part.pixels.max(whole)
        } else {
            part.pixels
        };
        let part = *part;
        for input in &stage.inputs {
            let DraftValue::Stage(read) = *input else { continue };
            let Some(producer) = position(read) else { continue };
            let (width, height) = reach(&stage.kernel, part, &draft.stages[read].output);
            let from = &mut parts[producer];
            from.width = from.width.max(width);
            from.height = from.height.max(height);
            from.pixels = from.pixels.max(part.pixels * reads(&stage.kernel));
            from.read = true;
            from.kept |= match stage.kernel.access() {
                Access::Point => false,
                Access::Gather => !points[producer],
                Access::Window { .. } | Access::Whole => true,
            };
        }
    }
    parts
}

/// Which members are computed from single pixels of what the group reads: maps and gathers all the way.
pub(super) fn points(draft: &Draft<'_>, members: &[StageId]) -> Vec<bool> {
    let mut points: Vec<bool> = Vec::with_capacity(members.len());
    for &member in members {
        let stage = &draft.stages[member];
        let own = matches!(stage.kernel, Kernel::Point(_) | Kernel::Gather(_));
        let inputs = stage.inputs.iter().filter_map(|input| match *input {
            DraftValue::Stage(read) => members.binary_search(&read).ok(),
            DraftValue::Input(_) => None,
        });
        points.push(own && inputs.into_iter().all(|input| points[input]));
    }
    points
}

/// Pixels of its input that one pixel of a kernel reads.
fn reads(kernel: &Kernel) -> f64 {
    match kernel {
        Kernel::Resample(k) => (k.x.taps() * k.y.taps()) as f64,
        // What a window reads lies on the chip.
        Kernel::Point(_)
        | Kernel::Gather(_)
        | Kernel::Warp(_)
        | Kernel::Separable(_)
        | Kernel::Stencil(_)
        | Kernel::Whole(_)
        | Kernel::Custom(_) => 1.0,
    }
}

/// Columns and rows of an input that a part of the output needs, at most.
fn reach(kernel: &Kernel, part: Part, input: &ImageDesc) -> (u64, u64) {
    let (width, height) = (kernel.extent(Axis::X, part.width), kernel.extent(Axis::Y, part.height));
    (width.min(input.width().into()), height.min(input.height().into()))
}
