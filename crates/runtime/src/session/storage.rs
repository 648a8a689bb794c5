use std::ptr::NonNull;
use std::sync::Arc;

use mip_core::{BatchLayout, HostStorage, ImageBuffer, ImageViewMut};

use crate::device::DeviceError;
use crate::memory::ReadGuard;
use crate::{Block, MemoryManager};

/// A result in pooled memory: goes back to its pool when the last image that shows it is dropped.
#[derive(Debug)]
struct PooledPixels {
    // Declared first, so that the borrow ends before the block goes back.
    bytes: ReadGuard,
    _block: Arc<Block>,
}

impl HostStorage for PooledPixels {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn start_mut(&self) -> Option<NonNull<u8>> {
        // The block is this object's alone, and goes back to its pool with it.
        Some(self.bytes.start())
    }
}

/// The images in a block the host can read, as a buffer that owns the block: it goes back to its pool when the
/// last clone of the buffer is dropped.
///
/// # Errors
/// When the host cannot read the block, somebody is writing it, or it is too short for the layout.
pub fn pooled_image(layout: BatchLayout, block: Arc<Block>) -> Result<ImageBuffer, DeviceError> {
    let host = block.memory().host().ok_or_else(|| {
        DeviceError::Unsupported("the device offers no host access to memory it should".to_owned())
    })?;
    let bytes = host.read(0..layout.span())?;
    let pixels = Arc::new(PooledPixels { bytes, _block: block });
    ImageBuffer::from_storage(layout, pixels, 0).map_err(|error| DeviceError::Conflict(error.to_string()))
}

/// Images in pinned memory of a manager's pool, filled by `fill`; what is in them before is unspecified. The device
/// copies from them at full speed.
///
/// # Errors
/// When there is no memory, or the device offers no host access to it.
pub fn pooled_image_with(
    manager: &MemoryManager,
    layout: BatchLayout,
    fill: impl FnOnce(&mut ImageViewMut<'_>),
) -> Result<ImageBuffer, DeviceError> {
    let wrong = |error: mip_core::ImageError| DeviceError::Conflict(error.to_string());
    layout.check().map_err(wrong)?;
    let block = manager.allocate_pinned(layout.span())?;
    let host = block.memory().host().ok_or_else(|| {
        DeviceError::Unsupported("the device offers no host access to pinned memory".to_owned())
    })?;
    let mut bytes = host.write(0..layout.span())?;
    fill(&mut ImageViewMut::new(layout, &mut bytes).map_err(wrong)?);
    drop(bytes);
    pooled_image(layout, Arc::new(block))
}
