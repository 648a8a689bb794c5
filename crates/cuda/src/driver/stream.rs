use std::sync::Arc;

use cudarc::driver::sys::{self, CUresult, CUstream_flags};

use super::{Context, DriverError, RawEvent};

/// A stream of the driver that does not wait for the legacy default stream.
#[derive(Debug)]
pub(crate) struct RawStream {
    pub(super) context: Arc<Context>,
    pub(super) raw: sys::CUstream,
}

// SAFETY: the driver synchronises calls on a stream; the handle is never written after creation.
unsafe impl Send for RawStream {}
// SAFETY: as for `Send`.
unsafe impl Sync for RawStream {}

impl RawStream {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, DriverError> {
        let _bound = context.bind()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: writes one handle; destroyed in `drop`.
        unsafe { call!(cuStreamCreate(&raw mut raw, CUstream_flags::CU_STREAM_NON_BLOCKING as u32)) }?;
        Ok(Self { context: context.clone(), raw })
    }

    /// Marks this point of the stream.
    pub(crate) fn record(&self, event: &RawEvent) -> Result<(), DriverError> {
        let _bound = self.context.bind()?;
        // SAFETY: stream and event live.
        unsafe { call!(cuEventRecord(event.raw, self.raw)) }
    }

    /// Goes on only when the event's last recorded point has been reached.
    pub(crate) fn wait(&self, event: &RawEvent) -> Result<(), DriverError> {
        let _bound = self.context.bind()?;
        // SAFETY: stream and event live.
        unsafe { call!(cuStreamWaitEvent(self.raw, event.raw, 0)) }
    }

    /// Waits for everything queued so far.
    pub(crate) fn synchronize(&self) -> Result<(), DriverError> {
        let _bound = self.context.bind()?;
        // SAFETY: the stream lives.
        unsafe { call!(cuStreamSynchronize(self.raw)) }
    }

    /// Whether everything queued so far has finished.
    pub(crate) fn query(&self) -> Result<bool, DriverError> {
        let _bound = self.context.bind()?;
        // SAFETY: the stream lives.
        let result = unsafe { sys::cuStreamQuery(self.raw) };
        if result == CUresult::CUDA_ERROR_NOT_READY {
            return Ok(false);
        }
        super::error::check("cuStreamQuery", result).map(|()| true)
    }
}

impl Drop for RawStream {
    fn drop(&mut self) {
        // On a lost device this fails, and there is nothing left to free.
        // SAFETY: created in `new`; work still queued is finished before the driver frees the stream.
        let _ = self.context.bind().and_then(|_bound| unsafe { call!(cuStreamDestroy_v2(self.raw)) });
    }
}
