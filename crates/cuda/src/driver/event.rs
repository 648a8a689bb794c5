use std::sync::Arc;

use cudarc::driver::sys::{self, CUevent_flags, CUresult};

use super::{Context, DriverError, library};

/// An event of the driver.
#[derive(Debug)]
pub(crate) struct RawEvent {
    pub(super) context: Arc<Context>,
    pub(super) raw: sys::CUevent,
}

// SAFETY: the driver synchronises calls on an event; the handle is never written after creation.
unsafe impl Send for RawEvent {}
// SAFETY: as for `Send`.
unsafe impl Sync for RawEvent {}

impl RawEvent {
    /// An event that keeps order only, or one that keeps time as well (which costs more).
    pub(crate) fn new(context: &Arc<Context>, timed: bool) -> Result<Self, DriverError> {
        let _bound = context.bind()?;
        let flags =
            if timed { CUevent_flags::CU_EVENT_DEFAULT } else { CUevent_flags::CU_EVENT_DISABLE_TIMING };
        let mut raw = std::ptr::null_mut();
        // SAFETY: writes one handle; destroyed in `drop`.
        unsafe { call!(cuEventCreate(&raw mut raw, flags as u32)) }?;
        Ok(Self { context: context.clone(), raw })
    }

    /// Whether the last recorded point has been reached.
    pub(crate) fn query(&self) -> Result<bool, DriverError> {
        let _bound = self.context.bind()?;
        // SAFETY: the event lives.
        let result = unsafe { sys::cuEventQuery(self.raw) };
        if result == CUresult::CUDA_ERROR_NOT_READY {
            return Ok(false);
        }
        super::error::check("cuEventQuery", result).map(|()| true)
    }

    /// Waits for the last recorded point.
    pub(crate) fn synchronize(&self) -> Result<(), DriverError> {
        let _bound = self.context.bind()?;
        // SAFETY: the event lives.
        unsafe { call!(cuEventSynchronize(self.raw)) }
    }

    /// Milliseconds from an earlier timed event to this one. Needs a driver of CUDA 12.8 or newer.
    pub(crate) fn milliseconds_since(&self, start: &Self) -> Result<f32, DriverError> {
        let _bound = self.context.bind()?;
        if let Some(call) = library::driver_lacks(library::NEWER_FUNCTIONS) {
            return Err(DriverError::no_function(call));
        }
        let mut milliseconds = 0.0;
        // SAFETY: both events live; writes one number.
        unsafe { call!(cuEventElapsedTime_v2(&raw mut milliseconds, start.raw, self.raw)) }?;
        Ok(milliseconds)
    }
}

impl Drop for RawEvent {
    fn drop(&mut self) {
        // On a lost device this fails, and there is nothing left to free.
        // SAFETY: created in `new`; a pending event is destroyed by the driver when it is reached.
        let _ = self.context.bind().and_then(|_bound| unsafe { call!(cuEventDestroy_v2(self.raw)) });
    }
}
