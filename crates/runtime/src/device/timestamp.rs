use std::any::Any;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::DeviceError;

/// A point of a stream whose time is taken when the stream gets there: what profiles measure with.
pub trait Timestamp: fmt::Debug + Send + Sync {
    /// When it was reached last, on the host's clock; `None` when it has not been reached since it was made.
    ///
    /// # Errors
    /// When the device cannot tell.
    fn time(&self) -> Result<Option<Instant>, DeviceError>;

    /// For the device's own use.
    fn as_any(&self) -> &dyn Any;
}

/// Named ranges of a profiler that watches the process from outside, by thread.
pub trait Ranges: fmt::Debug + Send + Sync {
    /// A range begins on the calling thread, inside those begun before.
    fn push(&self, name: &str);

    /// The range begun last on the calling thread ends.
    fn pop(&self);
}

/// A timestamp of devices that run on the host's own threads.
#[derive(Debug, Default)]
pub struct HostTimestamp(Mutex<Option<Instant>>);

impl HostTimestamp {
    /// Takes the time.
    pub fn reach(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// A timestamp as the device's own.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] for another device's.
    pub fn of(timestamp: &dyn Timestamp) -> Result<&Self, DeviceError> {
        timestamp
            .as_any()
            .downcast_ref()
            .ok_or_else(|| DeviceError::Unsupported("a timestamp of another kind of device".to_owned()))
    }
}

impl Timestamp for HostTimestamp {
    fn time(&self) -> Result<Option<Instant>, DeviceError> {
        Ok(*self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
