use std::sync::Arc;

use mip_core::{BatchLayout, ImageBuffer};
use mip_plan::{GroupId, Uniforms};

use super::{DeviceError, Event, Executable, Memory, Timestamp};

/// What can be queued on a stream.
#[derive(Debug, Clone)]
pub enum Command {
    /// Run a group.
    Launch(Launch),
    /// Mark this point of the stream.
    Record(Arc<dyn Event>),
    /// Go on only when the event's last recorded point has been reached.
    Wait(Arc<dyn Event>),
    /// Copy pixels from host memory.
    Upload {
        /// Source, kept alive and unchanged until the copy is done.
        from: ImageBuffer,
        /// Destination of the same shape.
        to: BufferRef,
    },
    /// Copy pixels to pinned memory.
    Download {
        /// Source.
        from: BufferRef,
        /// Destination of the same shape, in pinned memory.
        to: BufferRef,
    },
    /// Give back memory from [`super::Stream::allocate`] when the stream gets here. Everything that uses it is
    /// ordered before; commands that use it afterwards are refused.
    Free(Arc<dyn Memory>),
    /// Take the time when the stream gets here.
    Timestamp(Arc<dyn Timestamp>),
}

/// Images inside a block of memory.
#[derive(Debug, Clone)]
pub struct BufferRef {
    /// The block, kept alive.
    pub memory: BufferMemory,
    /// Bytes from the start of the block.
    pub offset: usize,
    /// Shape, batch and strides.
    pub layout: BatchLayout,
}

/// Memory a command works on.
#[derive(Debug, Clone)]
pub enum BufferMemory {
    /// A block of the device's.
    Block(Arc<dyn Memory>),
    /// The caller's own host memory, read in place (unified memory only, never written).
    Host(ImageBuffer),
}

/// One execution of a group.
#[derive(Debug, Clone)]
pub struct Launch {
    /// What to run.
    pub executable: Arc<dyn Executable>,
    /// The group's index in its plan, as the observer knows it.
    pub group: GroupId,
    /// Memory of each buffer the group reads, in the order of [`mip_plan::Group::reads`].
    pub inputs: Vec<BufferRef>,
    /// Memory of each buffer the group writes, in the order of [`mip_plan::Group::writes`].
    pub outputs: Vec<BufferRef>,
    /// Scratch block, offset and size.
    pub workspace: Option<(Arc<dyn Memory>, usize, usize)>,
    /// Uniforms of each stage.
    pub uniforms: Arc<[Uniforms]>,
    /// Called before and after it.
    pub observer: Arc<dyn LaunchObserver>,
}

/// What to do with a launch whose turn has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchDecision {
    /// Run it.
    Run,
    /// A producer failed or the run was cancelled: leave it out, go on with the stream.
    Skip,
}

/// Follows the launches of one execution. Called from the device's threads in stream order (or, on devices
/// that detect failures only when queueing, from the submitting thread).
pub trait LaunchObserver: std::fmt::Debug + Send + Sync {
    /// The launch's turn has come.
    fn begin(&self, group: GroupId) -> LaunchDecision;

    /// The launch has ended. Not called after [`LaunchDecision::Skip`].
    fn end(&self, group: GroupId, result: Result<(), DeviceError>);
}
