use std::sync::Arc;

use mip_core::ImageBuffer;
use mip_plan::{BufferId, Uniforms};

use crate::device::{BufferRef, Event, Memory};

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
    /// What the run comes after and before, where the device orders that.
    pub ordered: Option<Ordered>,
}

/// The order of a run among others on the device. Stream-ordered memory, allocated on the first stream just before the
/// run, needs it: nothing uses it before it is there, nor after it was given back.
#[derive(Debug, Clone, Default)]
pub struct Ordered {
    /// What the first stream waits for before anything else.
    pub after: Vec<Arc<dyn Event>>,
    /// Recorded on the first stream, for the others to begin after.
    pub fork: Option<Arc<dyn Event>>,
    /// For each stream but the first: recorded at its end, for the first to wait for.
    pub joins: Vec<Arc<dyn Event>>,
    /// Given back on the first stream when everything has ended.
    pub frees: Vec<Arc<dyn Memory>>,
    /// Recorded on the first stream when everything has ended.
    pub done: Option<Arc<dyn Event>>,
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
