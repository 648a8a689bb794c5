use std::any::Any;
use std::sync::Arc;

use super::engine::Engine;
use super::memory::NullMemory;
use super::{CommandKind, Record, Site};
use crate::device::{Command, DeviceError, Event, HostTimestamp, Memory, Stream, Timestamp};

/// A queue of the engine.
#[derive(Debug)]
pub(super) struct NullStream {
    id: usize,
    engine: Arc<Engine>,
}

impl NullStream {
    pub(super) fn create(engine: &Arc<Engine>, label: &str) -> Arc<dyn Stream> {
        let id = engine.add_stream();
        engine.record(Record::CreateStream { stream: id, label: label.to_owned() });
        Arc::new(Self { id, engine: engine.clone() })
    }
}

impl Stream for NullStream {
    fn submit(&self, command: Command) -> Result<(), DeviceError> {
        let event = match &command {
            Command::Record(event) | Command::Wait(event) => {
                event.as_any().downcast_ref::<NullEvent>().map(|e| e.id)
            }
            _ => None,
        };
        let kind = CommandKind::of(&command);
        if let Err(error) = self.engine.faults.lock().check(&Site::Submit(kind)) {
            let command = match (kind, event) {
                (CommandKind::Launch(group), _) => format!("launch group {group}"),
                (CommandKind::Record, Some(event)) => format!("record e{event}"),
                (CommandKind::Wait, Some(event)) => format!("wait e{event}"),
                (other, _) => format!("{other:?}").to_lowercase(),
            };
            self.engine.record(Record::Refused { stream: self.id, command });
            return Err(error);
        }
        self.engine.submit(self.id, command, event);
        Ok(())
    }

    fn allocate(&self, bytes: usize) -> Result<Arc<dyn Memory>, DeviceError> {
        NullMemory::allocate_ordered(&self.engine, self.id, bytes)
    }

    fn create_timestamp(&self) -> Result<Arc<dyn Timestamp>, DeviceError> {
        Ok(Arc::new(HostTimestamp::default()))
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        let result = self.engine.drain(self.id);
        self.engine.record(Record::SynchronizeStream { stream: self.id });
        result
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for NullStream {
    /// Runs what is still queued, as real devices do: queued commands hold memory.
    fn drop(&mut self) {
        // A failure nobody asked for before dropping the stream is in the records.
        let _ = self.engine.drain(self.id);
    }
}

/// Points of a stream, counted by the engine.
#[derive(Debug)]
pub(super) struct NullEvent {
    id: usize,
    engine: Arc<Engine>,
}

impl NullEvent {
    pub(super) fn create(engine: &Arc<Engine>) -> Arc<dyn Event> {
        let id = engine.add_event();
        engine.record(Record::CreateEvent { event: id });
        Arc::new(Self { id, engine: engine.clone() })
    }
}

impl Event for NullEvent {
    fn is_complete(&self) -> bool {
        self.engine.is_reached(self.id)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.engine.reach(self.id);
        self.engine.record(Record::SynchronizeEvent { event: self.id });
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
