use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Block, HostBlock, Resource, SpaceStats};
use crate::device::{Device, DeviceError, Memory, Space};

/// Straight to the device's driver, counting. Frees are counted when the memory is really gone.
#[derive(Debug)]
pub struct DriverResource {
    device: Arc<dyn Device>,
    space: Space,
    stats: Arc<Mutex<SpaceStats>>,
}

impl DriverResource {
    /// Memory of one space of a device.
    pub fn new(device: Arc<dyn Device>, space: Space) -> Self {
        Self { device, space, stats: Arc::default() }
    }
}

impl Resource for DriverResource {
    fn space(&self) -> Space {
        self.space
    }

    fn allocate(&self, bytes: usize) -> Result<Block, DeviceError> {
        let memory = self.device.allocate(self.space, bytes)?;
        let mut stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        stats.driver_allocations += 1;
        stats.misses += 1;
        stats.in_use += bytes;
        stats.reserved = stats.in_use;
        stats.peak = stats.peak.max(stats.in_use);
        stats.peak_in_use = stats.peak;
        Ok(Block::own(Arc::new(Counted { memory, bytes, stats: self.stats.clone() }), bytes))
    }

    fn trim(&self) -> usize {
        0
    }

    fn stats(&self) -> SpaceStats {
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The device's memory, whose last handle going away is counted in the statistics.
#[derive(Debug)]
struct Counted {
    memory: Arc<dyn Memory>,
    bytes: usize,
    stats: Arc<Mutex<SpaceStats>>,
}

impl Memory for Counted {
    fn len(&self) -> usize {
        self.memory.len()
    }

    fn space(&self) -> Space {
        self.memory.space()
    }

    fn host(&self) -> Option<&Arc<HostBlock>> {
        self.memory.host()
    }

    fn as_any(&self) -> &dyn Any {
        self.memory.as_any()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        stats.driver_frees += 1;
        stats.in_use -= self.bytes;
        stats.reserved = stats.in_use;
    }
}
