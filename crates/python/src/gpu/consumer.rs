//! Libraries that take results over.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use mini_image_pipe::prelude::DeviceImage;
use mini_image_pipe::runtime::device::{Command, Device as RuntimeDevice, Event, Stream};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;

use super::order::{Gateway, LEGACY, imported};
use super::run::keep_until;
use crate::dlpack;
use crate::errors::Failed;

/// The stream of a library that reads a result.
pub(super) struct Consumer {
    stream: Arc<dyn Stream>,
    runtime: Arc<dyn RuntimeDevice>,
}

impl fmt::Debug for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Consumer").field(&self.stream).finish()
    }
}

impl Consumer {
    /// The stream that a consumer says it works on, as DLPack numbers them: `None` is the legacy default stream, -1 none
    /// that we should order.
    pub(super) fn named(py: Python<'_>, gateway: &Gateway, stream: Option<i64>) -> PyResult<Option<Self>> {
        match stream {
            None => Ok(Some(Self::new(gateway, LEGACY, Arc::new(()))?)),
            Some(-1) => Ok(None),
            Some(handle) if handle > 0 => {
                // CuPy destroys a stream with its object, and what it read is given back after that.
                let owner = cupy_stream(py, gateway.index(), handle)?;
                let owner: Arc<dyn Any + Send + Sync> = Arc::new(owner);
                Ok(Some(Self::new(gateway, handle.cast_unsigned(), owner)?))
            }
            Some(other) => Err(PyBufferError::new_err(format!(
                "stream is {other}, but must be -1 (no order), 1 (the legacy default stream), 2 (the thread's default stream) or a handle"
            ))),
        }
    }

    /// The legacy default stream, which all streams that are not made to ignore it come after: of a consumer that does not
    /// say which stream it uses.
    pub(super) fn unknown(gateway: &Gateway) -> Result<Self, Failed> {
        Self::new(gateway, LEGACY, Arc::new(()))
    }

    fn new(gateway: &Gateway, handle: u64, owner: Arc<dyn Any + Send + Sync>) -> Result<Self, Failed> {
        let stream = gateway.device().borrow_cuda_stream(&dlpack::stream_of(handle, owner))?;
        Ok(Self { stream, runtime: gateway.runtime().clone() })
    }

    /// Lets it go on only when `done` is reached.
    pub(super) fn wait_for(&self, done: &Arc<dyn Event>) -> Result<(), Failed> {
        Ok(self.stream.submit(Command::Wait(done.clone()))?)
    }

    /// Gives the memory of a result back when the stream is past all that it has queued by now.
    pub(super) fn give_back(&self, image: DeviceImage) {
        let read = self.runtime.create_event();
        let read = read.and_then(|read| self.stream.submit(Command::Record(read.clone())).map(|()| read));
        // On a lost device nothing reads any more.
        if let Ok(read) = read {
            keep_until(image, read);
        }
    }
}

/// A result that was handed out: it goes back when the consumer's stream is past what reads it.
pub(super) struct Lease {
    image: Option<DeviceImage>,
    consumer: Option<Consumer>,
}

impl Lease {
    pub(super) const fn new(image: DeviceImage, consumer: Option<Consumer>) -> Self {
        Self { image: Some(image), consumer }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let (Some(image), Some(consumer)) = (self.image.take(), &self.consumer) {
            consumer.give_back(image);
        }
    }
}

/// CuPy's current stream, if it is the one with that handle.
fn cupy_stream(py: Python<'_>, index: usize, handle: i64) -> PyResult<Option<Py<PyAny>>> {
    let Some(cupy) = imported(py, "cupy")? else { return Ok(None) };
    let stream = cupy.getattr("cuda")?.getattr("get_current_stream")?.call1((index,))?;
    let own: i64 = stream.getattr("ptr")?.extract()?;
    Ok((own == handle && handle > 2).then(|| stream.unbind()))
}
