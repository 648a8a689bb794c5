use std::any::Any;
use std::sync::Arc;

use mip_runtime::device::{Command, DeviceError, Stream};

use super::in_flight::InFlight;
use super::shared::Shared;
use super::stream::own;
use crate::driver::{BorrowedStream, RawStream};

/// A stream of another library, which points of order are set into and nothing else: what is queued there is
/// theirs, and so is waiting for it.
#[derive(Debug)]
pub(super) struct TheirStream {
    shared: Arc<Shared>,
    raw: RawStream,
    /// Nothing of ours is under way there.
    nothing: Arc<InFlight>,
}

impl TheirStream {
    pub(super) fn new(shared: &Arc<Shared>, stream: &BorrowedStream) -> Result<Arc<Self>, DeviceError> {
        shared.alive()?;
        let raw = RawStream::borrow(&shared.context, stream);
        Ok(Arc::new(Self { shared: shared.clone(), raw, nothing: Arc::default() }))
    }

    pub(super) const fn raw(&self) -> &RawStream {
        &self.raw
    }
}

impl Stream for TheirStream {
    fn submit(&self, command: Command) -> Result<(), DeviceError> {
        self.shared.alive()?;
        match command {
            Command::Record(event) => {
                let event = own(&*event)?;
                self.shared.check(self.raw.record(event.raw()))?;
                event.recorded_at(&self.nothing, 0);
                Ok(())
            }
            Command::Wait(event) => self.shared.check(self.raw.wait(own(&*event)?.raw())),
            _ => {
                let text = "a stream of another library takes events and waits, no work";
                Err(DeviceError::Unsupported(text.to_owned()))
            }
        }
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.shared.check(self.raw.synchronize())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
