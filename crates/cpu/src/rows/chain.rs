//! Two row kernels as one: a row that only the same row of one other stage reads needs no cache and no look-up.

use std::sync::Arc;

use super::row::{Origin, RowMut, RowShape};
use super::{Job, MAX_INPUTS, RowKernel, RowStage, Taps};

/// Computes a row of the first kernel into scratch, and the second kernel's row from that.
#[derive(Debug)]
pub(crate) struct Chain {
    first: Arc<dyn RowKernel>,
    second: Arc<dyn RowKernel>,
    /// Index of the plan's stage whose uniforms the second takes.
    uniforms: usize,
    /// The row between them.
    middle: RowShape,
}

impl Chain {
    /// `first` followed by `second`, its only reader; `None` when they do not go row by row.
    pub(crate) fn join(first: &RowStage, second: &RowStage) -> Option<RowStage> {
        let plain = |stage: &RowStage| stage.passes == 1 && stage.together == 1;
        if !plain(first) || !plain(second) || second.inputs.len() != 1 || !matches!(second.taps, Taps::Same) {
            return None;
        }
        let chain = Self {
            first: first.kernel.clone(),
            second: second.kernel.clone(),
            uniforms: second.uniforms,
            middle: first.shape,
        };
        Some(RowStage {
            kernel: Arc::new(chain),
            taps: first.taps.clone(),
            inputs: first.inputs.clone(),
            uniforms: first.uniforms,
            ..second.clone()
        })
    }
}

impl RowKernel for Chain {
    fn scratch_bytes(&self) -> usize {
        let first = self.first.scratch_bytes().next_multiple_of(mip_core::ALIGNMENT);
        self.middle.slot() + first + self.second.scratch_bytes()
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let (middle, scratch) = scratch.split_at_mut(self.middle.slot());
        let own = self.first.scratch_bytes();
        let (first, second) = scratch.split_at_mut(own.next_multiple_of(mip_core::ALIGNMENT));
        self.first.compute(job, &mut first[..own], &mut self.middle.row_mut(middle));
        let RowShape { bytes, stride, .. } = self.middle;
        let origin = Origin { data: middle, start: 0, advance: 0, stride, bytes };
        let job = Job {
            uniforms: &job.all_uniforms[self.uniforms],
            origins: [origin; MAX_INPUTS],
            indices: &[[0; Taps::MAX]; MAX_INPUTS],
            ..*job
        };
        self.second.compute(&job, second, out);
    }
}
