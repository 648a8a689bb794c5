use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mip_core::{ImageView, ImageViewMut};

use super::fault::Faults;
use super::memory::{OrderedPool, own};
use super::{CommandKind, Execution, NullExecutable, NullOptions, Record, Site, host_of};
use crate::device::{BufferMemory, BufferRef, Command, DeviceError, HostTimestamp, Launch, LaunchDecision};

/// A mutex whose data stays usable after a panic: a failed test must not hide behind a poisoned lock.
#[derive(Debug, Default)]
pub(super) struct Shared<T>(Mutex<T>);

impl<T> Shared<T> {
    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What all handles of one null device share: records, faults, and the queues of its streams.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) options: NullOptions,
    pub(super) records: Shared<Vec<Record>>,
    pub(super) faults: Shared<Faults>,
    pub(super) allocated: Shared<usize>,
    pub(super) ordered: Shared<OrderedPool>,
    ids: Shared<Ids>,
    queues: Shared<Queues>,
    /// Held while a command runs: commands of all streams run one at a time.
    running: Shared<()>,
}

#[derive(Debug, Default)]
pub(super) struct Ids {
    pub(super) memory: usize,
}

#[derive(Debug, Default)]
struct Queues {
    streams: Vec<StreamState>,
    events: Vec<EventState>,
    random: u64,
}

#[derive(Debug, Default)]
struct StreamState {
    queue: VecDeque<Queued>,
    error: Option<DeviceError>,
}

/// Points of an event, counted: how many were submitted, and the latest reached.
#[derive(Debug, Default, Clone, Copy)]
struct EventState {
    submitted: u64,
    reached: u64,
}

#[derive(Debug)]
enum Queued {
    Record { event: usize, point: u64 },
    Wait { event: usize, point: u64 },
    Other(Box<Command>),
}

impl Engine {
    pub(super) fn new(options: NullOptions) -> Arc<Self> {
        let seed = match options.execution {
            Execution::Immediate => 0,
            Execution::Shuffled { seed } => seed,
        };
        Arc::new(Self {
            options,
            records: Shared::default(),
            faults: Shared::default(),
            allocated: Shared::default(),
            ordered: Shared::default(),
            ids: Shared::default(),
            queues: Shared(Mutex::new(Queues { random: seed, ..Queues::default() })),
            running: Shared::default(),
        })
    }

    pub(super) fn record(&self, record: Record) {
        self.records.lock().push(record);
    }

    pub(super) fn next_id(&self, counter: impl Fn(&mut Ids) -> &mut usize) -> usize {
        let mut ids = self.ids.lock();
        let id = counter(&mut ids);
        *id += 1;
        *id - 1
    }

    pub(super) fn add_stream(&self) -> usize {
        let mut queues = self.queues.lock();
        queues.streams.push(StreamState::default());
        queues.streams.len() - 1
    }

    pub(super) fn add_event(&self) -> usize {
        let mut queues = self.queues.lock();
        queues.events.push(EventState::default());
        queues.events.len() - 1
    }

    /// Queues a command. Waits are for the point recorded last at this moment, as on real devices.
    pub(super) fn submit(&self, stream: usize, command: Command, event: Option<usize>) {
        let mut queues = self.queues.lock();
        let queued = match (command, event) {
            (Command::Record(_), Some(event)) => {
                queues.events[event].submitted += 1;
                Queued::Record { event, point: queues.events[event].submitted }
            }
            (Command::Wait(_), Some(event)) => Queued::Wait { event, point: queues.events[event].submitted },
            (other, _) => Queued::Other(Box::new(other)),
        };
        queues.streams[stream].queue.push_back(queued);
        drop(queues);
        if self.options.execution == Execution::Immediate {
            self.run_until(|queues| queues.streams.iter().all(|s| s.queue.is_empty()));
        }
    }

    /// Runs until a stream is empty; its first unobserved failure.
    pub(super) fn drain(&self, stream: usize) -> Result<(), DeviceError> {
        self.run_until(|queues| queues.streams[stream].queue.is_empty());
        self.queues.lock().streams[stream].error.take().map_or(Ok(()), Err)
    }

    /// Runs until every stream is empty.
    pub(super) fn drain_all(&self) {
        self.run_until(|queues| queues.streams.iter().all(|s| s.queue.is_empty()));
    }

    /// Runs until the last recorded point of an event is reached.
    pub(super) fn reach(&self, event: usize) {
        let point = self.queues.lock().events[event].submitted;
        self.run_until(|queues| queues.events[event].reached >= point);
    }

    pub(super) fn is_reached(&self, event: usize) -> bool {
        let state = self.queues.lock().events[event];
        state.reached >= state.submitted
    }

    fn run_until(&self, done: impl Fn(&Queues) -> bool) {
        let _one_at_a_time = self.running.lock();
        loop {
            let mut queues = self.queues.lock();
            if done(&queues) {
                return;
            }
            let Some((stream, queued)) = queues.next_command() else { return };
            if let Queued::Record { event, point } = queued {
                queues.events[event].reached = point;
            }
            drop(queues);
            if let Err(error) = self.run(stream, queued) {
                self.record(Record::Unobserved { stream, error: error.clone() });
                self.queues.lock().streams[stream].error.get_or_insert(error);
            }
        }
    }

    fn run(&self, stream: usize, queued: Queued) -> Result<(), DeviceError> {
        match queued {
            Queued::Record { event, .. } => self.record(Record::Record { stream, event }),
            Queued::Wait { event, point } => {
                self.record(Record::Wait { stream, event, recorded: point > 0 });
            }
            Queued::Other(command) => return self.run_command(stream, *command),
        }
        Ok(())
    }

    fn run_command(&self, stream: usize, command: Command) -> Result<(), DeviceError> {
        match command {
            Command::Launch(launch) => self.launch(stream, &launch)?,
            Command::Upload { from, to } => {
                self.record(Record::Upload { stream, what: describe(&to) });
                self.fault(CommandKind::Upload)?;
                with_pixels_mut(&to, |to| copy(from.view(), to))?;
            }
            Command::Download { from, to } => {
                self.record(Record::Download { stream, what: describe(&from) });
                self.fault(CommandKind::Download)?;
                with_pixels(&from, |from| with_pixels_mut(&to, |to| copy(from, to)))??;
            }
            Command::Free(memory) => {
                self.fault(CommandKind::Free)?;
                own(&*memory).ok_or_else(foreign_memory)?.free_ordered(stream)?;
            }
            // Not recorded: the same happens with and without a profile.
            Command::Timestamp(timestamp) => HostTimestamp::of(&*timestamp)?.reach(),
            Command::Record(_) | Command::Wait(_) => {
                return Err(DeviceError::Unsupported("an event of another device".to_owned()));
            }
        }
        Ok(())
    }

    /// `Err` only for a lost device, which tells the observer nothing any more.
    fn launch(&self, stream: usize, launch: &Launch) -> Result<(), DeviceError> {
        let group = launch.group;
        if launch.observer.begin(group) == LaunchDecision::Skip {
            self.record(Record::Skip { stream, group });
            return Ok(());
        }
        self.record(Record::Launch { stream, group });
        let result = self.fault(CommandKind::Launch(group)).and_then(|()| self.compute(launch));
        if let Err(error) = &result {
            self.record(Record::Failed { stream, group, error: error.clone() });
        }
        if let Err(DeviceError::Lost(_)) = result {
            return result;
        }
        launch.observer.end(group, result);
        Ok(())
    }

    fn compute(&self, launch: &Launch) -> Result<(), DeviceError> {
        let buffers = launch.inputs.iter().chain(&launch.outputs);
        let blocks = buffers.filter_map(|buffer| match &buffer.memory {
            BufferMemory::Block(block) => Some(&**block),
            BufferMemory::Host(_) => None,
        });
        let workspace = launch.workspace.as_ref().map(|(block, ..)| &**block);
        blocks.chain(workspace).filter_map(own).try_for_each(super::memory::NullMemory::check_alive)?;
        let Some(function) = &self.options.on_launch else { return Ok(()) };
        let executable = launch.executable.as_any().downcast_ref::<NullExecutable>();
        let loaded = executable.ok_or_else(|| {
            DeviceError::Unsupported("a group loaded for another device cannot run here".to_owned())
        })?;
        function(launch, &loaded.group)
    }

    fn fault(&self, kind: CommandKind) -> Result<(), DeviceError> {
        self.faults.lock().check(&Site::Run(kind))
    }
}

impl Queues {
    /// Takes the next command from one of the streams that may go on, picked at random.
    fn next_command(&mut self) -> Option<(usize, Queued)> {
        let may_run = |queued: &Queued| match *queued {
            Queued::Wait { event, point } => self.events[event].reached >= point,
            _ => true,
        };
        let heads = self.streams.iter().enumerate().filter_map(|(i, s)| Some((i, s.queue.front()?)));
        let ready: Vec<usize> = heads.filter(|(_, head)| may_run(head)).map(|(i, _)| i).collect();
        if ready.is_empty() {
            return None;
        }
        let stream = ready[self.next_random() as usize % ready.len()];
        Some((stream, self.streams[stream].queue.pop_front()?))
    }

    /// `SplitMix64`.
    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) >> 1
    }
}

fn describe(buffer: &BufferRef) -> String {
    format!("{} (batch of {})", buffer.layout.desc, buffer.layout.batch_size)
}

/// Calls `f` with the pixels of a buffer in null-device memory or in host memory.
pub(crate) fn with_pixels<R>(
    buffer: &BufferRef,
    f: impl FnOnce(ImageView<'_>) -> R,
) -> Result<R, DeviceError> {
    match &buffer.memory {
        BufferMemory::Host(image) => Ok(f(image.view())),
        BufferMemory::Block(memory) => {
            let block = host_of(&**memory).ok_or_else(foreign_memory)?;
            let bytes = block.read(buffer.offset..buffer.offset + buffer.layout.span())?;
            let view = ImageView::new(buffer.layout, &bytes).map_err(|e| conflict(&e))?;
            Ok(f(view))
        }
    }
}

/// Calls `f` with the pixels of a buffer in null-device memory, writable.
pub(crate) fn with_pixels_mut<R>(
    buffer: &BufferRef,
    f: impl FnOnce(ImageViewMut<'_>) -> R,
) -> Result<R, DeviceError> {
    let BufferMemory::Block(memory) = &buffer.memory else {
        return Err(DeviceError::Conflict("a command writes to the caller's own image".to_owned()));
    };
    let block = host_of(&**memory).ok_or_else(foreign_memory)?;
    let mut bytes = block.write(buffer.offset..buffer.offset + buffer.layout.span())?;
    let view = ImageViewMut::new(buffer.layout, &mut bytes).map_err(|e| conflict(&e))?;
    Ok(f(view))
}

fn foreign_memory() -> DeviceError {
    DeviceError::Unsupported("memory of another device cannot be used here".to_owned())
}

fn conflict(error: &mip_core::ImageError) -> DeviceError {
    DeviceError::Conflict(error.to_string())
}

fn copy(from: ImageView<'_>, mut to: ImageViewMut<'_>) {
    let layout = *from.layout();
    for frame in 0..layout.batch_size {
        for plane in 0..layout.desc.planes() {
            for y in 0..layout.desc.height() as usize {
                to.row_mut(frame, plane, y).copy_from_slice(from.row(frame, plane, y));
            }
        }
    }
}
