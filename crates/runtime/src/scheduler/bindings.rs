use std::sync::Arc;

use mip_core::ImageBuffer;
use mip_plan::{BufferId, Uniforms};

use crate::device::{BufferRef, Memory};

/// The memory and numbers of one execution.
#[derive(Debug, Clone)]
pub struct Bindings {
    /// Memory of every buffer of the plan.
    pub buffers: Vec<BufferRef>,
    /// The arena, which also holds each group's workspace; `None` when the plan needs none.
    pub arena: Option<Arc<dyn Memory>>,
    /// For each group, the uniforms of its stages.
    pub uniforms: Vec<Arc<[Uniforms]>>,
    /// Inputs to copy into their buffers before anything reads them.
    pub uploads: Vec<Upload>,
    /// Outputs to copy out when their group has ended.
    pub downloads: Vec<Download>,
}

/// An input to be copied to the device.
#[derive(Debug, Clone)]
pub struct Upload {
    /// The buffer that stands for it.
    pub buffer: BufferId,
    /// The pixels.
    pub from: ImageBuffer,
}

/// An output to be copied from the device.
#[derive(Debug, Clone)]
pub struct Download {
    /// The buffer that stands for it.
    pub buffer: BufferId,
    /// Pinned memory of the same shape.
    pub to: BufferRef,
}
