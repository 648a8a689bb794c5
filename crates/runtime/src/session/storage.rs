use std::sync::Arc;

use mip_core::{BatchLayout, HostStorage, ImageBuffer};

use crate::Block;
use crate::device::DeviceError;
use crate::memory::ReadGuard;

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
