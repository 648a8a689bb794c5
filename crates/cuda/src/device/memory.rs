use std::any::Any;
use std::sync::Arc;

use mip_runtime::device::{BufferMemory, BufferRef, DeviceError, Memory, Space};
use mip_runtime::memory::HostBlock;

use super::shared::Shared;
use crate::driver::{BorrowedMemory, DeviceMemory, PinnedMemory, RawStream};

/// A block of memory, straight from the driver.
#[derive(Debug)]
pub(super) struct CudaMemory {
    shared: Arc<Shared>,
    len: usize,
    place: Where,
}

#[derive(Debug)]
enum Where {
    Device(DeviceMemory),
    /// Somebody else's memory on the device.
    Borrowed(DeviceMemory),
    Pinned(PinnedMemory),
}

impl CudaMemory {
    pub(super) fn allocate(shared: &Arc<Shared>, space: Space, len: usize) -> Result<Arc<Self>, DeviceError> {
        shared.alive()?;
        let place = match space {
            Space::Device => DeviceMemory::allocate(&shared.context, len).map(Where::Device),
            Space::Pinned => PinnedMemory::allocate(&shared.context, len).map(Where::Pinned),
        };
        let place = place.map_err(|error| shared.allocation_error(space, len, error))?;
        shared.took(space, len);
        Ok(Arc::new(Self { shared: shared.clone(), len, place }))
    }

    /// Device memory for what is queued on a stream from now on.
    pub(super) fn allocate_ordered(
        shared: &Arc<Shared>,
        stream: &Arc<RawStream>,
        len: usize,
    ) -> Result<Arc<Self>, DeviceError> {
        shared.alive()?;
        let pool = shared.pool.as_ref().map_err(|reason| DeviceError::Unsupported(reason.clone()))?;
        let memory = DeviceMemory::allocate_ordered(pool, stream, len);
        let memory = memory.map_err(|error| shared.allocation_error(Space::Device, len, error))?;
        shared.took(Space::Device, len);
        Ok(Arc::new(Self { shared: shared.clone(), len, place: Where::Device(memory) }))
    }

    pub(super) fn borrow(shared: &Arc<Shared>, memory: &BorrowedMemory) -> Result<Arc<Self>, DeviceError> {
        shared.alive()?;
        let place = Where::Borrowed(DeviceMemory::borrow(&shared.context, memory));
        Ok(Arc::new(Self { shared: shared.clone(), len: memory.len(), place }))
    }

    pub(super) const fn device(&self) -> Option<&DeviceMemory> {
        match &self.place {
            Where::Device(memory) | Where::Borrowed(memory) => Some(memory),
            Where::Pinned(_) => None,
        }
    }
}

/// Where pinned memory lies for kernels; `None` for other memory, and where the driver does not say.
pub(super) fn pinned_address(memory: &dyn Memory) -> Option<u64> {
    match &memory.as_any().downcast_ref::<CudaMemory>()?.place {
        Where::Pinned(memory) => memory.address(),
        Where::Device(_) | Where::Borrowed(_) => None,
    }
}

impl Drop for CudaMemory {
    fn drop(&mut self) {
        if !matches!(self.place, Where::Borrowed(_)) {
            self.shared.gave_back(self.space(), self.len);
        }
    }
}

impl Memory for CudaMemory {
    fn len(&self) -> usize {
        self.len
    }

    fn space(&self) -> Space {
        match self.place {
            Where::Device(_) | Where::Borrowed(_) => Space::Device,
            Where::Pinned(_) => Space::Pinned,
        }
    }

    fn host(&self) -> Option<&Arc<HostBlock>> {
        match &self.place {
            Where::Device(_) | Where::Borrowed(_) => None,
            Where::Pinned(memory) => Some(memory.block()),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The device memory behind a handle of the runtime's.
pub(super) fn device_memory(memory: &dyn Memory) -> Result<&DeviceMemory, DeviceError> {
    let own = memory.as_any().downcast_ref::<CudaMemory>();
    let found = own.and_then(CudaMemory::device).ok_or_else(|| {
        let space = memory.space().name();
        DeviceError::Unsupported(format!(
            "a CUDA device computes in its own memory, not in {space} memory given to it"
        ))
    })?;
    if found.is_freed() {
        return Err(DeviceError::Conflict("stream-ordered memory is used after it was freed".to_owned()));
    }
    Ok(found)
}

/// The device memory behind a buffer; the buffer lies inside it.
pub(super) fn device_buffer(buffer: &BufferRef) -> Result<&DeviceMemory, DeviceError> {
    let BufferMemory::Block(block) = &buffer.memory else {
        let text = "a CUDA device does not read the caller's host memory in place; it has to be uploaded";
        return Err(DeviceError::Unsupported(text.to_owned()));
    };
    let memory = device_memory(&**block)?;
    let end = buffer.offset.checked_add(buffer.layout.span());
    if end.is_none_or(|end| end > memory.len()) {
        let (offset, span, len) = (buffer.offset, buffer.layout.span(), memory.len());
        return Err(DeviceError::Conflict(format!(
            "{span} bytes at {offset} do not fit in a block of {len}"
        )));
    }
    Ok(memory)
}
