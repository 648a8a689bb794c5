//! Row stages: what a kernel becomes on this device. A row stage computes one output row from the few input
//! rows it names beforehand.

mod blend;
mod borders;
pub(crate) mod byte_blur;
mod byte_maps;
pub(crate) mod byte_taps;
mod chain;
mod color;
mod crops;
mod expr;
mod from_rgb;
mod gather;
mod gray;
mod inside;
mod interpolation;
mod lower;
#[cfg(target_arch = "x86_64")]
mod median;
mod merge;
mod point;
mod premultiply;
mod resample;
mod resample_u8;
mod row;
mod sampled;
mod separable;
mod signed_alpha;
mod sobel;
mod taps;
mod vertical;
mod warp;
mod wide_sums;
mod yuv;

use std::fmt;

use mip_plan::Uniforms;

pub(crate) use chain::Chain;
pub(crate) use lower::{Input, Lowering, RowStage, is_fast_chroma, lower, lower_chroma};
pub(crate) use row::{Origin, Row, RowMut, RowShape};
pub(crate) use taps::Taps;

use crate::simd::Level;

/// Computes one row from input rows.
pub(crate) trait RowKernel: fmt::Debug + Send + Sync {
    /// Bytes of scratch that [`RowKernel::compute`] gets; kept from one pass of a row to the next.
    fn scratch_bytes(&self) -> usize {
        0
    }

    /// Computes the row `job.y` into `out`, or the part of the work that `job.pass` stands for.
    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>);

    /// Rows that take less time at once than one by one: 1, [`TOGETHER`] or [`BLOCK`]. More than 1 only for kernels with
    /// one pass, and one input unless they read whole images.
    fn together(&self) -> usize {
        1
    }

    /// Computes at most [`RowKernel::together`] rows that follow each other; of kernels where that is more than 1.
    fn compute_together(&self, _jobs: &[Job<'_>], _scratch: &mut [u8], _out: &mut [RowMut<'_>]) {
        unreachable!("one row at a time");
    }
}

/// Rows that some kernels compute at a time; a power of two.
pub(crate) const TOGETHER: usize = 4;

/// Rows, and columns, of the blocks in which images are transposed; a power of two.
pub(crate) const BLOCK: usize = 32;

/// One call of a row kernel.
pub(crate) struct Job<'a> {
    /// Instructions to use.
    pub(crate) level: Level,
    /// Index of the pass: see [`Taps::passes`].
    pub(crate) pass: usize,
    /// Output row.
    pub(crate) y: u32,
    /// Uniforms of the kernel.
    pub(crate) uniforms: &'a [f32],
    /// Those of all stages of the plan's group.
    pub(crate) all_uniforms: &'a [Uniforms],
    /// Where the rows of each input are.
    pub(crate) origins: [Origin<'a>; MAX_INPUTS],
    /// Which of them this pass reads.
    pub(crate) indices: &'a [Indices; MAX_INPUTS],
}

/// Inputs of a row stage at most.
pub(crate) const MAX_INPUTS: usize = mip_plan::Expr::MAX_INPUTS;

/// For each tap the position of its row in the input's [`Origin`], or [`OUTSIDE`].
pub(crate) type Indices = [u32; Taps::MAX];

/// Stands for a row outside the image, which holds the constant of the border.
pub(crate) const OUTSIDE: u32 = u32::MAX;

impl<'a> Job<'a> {
    /// The k-th input row of this pass; `None` outside a constant border.
    #[inline]
    pub(crate) fn tap(&self, k: usize) -> Option<Row<'a>> {
        let index = self.indices[0][k];
        (index != OUTSIDE).then(|| self.origins[0].row(index))
    }

    /// The only input row of a kernel that reads one row of each input.
    #[inline]
    pub(crate) fn own(&self, operand: usize) -> Row<'a> {
        self.origins[operand].row(self.indices[operand][0])
    }
}
