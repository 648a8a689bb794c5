use std::fmt;
use std::sync::Arc;

use super::{Command, DeviceError, Event, Launch, Stream, Timestamp};

/// The commands of one run, written down instead of queued.
///
/// It holds launches, records, waits and timestamps only, begins and ends on stream 0: the other streams
/// first wait for an event of stream 0, and stream 0 at last waits for an event of each of them. Its events
/// belong to it: nobody outside records them or waits for them.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The streams it is for.
    pub streams: Vec<Arc<dyn Stream>>,
    /// Each command with the index of its stream, in the order in which they would have been queued.
    pub commands: Vec<(usize, Command)>,
}

/// A recording made ready: it is queued as one, again and again. It keeps what it uses alive.
pub trait Graph: fmt::Debug + Send + Sync {
    /// Queues the recorded commands, with `launches` in place of those recorded: as many, of the same groups, in
    /// the same order. Their memory and uniforms may be others than at capture; sizes and strides may not. Work
    /// queued before on stream 0 is done before, work queued on it afterwards comes after all of it.
    ///
    /// # Errors
    /// When the launches do not fit, or the device refuses. Some launches may have been queued then.
    fn replay(&self, launches: Vec<Launch>) -> Result<(), DeviceError>;
}

/// A graph for devices whose streams are cheap to feed: the list of commands, queued one by one.
#[derive(Debug)]
pub struct CommandList {
    streams: Vec<Arc<dyn Stream>>,
    steps: Vec<(usize, Step)>,
}

#[derive(Debug)]
enum Step {
    /// The next launch; it has to be of this group.
    Launch(usize),
    Record(Arc<dyn Event>),
    Wait(Arc<dyn Event>),
    Timestamp(Arc<dyn Timestamp>),
}

impl CommandList {
    /// The list of a recording.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] for commands other than launches, records, waits and timestamps.
    pub fn new(recording: Recording) -> Result<Self, DeviceError> {
        let step = |(stream, command): (usize, Command)| {
            let step = match command {
                Command::Launch(launch) => Step::Launch(launch.group),
                Command::Record(event) => Step::Record(event),
                Command::Wait(event) => Step::Wait(event),
                Command::Timestamp(timestamp) => Step::Timestamp(timestamp),
                Command::Upload { .. } | Command::Download { .. } | Command::Free(_) => {
                    let text = "only launches, records, waits and timestamps can be captured";
                    return Err(DeviceError::Unsupported(text.to_owned()));
                }
            };
            Ok((stream, step))
        };
        let steps = recording.commands.into_iter().map(step).collect::<Result<_, _>>()?;
        Ok(Self { streams: recording.streams, steps })
    }
}

/// Refuses launches that are not those a graph was captured with.
///
/// # Errors
/// [`DeviceError::Conflict`] that says what differs.
pub fn check_launches(captured: &[usize], launches: &[Launch]) -> Result<(), DeviceError> {
    if captured.iter().eq(launches.iter().map(|launch| &launch.group)) {
        return Ok(());
    }
    let given: Vec<usize> = launches.iter().map(|launch| launch.group).collect();
    Err(DeviceError::Conflict(format!("a graph of groups {captured:?} was given launches of {given:?}")))
}

impl Graph for CommandList {
    fn replay(&self, launches: Vec<Launch>) -> Result<(), DeviceError> {
        let groups = self.steps.iter().filter_map(|(_, step)| match step {
            Step::Launch(group) => Some(*group),
            Step::Record(_) | Step::Wait(_) | Step::Timestamp(_) => None,
        });
        check_launches(&groups.collect::<Vec<_>>(), &launches)?;
        let mut launches = launches.into_iter();
        for (stream, step) in &self.steps {
            let command = match step {
                Step::Launch(_) => Command::Launch(launches.next().expect("counted above")),
                Step::Record(event) => Command::Record(event.clone()),
                Step::Wait(event) => Command::Wait(event.clone()),
                Step::Timestamp(timestamp) => Command::Timestamp(timestamp.clone()),
            };
            self.streams[*stream].submit(command)?;
        }
        Ok(())
    }
}
