//! Row stages: what a kernel becomes on this device. A row stage computes one output row from the few input
//! rows it names beforehand.

mod blend;
mod borders;
pub(crate) mod byte_taps;
mod color;
mod gather;
mod gray;
mod lower;
mod point;
mod premultiply;
mod resample;
mod resample_u8;
mod row;
mod separable;
mod sobel;
mod taps;
mod vertical;

use std::fmt;

pub(crate) use lower::{Input, Lowering, RowStage, lower};
pub(crate) use row::{Row, RowMut};
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
}

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
    /// Which input rows are read.
    pub(crate) taps: &'a Taps,
    /// Finds them.
    pub(crate) source: &'a dyn RowSource,
}

/// Gives out the input rows of the stage that is being computed.
pub(crate) trait RowSource {
    /// Row `row` of input `operand`, which is among those its taps named.
    fn row(&self, operand: usize, row: u32) -> Row<'_>;
}

impl Job<'_> {
    /// The k-th input row of this pass; `None` outside a constant border.
    #[inline]
    pub(crate) fn tap(&self, k: usize) -> Option<Row<'_>> {
        self.taps.row(self.y, self.pass, k).map(|row| self.source.row(0, row))
    }

    /// The only input row of a kernel that reads its own row (or a mapped one) of `operand`.
    #[inline]
    pub(crate) fn own(&self, operand: usize) -> Row<'_> {
        let row = self.taps.row(self.y, 0, 0).expect("only windows have rows outside the image");
        self.source.row(operand, row)
    }
}
