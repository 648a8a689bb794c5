use std::any::Any;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use mip_core::{ImageBuffer, threads};
use mip_runtime::device::{BufferRef, Command, DeviceError, Event, HostTimestamp, Launch, Stream, Timestamp};

use super::event::CpuEvent;
use super::{copy, launch};

/// A thread with a queue.
#[derive(Debug)]
pub(super) struct CpuStream {
    /// `None` only while it is dropped.
    queue: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    failure: Arc<Failure>,
}

/// A command with its events resolved: which point is meant is settled when the command is queued.
enum Job {
    Launch(Box<Launch>),
    Reach(Arc<dyn Event>, u64),
    Wait(Arc<dyn Event>, u64),
    Upload { from: ImageBuffer, to: BufferRef },
    Download { from: BufferRef, to: BufferRef },
    Timestamp(Arc<dyn Timestamp>),
}

/// The first failure of a command that has nobody else to tell.
#[derive(Debug, Default)]
struct Failure(Mutex<Option<DeviceError>>);

impl Failure {
    fn slot(&self) -> MutexGuard<'_, Option<DeviceError>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, result: Result<(), DeviceError>) {
        if let Err(error) = result {
            self.slot().get_or_insert(error);
        }
    }
}

impl CpuStream {
    /// Starts the thread.
    pub(super) fn new(label: &str) -> Result<Self, DeviceError> {
        let (queue, jobs) = channel();
        let failure = Arc::new(Failure::default());
        let first = failure.clone();
        let thread = threads::spawn(&format!("mip-{label}"), "run a stream", move || work(&jobs, &first));
        let thread = thread.map_err(|none| DeviceError::Driver {
            call: "creating a stream",
            message: format!("{none}, or use fewer streams"),
        })?;
        Ok(Self { queue: Some(queue), thread: Some(thread), failure })
    }

    /// Waits until everything queued so far has run, whatever became of it.
    pub(super) fn reach_end(&self) -> Result<(), DeviceError> {
        let event = Arc::new(CpuEvent::default());
        let point = event.record();
        self.send(Job::Reach(event.clone(), point))?;
        event.wait(point);
        Ok(())
    }

    fn send(&self, job: Job) -> Result<(), DeviceError> {
        let queue = self.queue.as_ref().expect("present until drop");
        queue.send(job).map_err(|_| DeviceError::Lost("a stream's thread has ended".to_owned()))
    }
}

/// Runs commands until every sender is gone and the queue is empty.
fn work(jobs: &Receiver<Job>, failure: &Failure) {
    for job in jobs {
        match job {
            Job::Launch(command) => failure.keep(launch::run(*command)),
            Job::Reach(event, point) => own(&event).expect("checked when queued").reach(point),
            Job::Wait(event, point) => own(&event).expect("checked when queued").wait(point),
            Job::Upload { from, to } => failure.keep(copy::upload(&from, &to)),
            Job::Download { from, to } => failure.keep(copy::download(&from, &to)),
            Job::Timestamp(timestamp) => {
                failure.keep(HostTimestamp::of(&*timestamp).map(HostTimestamp::reach));
            }
        }
    }
}

fn own(event: &Arc<dyn Event>) -> Result<&CpuEvent, DeviceError> {
    event
        .as_any()
        .downcast_ref()
        .ok_or_else(|| DeviceError::Unsupported("an event of another device was given to the CPU".to_owned()))
}

impl Stream for CpuStream {
    fn submit(&self, command: Command) -> Result<(), DeviceError> {
        match command {
            Command::Launch(launch) => self.send(Job::Launch(Box::new(launch))),
            Command::Upload { from, to } => self.send(Job::Upload { from, to }),
            Command::Download { from, to } => self.send(Job::Download { from, to }),
            Command::Timestamp(timestamp) => self.send(Job::Timestamp(timestamp)),
            Command::Record(event) => {
                let point = own(&event)?.record();
                self.send(Job::Reach(event, point))
            }
            Command::Free(_) => {
                let text = "the CPU has no stream-ordered memory to free";
                Err(DeviceError::Unsupported(text.to_owned()))
            }
            Command::Wait(event) => {
                let point = own(&event)?.last();
                self.send(Job::Wait(event, point))
            }
        }
    }

    fn create_timestamp(&self) -> Result<Arc<dyn Timestamp>, DeviceError> {
        Ok(Arc::new(HostTimestamp::default()))
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.reach_end()?;
        self.failure.slot().take().map_or(Ok(()), Err)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for CpuStream {
    /// Lets the queue run empty, then ends the thread.
    fn drop(&mut self) {
        drop(self.queue.take());
        let Some(thread) = self.thread.take() else { return };
        // The last handle may be held by a command of this very stream; then the thread ends by itself.
        if thread.thread().id() != thread::current().id() && thread.join().is_err() {
            self.failure.keep(Err(DeviceError::Lost("a stream's thread has panicked".to_owned())));
        }
    }
}
