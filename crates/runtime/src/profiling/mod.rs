//! Profiles: what the host did and what each stream did, on one timeline.
//!
//! ```text
//! Probe        what the instrumentation points in sessions and the scheduler hold; records into a profiler,
//! or does nothing
//!   RunProbe   of one run: timestamps before and after each command of each stream, read when the run has ended
//! Profile      what was recorded: rows, spans, marks
//!   Summary    by task, by stream, by stage; the host against the device
//!   write_chrome_trace   for Perfetto and chrome://tracing
//! ```
//!
//! Without the `profiling` feature a probe is an empty type whose calls are nothing; with it and not
//! recording, each is one comparison with a null pointer.

mod kind;
#[cfg(not(feature = "profiling"))]
#[allow(
    clippy::unused_self,
    clippy::trivially_copy_pass_by_ref,
    reason = "the same signatures as with the feature"
)]
mod off;
#[cfg(feature = "profiling")]
mod on;

pub use kind::Kind;
#[cfg(not(feature = "profiling"))]
pub use off::{HostSpan, Probe};
#[cfg(not(feature = "profiling"))]
pub(crate) use off::{PlanLabels, RunProbe};
#[cfg(feature = "profiling")]
pub use on::{
    HostRow, HostSpan, Mark, Overlap, Place, Probe, Profile, Row, Span, StageRow, StreamRow, Summary,
    TaskRow, Work,
};
#[cfg(feature = "profiling")]
pub(crate) use on::{PlanLabels, RunProbe};

use mip_plan::{BufferId, GroupId};

/// A command whose times are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timed {
    /// The copy of an input to the device, by its number.
    Upload(usize),
    /// A launch.
    Group(GroupId),
    /// The copy of an output from the device.
    Download(BufferId),
    /// A captured graph.
    Graph,
}
