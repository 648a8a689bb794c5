use mip_plan::GroupId;

use crate::device::{Command, DeviceError};

/// A place where a test can ask for a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// The n-th allocation from now on, the next one being 1.
    Allocation(u64),
    /// Every creation of a stream.
    CreateStream,
    /// Every creation of an event.
    CreateEvent,
    /// Loading this group.
    Load(GroupId),
    /// Every capture of a graph.
    Capture,
    /// Every replay of a graph.
    Replay,
    /// Queueing such a command: `submit` returns the error.
    Submit(CommandKind),
    /// Running such a command: the observer, or else `synchronize`, gets the error.
    Run(CommandKind),
}

/// Kinds of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandKind {
    /// A launch of this group.
    Launch(GroupId),
    /// Any record of an event.
    Record,
    /// Any wait for an event.
    Wait,
    /// Any upload.
    Upload,
    /// Any download.
    Download,
    /// Any stream-ordered free.
    Free,
    /// Any timestamp.
    Timestamp,
}

impl CommandKind {
    pub(super) const fn of(command: &Command) -> Self {
        match command {
            Command::Launch(launch) => Self::Launch(launch.group),
            Command::Record(_) => Self::Record,
            Command::Wait(_) => Self::Wait,
            Command::Upload { .. } => Self::Upload,
            Command::Download { .. } => Self::Download,
            Command::Free(_) => Self::Free,
            Command::Timestamp(_) => Self::Timestamp,
        }
    }
}

/// The failures asked for.
#[derive(Debug, Default)]
pub(super) struct Faults {
    armed: Vec<(Site, DeviceError)>,
}

impl Faults {
    pub(super) fn inject(&mut self, site: Site, error: DeviceError) {
        self.armed.push((site, error));
    }

    pub(super) fn clear(&mut self) {
        self.armed.clear();
    }

    pub(super) fn check(&self, site: &Site) -> Result<(), DeviceError> {
        self.armed.iter().find(|(s, _)| s == site).map_or(Ok(()), |(_, error)| Err(error.clone()))
    }

    /// Counts one allocation against all armed countdowns.
    pub(super) fn check_allocation(&mut self) -> Result<(), DeviceError> {
        for (site, _) in &mut self.armed {
            if let Site::Allocation(n) = site {
                *n = n.saturating_sub(1);
            }
        }
        let due = self.armed.iter().position(|(site, _)| *site == Site::Allocation(0));
        due.map_or(Ok(()), |index| Err(self.armed.remove(index).1))
    }
}
