//! Runs plans on devices: the device traits, the null device, the memory manager, the DAG scheduler, sessions.
//!
//! ```text
//! InFlight           frames of a stream under way at once, over a ring of sessions
//! Session            a plan bound to a device: memory held, groups loaded, one run at a time
//!   DagScheduler     launches in plan order, events and waits, failure propagation
//!   MemoryManager    pooled device and pinned memory, shared by all sessions of a device
//!     Device         streams, events, memory, executables: `null` here, others in their own crates
//! ```

#![deny(unsafe_code)]

pub mod device;
mod error;
pub mod frames;
pub mod memory;
pub mod profiling;
pub mod scheduler;
pub mod session;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use error::RuntimeError;
pub use frames::{InFlight, SessionRing};
pub use memory::{AllocatorMode, Block, ManagerOptions, MemoryManager, MemoryStats, SpaceStats};
pub use scheduler::{
    Bindings, CancelToken, DagScheduler, DirtyReason, ErrorCallback, GraphStats, LoadedPlan, SchedulerStats,
    TaskReport, TaskState,
};
pub use session::{
    DeviceImage, RunInput, RunOrder, RunReport, RunRequest, Session, SessionOptions, Ticket, download_image,
    pooled_image, pooled_image_with, upload_image,
};
