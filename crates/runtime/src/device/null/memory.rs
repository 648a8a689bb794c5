use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Record;
use super::engine::Engine;
use crate::device::{DeviceError, Memory, Space};
use crate::memory::HostBlock;

/// Host memory that pretends to be whatever space it was asked for.
#[derive(Debug)]
pub(super) struct NullMemory {
    id: usize,
    len: usize,
    space: Space,
    block: Arc<HostBlock>,
    engine: Arc<Engine>,
    /// Allocated in stream order.
    ordered: bool,
    /// Given back in stream order.
    freed: AtomicBool,
}

/// The bytes behind memory of a null device, even where it hides them from the host. `None` for other devices.
pub fn host_of(memory: &dyn Memory) -> Option<&Arc<HostBlock>> {
    memory.as_any().downcast_ref::<NullMemory>().map(|m| &m.block)
}

/// The block as this device made it. `None` for other devices' memory.
pub(super) fn own(memory: &dyn Memory) -> Option<&NullMemory> {
    memory.as_any().downcast_ref()
}

/// Bytes of stream-ordered memory in use and held, as a driver's pool counts them.
#[derive(Debug, Default)]
pub(super) struct OrderedPool {
    in_use: usize,
    reserved: usize,
}

impl OrderedPool {
    fn take(&mut self, bytes: usize) {
        self.in_use += bytes;
        self.reserved = self.reserved.max(self.in_use);
    }

    const fn give_back(&mut self, bytes: usize) {
        self.in_use -= bytes;
    }

    pub(super) const fn reserved(&self) -> usize {
        self.reserved
    }

    /// Gives back what is not in use.
    pub(super) const fn trim(&mut self) -> usize {
        let unused = self.reserved - self.in_use;
        self.reserved = self.in_use;
        unused
    }
}

impl NullMemory {
    pub(super) fn allocate(
        engine: &Arc<Engine>,
        space: Space,
        bytes: usize,
    ) -> Result<Arc<dyn Memory>, DeviceError> {
        let memory = Self::try_allocate(engine, space, bytes, false)
            .inspect_err(|_| engine.record(Record::AllocateRefused { space, bytes }))?;
        engine.record(Record::Allocate { memory: memory.id, space, bytes });
        Ok(Arc::new(memory))
    }

    /// Memory for what is queued on a stream from now on.
    pub(super) fn allocate_ordered(
        engine: &Arc<Engine>,
        stream: usize,
        bytes: usize,
    ) -> Result<Arc<dyn Memory>, DeviceError> {
        engine.options.stream_ordered.clone().map_err(DeviceError::Unsupported)?;
        let space = Space::Device;
        let memory = Self::try_allocate(engine, space, bytes, true)
            .inspect_err(|_| engine.record(Record::AllocateRefused { space, bytes }))?;
        engine.ordered.lock().take(bytes);
        engine.record(Record::AllocateOrdered { stream, memory: memory.id, bytes });
        Ok(Arc::new(memory))
    }

    /// Gives the memory back in stream order.
    pub(super) fn free_ordered(&self, stream: usize) -> Result<(), DeviceError> {
        if !self.ordered || self.freed.swap(true, Ordering::Relaxed) {
            let text = format!("m{} is not stream-ordered memory in use, yet it was freed", self.id);
            return Err(DeviceError::Conflict(text));
        }
        self.engine.ordered.lock().give_back(self.len);
        self.engine.record(Record::FreeOrdered { stream, memory: self.id });
        Ok(())
    }

    /// Refuses memory that was given back in stream order.
    pub(super) fn check_alive(&self) -> Result<(), DeviceError> {
        if self.freed.load(Ordering::Relaxed) {
            return Err(DeviceError::Conflict(format!("m{} is used after it was freed", self.id)));
        }
        Ok(())
    }

    fn try_allocate(
        engine: &Arc<Engine>,
        space: Space,
        bytes: usize,
        ordered: bool,
    ) -> Result<Self, DeviceError> {
        engine.faults.lock().check_allocation()?;
        let mut allocated = engine.allocated.lock();
        let out_of_memory = || DeviceError::OutOfMemory {
            space: space.name(),
            requested: bytes,
            in_use: *allocated,
            reserved: *allocated,
            limit: engine.options.memory_limit,
        };
        let total = allocated.checked_add(bytes).ok_or_else(out_of_memory)?;
        if engine.options.memory_limit.is_some_and(|limit| total > limit) {
            return Err(out_of_memory());
        }
        let block = HostBlock::new(bytes).ok_or_else(out_of_memory)?;
        *allocated = total;
        drop(allocated);
        let id = engine.next_id(|ids| &mut ids.memory);
        let freed = AtomicBool::new(false);
        Ok(Self { id, len: bytes, space, block, engine: engine.clone(), ordered, freed })
    }
}

impl Memory for NullMemory {
    fn len(&self) -> usize {
        self.len
    }

    fn space(&self) -> Space {
        self.space
    }

    fn host(&self) -> Option<&Arc<HostBlock>> {
        let hidden = self.space == Space::Device && !self.engine.options.unified_memory;
        (!hidden).then_some(&self.block)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for NullMemory {
    fn drop(&mut self) {
        *self.engine.allocated.lock() -= self.len;
        if self.freed.load(Ordering::Relaxed) {
            return;
        }
        if self.ordered {
            self.engine.ordered.lock().give_back(self.len);
        }
        self.engine.record(Record::Free { memory: self.id });
    }
}
