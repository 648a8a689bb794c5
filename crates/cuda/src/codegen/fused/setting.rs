use mip_core::{BatchLayout, DType, ImageDesc};
use mip_plan::{Border, Group, Kernel, Operand, Stage, Stencil};

use crate::codegen::point::stencil;
use crate::codegen::rank::median_side;
use crate::codegen::text::planar;

/// Neighbouring pixels of a row that a thread makes at once.
pub(super) const VECTOR: i64 = 4;
/// Warps of a block, one below the other.
pub(super) const WARPS: i64 = 4;

/// `a / b`, rounded up; `a` is not negative.
pub(super) const fn ceil(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

/// A group and what is known of the images it reads and writes.
pub(super) struct Setting<'a> {
    pub group: &'a Group,
    /// By buffer of the plan.
    pub layouts: &'a [BatchLayout],
}

impl Setting<'_> {
    pub(super) fn stage(&self, stage: usize) -> &Stage {
        &self.group.stages[stage]
    }

    pub(super) fn desc(&self, source: Operand) -> ImageDesc {
        match source {
            Operand::Buffer(id) => self.layouts[id].desc,
            Operand::Stage(stage) => self.group.stages[stage].output,
        }
    }

    /// The position of a buffer among the kernel's inputs.
    pub(super) fn input(&self, id: usize) -> usize {
        self.group.reads().iter().position(|&r| r == id).expect("a buffer the group reads")
    }

    pub(super) const fn stages(&self) -> usize {
        self.group.stages.len()
    }

    /// The stencil that a stage is, unless it is a sliding window.
    pub(super) fn stencil(&self, stage: usize) -> Option<&Stencil> {
        let stage = self.stage(stage);
        stencil(&stage.kernel, &self.desc(*stage.inputs.first()?), &stage.output)
    }

    /// Stages that read a source.
    pub(super) fn consumers(&self, source: Operand) -> impl Iterator<Item = usize> + '_ {
        (0..self.stages()).filter(move |&s| self.stage(s).inputs.contains(&source))
    }

    pub(super) fn batch(&self) -> usize {
        self.group.writes().first().map_or(1, |&id| self.layouts[id].batch_size)
    }

    /// The stages whose results are written to memory, in the order of [`Group::writes`].
    pub(super) fn stored(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.stages()).filter(|&s| self.stage(s).store.is_some())
    }
}

/// Whether a border's constant is a value of the dtype.
pub(in super::super) fn is_sample(border: Border, dtype: DType) -> bool {
    match border {
        Border::Constant(value) => dtype == DType::F32 || dtype.rounded(value) == value,
        Border::Reflect101 | Border::Reflect | Border::Replicate | Border::Wrap => true,
    }
}

/// Most numbers of a window, or of a resampling, that a thread keeps in registers.
const MAX_KEPT: usize = 96;
const MAX_TAPS: usize = 4;
const MAX_RADIUS: u32 = 5;

/// Why a stage cannot be part of a fused kernel, if it cannot.
pub(super) fn refusal(setting: &Setting<'_>, index: usize) -> Option<String> {
    let stage = setting.stage(index);
    let input = stage.inputs.first().map(|&source| setting.desc(source))?;
    let inputs = stage.inputs.iter().map(|&source| setting.desc(source));
    if inputs.chain([stage.output]).any(|desc| desc.dtype() == DType::I32) {
        return Some("i32 has more bits than what registers hold of samples".to_owned());
    }
    let vector = VECTOR as usize * input.channels();
    match &stage.kernel {
        Kernel::Custom(kernel) => Some(format!("custom kernel '{}' sees whole images", kernel.name())),
        Kernel::Whole(k) => Some(format!("'{}' sees whole images", k.name())),
        Kernel::Warp(_) => Some("a warp reads a whole image".to_owned()),
        Kernel::Point(_) | Kernel::Gather(_) => None,
        Kernel::Stencil(_) if median_side(&stage.kernel, &input, &stage.output).is_some() => {
            Some("a median of bytes is found four at a time, by a kernel of its own".to_owned())
        }
        Kernel::Stencil(k) => wrapped(k.border),
        Kernel::Separable(k) => {
            let kept = (2 * k.radius_y as usize + 1) * vector;
            if k.radius_x > MAX_RADIUS || kept > MAX_KEPT {
                let (rx, ry) = (k.radius_x, k.radius_y);
                return Some(format!("a window of radius {rx}x{ry} on {input} does not fit in registers"));
            }
            wrapped(k.border)
        }
        Kernel::Resample(k) => {
            let (tx, ty) = (k.x.taps(), k.y.taps());
            if k.is_wide(&input) {
                return Some("resampling in binary64 does not fit in registers".to_owned());
            }
            let ascending = |starts: &[u32]| starts.is_sorted();
            if tx > MAX_TAPS || ty > MAX_TAPS {
                return Some(format!("resampling with {tx}x{ty} taps does not fit in registers"));
            }
            (!ascending(k.x.starts()) || !ascending(k.y.starts()))
                .then(|| "resampling whose sources do not ascend".to_owned())
        }
    }
}

fn wrapped(border: Border) -> Option<String> {
    matches!(border, Border::Wrap).then(|| "a wrapped border reads the far side of the image".to_owned())
}

/// Whether bytes of a buffer can be copied to shared memory as they are.
pub(super) fn copies_raw(desc: &ImageDesc) -> bool {
    !planar(desc)
}
