use std::any::Any;
use std::sync::Arc;

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
}

/// The bytes behind memory of a null device, even where it hides them from the host. `None` for other devices.
pub fn host_of(memory: &dyn Memory) -> Option<&Arc<HostBlock>> {
    memory.as_any().downcast_ref::<NullMemory>().map(|m| &m.block)
}

impl NullMemory {
    pub(super) fn allocate(
        engine: &Arc<Engine>,
        space: Space,
        bytes: usize,
    ) -> Result<Arc<dyn Memory>, DeviceError> {
        Self::try_allocate(engine, space, bytes)
            .inspect_err(|_| engine.record(Record::AllocateRefused { space, bytes }))
    }

    fn try_allocate(
        engine: &Arc<Engine>,
        space: Space,
        bytes: usize,
    ) -> Result<Arc<dyn Memory>, DeviceError> {
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
        engine.record(Record::Allocate { memory: id, space, bytes });
        Ok(Arc::new(Self { id, len: bytes, space, block, engine: engine.clone() }))
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
        self.engine.record(Record::Free { memory: self.id });
    }
}
