use std::sync::Arc;

use mip_core::{BatchLayout, ImageBuffer, ImageDesc};

use crate::Block;
use crate::device::{BufferMemory, BufferRef};

/// Images in device memory: the result of one run, or uploaded once, to be the input of others without passing
/// through the host. The memory goes back to where it came from when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct DeviceImage {
    layout: BatchLayout,
    block: Arc<Block>,
}

impl DeviceImage {
    pub(super) const fn new(layout: BatchLayout, block: Arc<Block>) -> Self {
        Self { layout, block }
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
    pub(super) fn buffer(&self) -> BufferRef {
        let memory = BufferMemory::Block(self.block.memory().clone());
        BufferRef { memory, offset: 0, layout: self.layout }
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
