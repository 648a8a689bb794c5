use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mip_core::ALIGNMENT;

use mip_core::MemoryBudget;

use super::limit::refused;
use super::{Block, HostBlock, SpaceStats};
use crate::device::{Device, DeviceError, Memory, Space, Stream};

/// Memory from the device's stream-ordered allocator, which keeps a pool of its own.
///
/// The allocator is asked each time; what counts as a driver allocation is a request for which its pool had to
/// grow. Out of memory, it waits for the device, gives back what is unused and tries once more.
#[derive(Debug)]
pub struct StreamOrderedResource {
    device: Arc<dyn Device>,
    /// Shared with whoever else takes device memory.
    budget: Option<Arc<MemoryBudget>>,
    state: Arc<Mutex<PoolState>>,
}

#[derive(Debug, Default)]
struct PoolState {
    stats: SpaceStats,
    /// Bytes that the allocator's pool held when it was last asked.
    reserved: usize,
    closed: Option<String>,
}

impl StreamOrderedResource {
    /// The allocator of `device`, within a budget if there is one.
    pub fn new(device: Arc<dyn Device>, budget: Option<Arc<MemoryBudget>>) -> Self {
        Self { device, budget, state: Arc::default() }
    }

    /// Memory for what is queued on `stream` from now on.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], or what the driver says.
    pub fn allocate_on(&self, stream: &dyn Stream, bytes: usize) -> Result<Block, DeviceError> {
        let need = bytes.max(1).checked_next_multiple_of(ALIGNMENT).unwrap_or(bytes);
        self.claim(need)?;
        let memory = stream.allocate(need).or_else(|error| match error {
            DeviceError::OutOfMemory { .. } => {
                self.device.synchronize()?;
                self.trim();
                stream.allocate(need)
            }
            other => Err(other),
        });
        let reserved = self.device.stream_ordered_reserved();
        let memory = memory.map_err(|error| {
            let in_use = give_back(&self.state, self.budget.as_deref(), need);
            let limit = self.budget.as_deref().map(MemoryBudget::limit);
            match error {
                DeviceError::OutOfMemory { space, requested, .. } => {
                    DeviceError::OutOfMemory { space, requested, in_use, reserved, limit }
                }
                other => other,
            }
        })?;
        let mut state = self.lock();
        let grown = reserved > std::mem::replace(&mut state.reserved, reserved);
        let stats = &mut state.stats;
        if grown {
            stats.driver_allocations += 1;
            stats.misses += 1;
        } else {
            stats.hits += 1;
        }
        stats.peak_in_use = stats.peak_in_use.max(stats.in_use);
        stats.peak = stats.peak.max(reserved);
        let (state, budget) = (self.state.clone(), self.budget.clone());
        let counted = Counted { memory, bytes: need, state, budget };
        Ok(Block::own(Arc::new(counted), bytes))
    }

    /// Counts the bytes as used before asking for them.
    fn claim(&self, bytes: usize) -> Result<(), DeviceError> {
        let mut state = self.lock();
        if let Some(reason) = &state.closed {
            return Err(DeviceError::Unsupported(reason.clone()));
        }
        if let Some(budget) = &self.budget {
            budget.claim(bytes).map_err(|over| refused(Space::Device, &over))?;
        }
        state.stats.in_use += bytes;
        Ok(())
    }

    /// Refuses every later allocation with `reason`. Blocks handed out stay valid.
    pub fn close(&self, reason: &str) {
        self.lock().closed = Some(reason.to_owned());
        self.trim();
    }

    /// Gives memory that nobody uses back to the driver; returns how many bytes.
    pub fn trim(&self) -> usize {
        let bytes = self.device.trim_stream_ordered();
        let reserved = self.device.stream_ordered_reserved();
        let mut state = self.lock();
        state.reserved = reserved;
        state.stats.driver_frees += u64::from(bytes > 0);
        bytes
    }

    /// Counters since creation.
    pub fn stats(&self) -> SpaceStats {
        SpaceStats { reserved: self.device.stream_ordered_reserved(), ..self.lock().stats }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The device's memory. In use until the last handle is gone: commands hold theirs until they have ended.
#[derive(Debug)]
struct Counted {
    memory: Arc<dyn Memory>,
    bytes: usize,
    state: Arc<Mutex<PoolState>>,
    budget: Option<Arc<MemoryBudget>>,
}

/// Counts bytes as no longer used; how many still are.
fn give_back(state: &Mutex<PoolState>, budget: Option<&MemoryBudget>, bytes: usize) -> usize {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    state.stats.in_use -= bytes;
    if let Some(budget) = budget {
        budget.release(bytes);
    }
    state.stats.in_use
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
        give_back(&self.state, self.budget.as_deref(), self.bytes);
    }
}
