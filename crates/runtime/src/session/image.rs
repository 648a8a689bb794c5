use std::sync::Arc;

use mip_core::{BatchLayout, ImageBuffer, ImageDesc};

use crate::device::{BufferMemory, BufferRef, DeviceError, Memory};
use crate::{Block, MemoryManager};

/// Images in device memory: the result of one run, or uploaded once, to be the input of others without passing
/// through the host. The memory goes back to where it came from when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct DeviceImage {
    layout: BatchLayout,
    block: Arc<Block>,
    offset: usize,
}

impl DeviceImage {
    pub(super) const fn new(layout: BatchLayout, block: Arc<Block>) -> Self {
        Self { layout, block, offset: 0 }
    }

    /// Images in memory of a manager's pool, for a decoder to fill; until then what is in them is unspecified.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn allocate(manager: &MemoryManager, layout: BatchLayout) -> Result<Self, DeviceError> {
        layout.check().map_err(|error| DeviceError::Conflict(error.to_string()))?;
        let block = manager.allocate_device(layout.span())?;
        Ok(Self::new(layout, Arc::new(block)))
    }

    /// Images in memory of the device's that was got elsewhere, from a byte of it on.
    ///
    /// # Errors
    /// When they do not lie inside it, or do not begin on a whole sample.
    pub fn in_memory(
        memory: Arc<dyn Memory>,
        layout: BatchLayout,
        offset: usize,
    ) -> Result<Self, DeviceError> {
        let wrong = |error: mip_core::ImageError| DeviceError::Conflict(error.to_string());
        layout.check().map_err(wrong)?;
        let len = memory.len();
        let refuse = |what: String| Err(DeviceError::Conflict(what));
        if offset.checked_add(layout.span()).is_none_or(|end| end > len) {
            return refuse(format!("{} at byte {offset} does not lie inside {len} bytes", layout.desc));
        }
        let sample = layout.desc.dtype().size();
        if !offset.is_multiple_of(sample) {
            return refuse(format!("{} cannot begin at byte {offset}: a sample has {sample}", layout.desc));
        }
        Ok(Self { layout, block: Arc::new(Block::own(memory, len)), offset })
    }

    /// One of the images, by itself, in the same memory.
    ///
    /// # Panics
    /// When there are not so many.
    #[must_use]
    pub fn frame(&self, index: usize) -> Self {
        assert!(index < self.layout.batch_size, "frame {index} of {}", self.layout.batch_size);
        let offset = self.offset + index * self.layout.batch_stride;
        Self { layout: self.layout.single(), block: self.block.clone(), offset }
    }

    /// Images of one shape that follow each other in the same memory, as one batch there; `None` where they do not.
    pub fn joined(images: &[Self]) -> Option<Self> {
        let [first, others @ ..] = images else { return None };
        let Some(second) = others.first() else { return Some(first.clone()) };
        let stride = second.offset.checked_sub(first.offset)?;
        let single = first.layout.single();
        let follows = |(image, place): (&Self, usize)| {
            Arc::ptr_eq(&image.block, &first.block)
                && image.layout.single() == single
                && image.layout.batch_size == 1
                && image.offset == first.offset + place * stride
        };
        let all = first.layout.batch_size == 1 && others.iter().zip(1..).all(follows);
        let layout = BatchLayout { batch_size: images.len(), batch_stride: stride, ..single };
        (all && layout.check().is_ok()).then(|| Self { layout, ..first.clone() })
    }

    /// The memory that holds them.
    pub fn memory(&self) -> &Arc<dyn Memory> {
        self.block.memory()
    }

    /// The byte of that memory at which they begin.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Shape, batch and strides.
    pub const fn layout(&self) -> &BatchLayout {
        &self.layout
    }

    /// Shape and type of each image.
    pub const fn desc(&self) -> &ImageDesc {
        &self.layout.desc
    }

    pub(super) const fn block(&self) -> &Arc<Block> {
        &self.block
    }

    /// The images as commands name them.
    pub(crate) fn buffer(&self) -> BufferRef {
        let memory = BufferMemory::Block(self.block.memory().clone());
        BufferRef { memory, offset: self.offset, layout: self.layout }
    }
}

/// What a plan's input is bound to.
#[derive(Debug, Clone)]
pub enum RunInput {
    /// Host memory: read in place where the device can, else uploaded.
    Host(ImageBuffer),
    /// Device memory, read in place.
    Device(DeviceImage),
}

impl RunInput {
    /// Shape and type of each image.
    pub const fn desc(&self) -> &ImageDesc {
        &self.layout().desc
    }

    /// Number of images.
    pub const fn batch_size(&self) -> usize {
        self.layout().batch_size
    }

    /// Shape, batch and strides.
    pub const fn layout(&self) -> &BatchLayout {
        match self {
            Self::Host(image) => image.layout(),
            Self::Device(image) => image.layout(),
        }
    }
}

impl From<ImageBuffer> for RunInput {
    fn from(image: ImageBuffer) -> Self {
        Self::Host(image)
    }
}

impl From<DeviceImage> for RunInput {
    fn from(image: DeviceImage) -> Self {
        Self::Device(image)
    }
}
