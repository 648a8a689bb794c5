use std::fmt;

use super::Space;
use crate::device::DeviceError;
use mip_plan::GroupId;

/// One thing that happened. Prints as one line; numbers count up from 0 in order of creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// `create stream 0 "stream 0"` (number, label)
    CreateStream {
        /// Number of the stream.
        stream: usize,
        /// Its label.
        label: String,
    },
    /// `create event e0`
    CreateEvent {
        /// Number of the event.
        event: usize,
    },
    /// `allocate m0: 4096 bytes device`
    Allocate {
        /// Number of the block.
        memory: usize,
        /// Kind of memory.
        space: Space,
        /// Size.
        bytes: usize,
    },
    /// `allocate 4096 bytes device refused`
    AllocateRefused {
        /// Kind of memory.
        space: Space,
        /// Size asked for.
        bytes: usize,
    },
    /// `free m0`
    Free {
        /// Number of the block.
        memory: usize,
    },
    /// `stream 1: allocate m0: 4096 bytes`
    AllocateOrdered {
        /// Number of the stream.
        stream: usize,
        /// Number of the block.
        memory: usize,
        /// Size.
        bytes: usize,
    },
    /// `stream 1: free m0`
    FreeOrdered {
        /// Number of the stream.
        stream: usize,
        /// Number of the block.
        memory: usize,
    },
    /// `capture groups [0, 1]`
    Capture {
        /// The groups launched, in order.
        groups: Vec<GroupId>,
    },
    /// `replay`
    Replay,
    /// `load group 3`
    Load {
        /// Index of the group.
        group: GroupId,
    },
    /// `stream 1: launch group 3`
    Launch {
        /// Number of the stream.
        stream: usize,
        /// Index of the group.
        group: GroupId,
    },
    /// `stream 1: group 3 failed: why`
    Failed {
        /// Number of the stream.
        stream: usize,
        /// Index of the group.
        group: GroupId,
        /// The result that its observer got.
        error: DeviceError,
    },
    /// `stream 1: skip group 3`
    Skip {
        /// Number of the stream.
        stream: usize,
        /// Index of the group.
        group: GroupId,
    },
    /// `stream 1: record e2`
    Record {
        /// Number of the stream.
        stream: usize,
        /// Number of the event.
        event: usize,
    },
    /// `stream 1: wait e2`, with ` (never recorded)` when there was nothing to wait for.
    Wait {
        /// Number of the stream.
        stream: usize,
        /// Number of the event.
        event: usize,
        /// Whether the event had been recorded when the wait was submitted.
        recorded: bool,
    },
    /// `stream 1: upload 64x48 rgb u8 (batch of 1)`
    Upload {
        /// Number of the stream.
        stream: usize,
        /// What was copied.
        what: String,
    },
    /// `stream 1: download 64x48 rgb u8 (batch of 1)`
    Download {
        /// Number of the stream.
        stream: usize,
        /// What was copied.
        what: String,
    },
    /// `stream 1: failed without an observer: why`
    Unobserved {
        /// Number of the stream.
        stream: usize,
        /// What `synchronize` will say.
        error: DeviceError,
    },
    /// `stream 1: launch group 3 refused`
    Refused {
        /// Number of the stream.
        stream: usize,
        /// The command, as it prints when it runs.
        command: String,
    },
    /// `host: synchronize stream 1`
    SynchronizeStream {
        /// Number of the stream.
        stream: usize,
    },
    /// `host: synchronize e2`
    SynchronizeEvent {
        /// Number of the event.
        event: usize,
    },
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateStream { stream, label } => write!(f, "create stream {stream} \"{label}\""),
            Self::CreateEvent { event } => write!(f, "create event e{event}"),
            Self::Allocate { memory, space, bytes } => {
                write!(f, "allocate m{memory}: {bytes} bytes {}", space.name())
            }
            Self::AllocateRefused { space, bytes } => {
                write!(f, "allocate {bytes} bytes {} refused", space.name())
            }
            Self::Free { memory } => write!(f, "free m{memory}"),
            Self::AllocateOrdered { stream, memory, bytes } => {
                write!(f, "stream {stream}: allocate m{memory}: {bytes} bytes")
            }
            Self::FreeOrdered { stream, memory } => write!(f, "stream {stream}: free m{memory}"),
            Self::Capture { groups } => write!(f, "capture groups {groups:?}"),
            Self::Replay => f.write_str("replay"),
            Self::Load { group } => write!(f, "load group {group}"),
            Self::Launch { stream, group } => write!(f, "stream {stream}: launch group {group}"),
            Self::Failed { stream, group, error } => {
                write!(f, "stream {stream}: group {group} failed: {error}")
            }
            Self::Skip { stream, group } => write!(f, "stream {stream}: skip group {group}"),
            Self::Record { stream, event } => write!(f, "stream {stream}: record e{event}"),
            Self::Wait { stream, event, recorded } => {
                write!(f, "stream {stream}: wait e{event}")?;
                if *recorded { Ok(()) } else { f.write_str(" (never recorded)") }
            }
            Self::Upload { stream, what } => write!(f, "stream {stream}: upload {what}"),
            Self::Download { stream, what } => write!(f, "stream {stream}: download {what}"),
            Self::Unobserved { stream, error } => {
                write!(f, "stream {stream}: failed without an observer: {error}")
            }
            Self::Refused { stream, command } => write!(f, "stream {stream}: {command} refused"),
            Self::SynchronizeStream { stream } => write!(f, "host: synchronize stream {stream}"),
            Self::SynchronizeEvent { event } => write!(f, "host: synchronize e{event}"),
        }
    }
}
