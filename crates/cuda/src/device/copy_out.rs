//! Downloads by a kernel that writes over the bus, for small results.
//!
//! On one H200 (docs/performance/video.md) 0.9 MB are with the host some microseconds sooner than by a copy engine, where a frame is
//! alone; with several under way the bus is what they wait for, and copy engines leave the multiprocessors to the others. Nothing
//! waits for the kernel to be compiled on the way to a first result: it is made when copies turn out to come again and again.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::shared::Shared;
use crate::driver::{DriverError, Function, LaunchShape, Module, RawStream};

/// The kernel.
pub(crate) const SOURCE: &str = include_str!("../kernels/copy_out.cu");

/// Most bytes of a copy: beyond, the copy engine's later begin no longer counts, and multiprocessors are of better use.
const MOST: usize = 4 << 20;
/// Copies of this size after which the kernel is made.
const OFTEN: u32 = 16;
/// Blocks, of 128 threads: as many as it takes to fill the bus.
const BLOCKS: u32 = 32;
const THREADS: u32 = 128;
/// Bytes that a thread moves at once.
const PIECE: u64 = 16;

/// The kernel of a device.
#[derive(Debug, Default)]
pub(super) struct CopyOut {
    asked: AtomicU32,
    /// `None` where it cannot be compiled: copy engines do it then.
    function: OnceLock<Option<Function>>,
}

impl CopyOut {
    /// Whether it may be of use for so many bytes.
    pub(super) const fn is_for(bytes: usize) -> bool {
        bytes <= MOST
    }

    /// Queues a copy between addresses of the device's, one of them pinned memory's; `None` where a copy engine is to do it. The
    /// caller keeps both allocated until the stream is past it.
    pub(super) fn queue(
        &self,
        shared: &Shared,
        stream: &RawStream,
        [from, to]: [u64; 2],
        bytes: usize,
    ) -> Option<Result<(), DriverError>> {
        if !Self::is_for(bytes) || !(from | to).is_multiple_of(PIECE) {
            return None;
        }
        if self.asked.load(Ordering::Relaxed) < OFTEN {
            self.asked.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let function = self.function.get_or_init(|| compile(shared)).as_ref()?;
        let shape = LaunchShape { grid: [BLOCKS, 1, 1], block: [THREADS, 1], shared: 0 };
        Some(function.launch(stream, shape, &[from, to, bytes as u64]))
    }
}

fn compile(shared: &Shared) -> Option<Function> {
    let cubin = shared.compiler.cubin(SOURCE).ok()?;
    let load = |cubin: &[u8]| Module::load(&shared.context, cubin)?.function("copy_out");
    // An entry of the cache that the driver refuses is made anew.
    load(&cubin).ok().or_else(|| load(&shared.compiler.fresh_cubin(SOURCE).ok()?).ok())
}
