//! What a device is to the runtime: in-order streams, events, memory, loaded groups.
//!
//! All validation happens above this layer. A device may assume that plans were checked
//! and layouts fit; what it must never do is lie about completion or swallow a failure.

mod backend;
mod command;
mod error;
mod graph;
pub mod null;
mod timestamp;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use mip_core::BatchLayout;
use mip_plan::{Group, Plan};
use serde::Serialize;

pub use backend::{Backend, DeviceKind};
pub use command::{BufferMemory, BufferRef, Command, Launch, LaunchDecision, LaunchObserver};
pub use error::DeviceError;
pub use graph::{CommandList, Graph, Recording, check_launches};
pub use timestamp::{HostTimestamp, Ranges, Timestamp};

/// What a device is and can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceInfo {
    /// Kind of device.
    pub kind: DeviceKind,
    /// Index among the devices of this kind.
    pub index: usize,
    /// Human-readable name.
    pub name: String,
    /// Total memory in bytes, where known.
    pub total_memory: Option<u64>,
    /// Stream-ordered allocation: `Ok` or the reason why not.
    pub stream_ordered: Result<(), String>,
    /// Graph replay: `Ok` or the reason why not.
    pub graph_replay: Result<(), String>,
    /// Whether kernels read and write host memory directly, so that uploads and downloads are needless.
    pub unified_memory: bool,
}

impl DeviceInfo {
    /// What names the device on a command line: `cpu`, `cuda:0`.
    pub fn id(&self) -> String {
        match self.kind {
            // There is one.
            DeviceKind::CPU | DeviceKind::NULL => self.kind.to_string(),
            kind => format!("{kind}:{}", self.index),
        }
    }
}

/// Kinds of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// Where kernels work.
    Device,
    /// Host memory that the device can copy from and to at full speed.
    Pinned,
}

impl Space {
    /// `device` or `pinned`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Pinned => "pinned",
        }
    }
}

/// A device. Handles it gives out keep what they need alive; all may be used and dropped on any thread.
pub trait Device: Any + fmt::Debug + Send + Sync {
    /// What it is and can do.
    fn info(&self) -> &DeviceInfo;

    /// A new in-order stream.
    ///
    /// # Errors
    /// When the driver refuses.
    fn create_stream(&self, label: &str) -> Result<Arc<dyn Stream>, DeviceError>;

    /// A new event, not yet recorded (which counts as complete).
    ///
    /// # Errors
    /// When the driver refuses.
    fn create_event(&self) -> Result<Arc<dyn Event>, DeviceError>;

    /// Memory straight from the driver (or the operating system), aligned to [`mip_core::ALIGNMENT`] at least;
    /// its contents are unspecified. Freed when the last handle is dropped.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], or what the driver says.
    fn allocate(&self, space: Space, bytes: usize) -> Result<Arc<dyn Memory>, DeviceError>;

    /// Scratch bytes this device needs to run a group of a plan whose buffers have the given layouts
    /// (`layouts[id]` for each [`mip_plan::BufferId`]).
    fn workspace_bytes(&self, group: &Group, layouts: &[BatchLayout]) -> usize;

    /// Prepares a group for execution: compiles, builds tables, uploads them. Nothing is allocated later.
    ///
    /// # Errors
    /// When the group cannot be compiled or its tables find no memory.
    fn load(&self, plan: &Plan, group: usize) -> Result<Arc<dyn Executable>, DeviceError>;

    /// Whether branches of a plan that need the same program should share a group, because they run as one
    /// launch then ([`Group::branches`]).
    fn fuses_horizontally(&self) -> bool {
        false
    }

    /// Threads to load the groups of a plan on, side by side: more than one where loading compiles.
    fn load_threads(&self) -> usize {
        1
    }

    /// Makes a graph of recorded commands. Nothing runs, and the streams stay as they were, also on failure.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] when [`DeviceInfo::graph_replay`] says so; what the driver says.
    fn capture(&self, recording: Recording) -> Result<Arc<dyn Graph>, DeviceError>;

    /// Waits for everything queued on any stream of this device, so that memory in use until then is free.
    ///
    /// # Errors
    /// When the device is lost.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// Where to name what the host does for a profiler outside (NVTX), if there is one.
    fn ranges(&self) -> Option<Arc<dyn Ranges>> {
        None
    }

    /// Whether a fault has made the device useless: every call says [`DeviceError::Lost`] then.
    fn is_lost(&self) -> bool {
        false
    }

    /// Gives up what a lost device still holds of this process, so that it can be opened again
    /// ([`Backend::open`]). All that was made by it says [`DeviceError::Lost`] from then on.
    ///
    /// # Errors
    /// When only another process can use the device.
    fn discard(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Bytes the stream-ordered allocator holds from the driver, in use or not.
    fn stream_ordered_reserved(&self) -> usize {
        0
    }

    /// Gives memory of the stream-ordered allocator that nobody uses back to the driver; returns how many bytes.
    fn trim_stream_ordered(&self) -> usize {
        0
    }
}

/// An in-order queue of commands.
pub trait Stream: fmt::Debug + Send + Sync {
    /// Queues a command; returns without waiting for it.
    ///
    /// # Errors
    /// When the command cannot be queued. Errors while it runs go to its observer, or come out of
    /// [`Stream::synchronize`].
    fn submit(&self, command: Command) -> Result<(), DeviceError>;

    /// Device memory in stream order: for commands queued on this stream from now on, and on other streams for
    /// those that wait for a point of this stream from now on. Goes back by [`Command::Free`], or when the last
    /// handle is dropped (commands hold theirs until they have ended).
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`]; [`DeviceError::Unsupported`] when [`DeviceInfo::stream_ordered`] says so.
    fn allocate(&self, bytes: usize) -> Result<Arc<dyn Memory>, DeviceError> {
        Err(DeviceError::Unsupported(format!(
            "no stream-ordered allocation on this device ({bytes} bytes asked for)"
        )))
    }

    /// A timestamp for [`Command::Timestamp`] on this stream, and in recordings for it.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] on devices that take no times; what the driver says.
    fn create_timestamp(&self) -> Result<Arc<dyn Timestamp>, DeviceError> {
        Err(DeviceError::Unsupported("this device takes no times".to_owned()))
    }

    /// Waits until everything queued so far has finished.
    ///
    /// # Errors
    /// The first failure of a command without an observer (copies, waits) since the last call.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// For the device's own use.
    fn as_any(&self) -> &dyn Any;
}

/// A point in a stream that other streams and the host can wait for.
///
/// When it is known here that the point has been reached, observers have been told of all launches that it comes after, those on
/// streams that its own one waited for included.
pub trait Event: fmt::Debug + Send + Sync {
    /// Whether the last recorded point has been reached (true when never recorded).
    fn is_complete(&self) -> bool;

    /// Waits on the host for the last recorded point.
    ///
    /// # Errors
    /// When the device is lost.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// For the device's own use.
    fn as_any(&self) -> &dyn Any;
}

/// A block of memory.
pub trait Memory: fmt::Debug + Send + Sync {
    /// Size in bytes.
    fn len(&self) -> usize;

    /// Whether the size is 0.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Kind of memory.
    fn space(&self) -> Space;

    /// The block as host memory, where the host can read and write it.
    fn host(&self) -> Option<&Arc<crate::memory::HostBlock>>;

    /// For the device's own use.
    fn as_any(&self) -> &dyn Any;
}

/// A group made ready for a device.
pub trait Executable: fmt::Debug + Send + Sync {
    /// For the device's own use.
    fn as_any(&self) -> &dyn Any;
}
