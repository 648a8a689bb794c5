use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use mip_runtime::device::{DeviceError, Event};

use super::in_flight::{InFlight, Point};
use super::shared::Shared;
use crate::driver::RawEvent;

/// A point in a stream.
#[derive(Debug)]
pub(super) struct CudaEvent {
    shared: Arc<Shared>,
    raw: RawEvent,
    recorded: Mutex<Option<Point>>,
}

impl CudaEvent {
    pub(super) fn new(shared: &Arc<Shared>) -> Result<Arc<Self>, DeviceError> {
        shared.alive()?;
        let raw = shared.check(RawEvent::new(&shared.context, false))?;
        Ok(Arc::new(Self { shared: shared.clone(), raw, recorded: Mutex::default() }))
    }

    pub(super) const fn raw(&self) -> &RawEvent {
        &self.raw
    }

    /// Remembers the point just recorded.
    pub(super) fn recorded_at(&self, in_flight: &Arc<InFlight>, position: u64) {
        let recorded = Point { in_flight: Arc::downgrade(in_flight), position };
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(recorded);
    }

    /// The last point recorded.
    pub(super) fn point(&self) -> Option<Point> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Event for CudaEvent {
    /// Also true when the device is lost: nothing more will be reached, and `synchronize` says why.
    fn is_complete(&self) -> bool {
        let Some(point) = self.point() else { return true };
        match self.shared.check(self.raw.query()) {
            Ok(true) => {
                point.reached();
                true
            }
            Ok(false) => false,
            Err(_) => true,
        }
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        let Some(point) = self.point() else { return Ok(()) };
        self.shared.alive()?;
        self.shared.check(self.raw.synchronize())?;
        point.reached();
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
