use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mip_runtime::device::{BufferMemory, BufferRef, DeviceError, Memory, Space};
use mip_runtime::memory::{HostBlock, WriteGuard};

/// Host memory, whichever space it was asked for.
#[derive(Debug)]
pub(super) struct CpuMemory {
    block: Arc<HostBlock>,
    space: Space,
    in_use: Arc<AtomicUsize>,
}

impl CpuMemory {
    pub(super) fn new(space: Space, bytes: usize, in_use: &Arc<AtomicUsize>) -> Result<Self, DeviceError> {
        let Some(block) = HostBlock::new(bytes) else {
            let held = in_use.load(Ordering::Relaxed);
            return Err(DeviceError::OutOfMemory {
                space: space.name(),
                requested: bytes,
                in_use: held,
                reserved: held,
                limit: None,
            });
        };
        in_use.fetch_add(bytes, Ordering::Relaxed);
        Ok(Self { block, space, in_use: in_use.clone() })
    }
}

impl Drop for CpuMemory {
    fn drop(&mut self) {
        self.in_use.fetch_sub(self.block.len(), Ordering::Relaxed);
    }
}

impl Memory for CpuMemory {
    fn len(&self) -> usize {
        self.block.len()
    }

    fn space(&self) -> Space {
        self.space
    }

    fn host(&self) -> Option<&Arc<HostBlock>> {
        Some(&self.block)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The host memory behind a block.
pub(super) fn host(memory: &dyn Memory) -> Result<&Arc<HostBlock>, DeviceError> {
    memory.host().ok_or_else(|| {
        DeviceError::Unsupported("memory that the host cannot reach was given to the CPU device".to_owned())
    })
}

/// Borrows a buffer's bytes for writing.
pub(super) fn write(buffer: &BufferRef) -> Result<WriteGuard, DeviceError> {
    let BufferMemory::Block(memory) = &buffer.memory else {
        return Err(DeviceError::Conflict("a command writes to the caller's own image".to_owned()));
    };
    host(&**memory)?.write(buffer.offset..buffer.offset + buffer.layout.span())
}
