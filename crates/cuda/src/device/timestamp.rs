//! When streams got to a point, by the device's clock, converted to the host's.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mip_runtime::device::{DeviceError, Timestamp};

use super::shared::Shared;
use crate::driver::{RawEvent, RawStream, driver_version};

/// Tries at finding out what the host's clock says when the device takes a time; the quickest one counts.
const TRIES: usize = 8;
/// Beyond this distance from the reference the driver's times (milliseconds as f32) are coarser than their own
/// resolution of half a microsecond.
const FAR: Duration = Duration::from_secs(2);

/// The device's clock. Made when the first time is asked for.
#[derive(Debug, Default)]
pub(super) struct Clock {
    reference: Mutex<Option<Reference>>,
    /// Timed events that nobody uses: making one costs more than all else about a timestamp.
    unused: Mutex<Vec<RawEvent>>,
}

/// A point of a stream of its own whose time is known on the host's clock.
#[derive(Debug)]
struct Reference {
    stream: RawStream,
    event: RawEvent,
    at: Instant,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reference {
    fn new(shared: &Shared) -> Result<Self, DeviceError> {
        let stream = shared.check(RawStream::new(&shared.context))?;
        let mut best: Option<(Duration, RawEvent, Instant)> = None;
        for _ in 0..TRIES {
            let event = shared.check(RawEvent::new(&shared.context, true))?;
            let before = Instant::now();
            shared.check(stream.record(&event))?;
            shared.check(event.synchronize())?;
            let took = before.elapsed();
            if best.as_ref().is_none_or(|(least, ..)| took < *least) {
                best = Some((took, event, before + took / 2));
            }
        }
        let (_, event, at) = best.expect("tried at least once");
        Ok(Self { stream, event, at })
    }

    /// The host's time of an event that was reached.
    fn time(&mut self, shared: &Shared, event: &RawEvent) -> Result<Instant, DeviceError> {
        let distance = shared.check(event.milliseconds_since(&self.event))?;
        let at = moved(self.at, distance);
        if f64::from(distance.abs()) > FAR.as_secs_f64() * 1e3 {
            self.come_after(shared)?;
        }
        Ok(at)
    }

    /// A later point, placed by its distance from this one, so that times taken before and after agree.
    fn come_after(&mut self, shared: &Shared) -> Result<(), DeviceError> {
        let event = shared.check(RawEvent::new(&shared.context, true))?;
        shared.check(self.stream.record(&event))?;
        shared.check(event.synchronize())?;
        self.at = moved(self.at, shared.check(event.milliseconds_since(&self.event))?);
        self.event = event;
        Ok(())
    }
}

fn moved(from: Instant, milliseconds: f32) -> Instant {
    let distance = Duration::from_secs_f64(f64::from(milliseconds.abs()) / 1e3);
    let moved = if milliseconds < 0.0 { from.checked_sub(distance) } else { from.checked_add(distance) };
    moved.unwrap_or(from)
}

/// A timed event.
#[derive(Debug)]
pub(super) struct CudaTimestamp {
    shared: Arc<Shared>,
    /// `None` only while it is dropped.
    event: Option<RawEvent>,
    /// Whether a stream or a graph was told to take its time.
    queued: AtomicBool,
}

impl CudaTimestamp {
    pub(super) fn new(shared: &Arc<Shared>) -> Result<Arc<Self>, DeviceError> {
        shared.alive()?;
        if !driver_version().is_ok_and(|version| version >= 12_080) {
            let text = "times of the device need a driver for CUDA 12.8 or newer";
            return Err(DeviceError::Unsupported(text.to_owned()));
        }
        let clock = &shared.clock;
        let mut reference = lock(&clock.reference);
        if reference.is_none() {
            *reference = Some(Reference::new(shared)?);
        }
        drop(reference);
        let unused = lock(&clock.unused).pop();
        let event = match unused {
            Some(event) => event,
            None => shared.check(RawEvent::new(&shared.context, true))?,
        };
        Ok(Arc::new(Self { shared: shared.clone(), event: Some(event), queued: false.into() }))
    }

    /// The timestamp behind one of the runtime's.
    pub(super) fn of(timestamp: &dyn Timestamp) -> Result<&Self, DeviceError> {
        let unsupported = || DeviceError::Unsupported("a timestamp of another kind of device".to_owned());
        timestamp.as_any().downcast_ref().ok_or_else(unsupported)
    }

    /// The event, which somebody is about to be told to record.
    pub(super) fn queue(&self) -> &RawEvent {
        self.queued.store(true, Ordering::Release);
        self.event()
    }

    fn event(&self) -> &RawEvent {
        self.event.as_ref().expect("present until drop")
    }
}

impl Timestamp for CudaTimestamp {
    fn time(&self) -> Result<Option<Instant>, DeviceError> {
        if !self.queued.load(Ordering::Acquire) || !self.shared.check(self.event().query())? {
            return Ok(None);
        }
        let mut reference = lock(&self.shared.clock.reference);
        let time = reference.as_mut().map(|reference| reference.time(&self.shared, self.event()));
        time.transpose()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for CudaTimestamp {
    fn drop(&mut self) {
        lock(&self.shared.clock.unused).extend(self.event.take());
    }
}
