use std::any::Any;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use mip_runtime::device::{DeviceError, Event};

/// Counts how often it was recorded and how far streams have come.
#[derive(Debug, Default)]
pub(super) struct CpuEvent {
    points: Mutex<Points>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Points {
    recorded: u64,
    reached: u64,
}

impl CpuEvent {
    fn points(&self) -> MutexGuard<'_, Points> {
        self.points.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new point, recorded when a command is queued.
    pub(super) fn record(&self) -> u64 {
        let mut points = self.points();
        points.recorded += 1;
        points.recorded
    }

    /// The point that a wait queued now refers to.
    pub(super) fn last(&self) -> u64 {
        self.points().recorded
    }

    /// A stream has come to a point.
    pub(super) fn reach(&self, point: u64) {
        let mut points = self.points();
        points.reached = points.reached.max(point);
        self.moved.notify_all();
    }

    /// Waits until some stream has come to a point.
    pub(super) fn wait(&self, point: u64) {
        let points = self.points();
        drop(
            self.moved
                .wait_while(points, |points| points.reached < point)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }
}

impl Event for CpuEvent {
    fn is_complete(&self) -> bool {
        let points = self.points();
        points.reached >= points.recorded
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.wait(self.last());
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
