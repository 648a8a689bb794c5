use std::sync::Arc;

use cudarc::driver::sys::{self, CUresult, CUstream_flags};

use super::{BorrowedStream, Context, DriverError, RawEvent};

/// A stream of the driver: one that does not wait for the legacy default stream, or somebody else's.
#[derive(Debug)]
pub(crate) struct RawStream {
    pub(super) context: Arc<Context>,
    pub(super) raw: sys::CUstream,
    /// Whose it is, if not our own.
    borrowed: Option<BorrowedStream>,
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
        Ok(Self { context: context.clone(), raw, borrowed: None })
    }

    /// Somebody else's stream, for as long as this lives.
    pub(crate) fn borrow(context: &Arc<Context>, stream: &BorrowedStream) -> Self {
        // A handle is an address, or one of the small numbers that name default streams.
        let raw = std::ptr::without_provenance_mut(stream.handle() as usize);
        Self { context: context.clone(), raw, borrowed: Some(stream.clone()) }
    }

    /// What other libraries know it by.
    pub(crate) fn handle(&self) -> u64 {
        self.raw.addr() as u64
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
        if self.borrowed.is_some() {
            return;
        }
        // On a lost device this fails, and there is nothing left to free.
        // SAFETY: created in `new`; work still queued is finished before the driver frees the stream.
        let _ = self.context.bind().and_then(|_bound| unsafe { call!(cuStreamDestroy_v2(self.raw)) });
    }
}
