use std::sync::Arc;

use super::engine::Engine;
use super::{Record, Site};
use crate::device::{Command, CommandList, DeviceError, Graph, Launch, Recording};

/// A list of commands that writes down when it is queued.
#[derive(Debug)]
pub(super) struct NullGraph {
    list: CommandList,
    engine: Arc<Engine>,
}

impl NullGraph {
    pub(super) fn capture(engine: &Arc<Engine>, recording: Recording) -> Result<Arc<dyn Graph>, DeviceError> {
        let launched = recording.commands.iter().filter_map(|(_, command)| match command {
            Command::Launch(launch) => Some(launch.group),
            _ => None,
        });
        let groups = launched.collect();
        let list = CommandList::new(recording)?;
        engine.record(Record::Capture { groups });
        Ok(Arc::new(Self { list, engine: engine.clone() }))
    }
}

impl Graph for NullGraph {
    fn replay(&self, launches: Vec<Launch>) -> Result<(), DeviceError> {
        self.engine.faults.lock().check(&Site::Replay)?;
        self.engine.record(Record::Replay);
        self.list.replay(launches)
    }
}
