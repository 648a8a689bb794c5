use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::{Device, DeviceError};

/// What kind of device it is, by name: `cpu`, `cuda`, or what another backend calls its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct DeviceKind(&'static str);

impl DeviceKind {
    /// Threads of this machine.
    pub const CPU: Self = Self("cpu");
    /// An NVIDIA GPU.
    pub const CUDA: Self = Self("cuda");
    /// Records the commands it gets; for tests.
    pub const NULL: Self = Self("null");

    /// A kind of device of another backend; `name` in lower case, as it is to be on a command line.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Opens the devices of one kind. Whoever has another kind of device implements this and [`Device`].
pub trait Backend: fmt::Debug + Send + Sync {
    /// The kind; its name names devices: `cuda` is the first one, `cuda:1` the second.
    fn kind(&self) -> DeviceKind;

    /// Whether there may be several devices, told apart by an index.
    fn has_index(&self) -> bool {
        true
    }

    /// Whether device `index` can be used.
    ///
    /// # Errors
    /// What is missing, and the remedy.
    fn usable(&self, index: usize) -> Result<(), String>;

    /// Opens device `index`. `synchronous`: each launch is waited for, so that a fault is attributed to the task it
    /// belongs to; a device whose launches report their own faults may ignore it.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn open(&self, index: usize, synchronous: bool) -> Result<Arc<dyn Device>, DeviceError>;

    /// Whether a lost device can be opened again.
    ///
    /// # Errors
    /// Why not.
    fn reopens(&self) -> Result<(), DeviceError> {
        Ok(())
    }
}
