use std::fmt;

use serde::Serialize;

use super::Block;
use crate::device::{DeviceError, Space};

/// Something that hands out memory of one space. May be used from any thread.
pub trait Resource: fmt::Debug + Send + Sync {
    /// Kind of memory handed out.
    fn space(&self) -> Space;

    /// A block of at least `bytes` bytes, aligned to [`mip_core::ALIGNMENT`], with unspecified contents.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], or what the driver says.
    fn allocate(&self, bytes: usize) -> Result<Block, DeviceError>;

    /// Gives memory that nobody uses back to the driver; returns how many bytes.
    fn trim(&self) -> usize;

    /// Counters since creation.
    fn stats(&self) -> SpaceStats;
}

/// Counters of one memory space. Sizes are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SpaceStats {
    /// Allocations the driver was asked for and granted.
    pub driver_allocations: u64,
    /// Blocks given back to the driver.
    pub driver_frees: u64,
    /// Requests served from the cache.
    pub hits: u64,
    /// Requests the cache could not serve.
    pub misses: u64,
    /// Bytes handed out now.
    pub in_use: usize,
    /// Bytes held from the driver now: handed out or cached.
    pub reserved: usize,
    /// Most bytes ever handed out at once.
    pub peak_in_use: usize,
    /// Most bytes ever held from the driver at once.
    pub peak: usize,
}

impl SpaceStats {
    /// Both together; of peaks, which need not have come at the same time, the sum is an upper bound.
    pub(super) const fn plus(self, other: Self) -> Self {
        Self {
            driver_allocations: self.driver_allocations + other.driver_allocations,
            driver_frees: self.driver_frees + other.driver_frees,
            hits: self.hits + other.hits,
            misses: self.misses + other.misses,
            in_use: self.in_use + other.in_use,
            reserved: self.reserved + other.reserved,
            peak_in_use: self.peak_in_use + other.peak_in_use,
            peak: self.peak + other.peak,
        }
    }
}
