use mip_runtime::device::Ranges;

use crate::driver::Nvtx;

/// What the host does, reported to NVTX.
#[derive(Debug)]
pub(super) struct NvtxRanges(pub(super) &'static Nvtx);

impl Ranges for NvtxRanges {
    fn push(&self, name: &str) {
        self.0.push(name);
    }

    fn pop(&self) {
        self.0.pop();
    }
}
