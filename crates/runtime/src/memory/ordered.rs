use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mip_core::ALIGNMENT;

use super::{Block, HostBlock, SpaceStats};
use crate::device::{Device, DeviceError, Memory, Space, Stream};

/// Memory from the device's stream-ordered allocator, which keeps a pool of its own.
///
/// The allocator is asked each time; what counts as a driver allocation is a request for which its pool had to
/// grow. Out of memory, it waits for the device, gives back what is unused and tries once more.
#[derive(Debug)]
pub struct StreamOrderedResource {
    device: Arc<dyn Device>,
    ledger: Arc<Mutex<Ledger>>,
}

#[derive(Debug, Default)]
struct Ledger {
    stats: SpaceStats,
    closed: Option<String>,
}

impl StreamOrderedResource {
    /// The allocator of `device`.
    pub fn new(device: Arc<dyn Device>) -> Self {
        Self { device, ledger: Arc::default() }
    }

    /// Memory for what is queued on `stream` from now on, if then no more than `limit` bytes are in use.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], or what the driver says.
    pub fn allocate_on(
        &self,
        stream: &dyn Stream,
        bytes: usize,
        limit: Option<usize>,
    ) -> Result<Block, DeviceError> {
        let need = bytes.max(1).checked_next_multiple_of(ALIGNMENT).unwrap_or(bytes);
        self.claim(need, limit)?;
        let before = self.device.stream_ordered_reserved();
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
            let mut ledger = self.lock();
            ledger.stats.in_use -= need;
            match error {
                DeviceError::OutOfMemory { space, requested, .. } => {
                    let in_use = ledger.stats.in_use;
                    DeviceError::OutOfMemory { space, requested, in_use, reserved, limit }
                }
                other => other,
            }
        })?;
        let mut ledger = self.lock();
        let stats = &mut ledger.stats;
        if reserved > before {
            stats.driver_allocations += 1;
            stats.misses += 1;
        } else {
            stats.hits += 1;
        }
        stats.peak_in_use = stats.peak_in_use.max(stats.in_use);
        stats.peak = stats.peak.max(reserved);
        let counted = Counted { memory, bytes: need, ledger: self.ledger.clone() };
        Ok(Block::own(Arc::new(counted), bytes))
    }

    /// Counts the bytes as used before asking for them, so that two threads together cannot pass the limit.
    fn claim(&self, bytes: usize, limit: Option<usize>) -> Result<(), DeviceError> {
        let mut ledger = self.lock();
        if let Some(reason) = &ledger.closed {
            return Err(DeviceError::Unsupported(reason.clone()));
        }
        let in_use = ledger.stats.in_use;
        let total = in_use.checked_add(bytes).filter(|&total| limit.is_none_or(|limit| total <= limit));
        let Some(total) = total else {
            let (space, reserved) = (Space::Device.name(), self.device.stream_ordered_reserved());
            let requested = bytes;
            return Err(DeviceError::OutOfMemory { space, requested, in_use, reserved, limit });
        };
        ledger.stats.in_use = total;
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
        self.lock().stats.driver_frees += u64::from(bytes > 0);
        bytes
    }

    /// Counters since creation.
    pub fn stats(&self) -> SpaceStats {
        SpaceStats { reserved: self.device.stream_ordered_reserved(), ..self.lock().stats }
    }

    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The device's memory. In use until the last handle is gone: commands hold theirs until they have ended.
#[derive(Debug)]
struct Counted {
    memory: Arc<dyn Memory>,
    bytes: usize,
    ledger: Arc<Mutex<Ledger>>,
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
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner).stats.in_use -= self.bytes;
    }
}
