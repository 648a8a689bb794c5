use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mip_core::ImageBuffer;
use mip_plan::GroupId;
use mip_runtime::device::{
    BufferMemory, BufferRef, Command, DeviceError, Event, Launch, LaunchDecision, LaunchObserver, Memory,
    Stream, Timestamp,
};

use super::event::CudaEvent;
use super::executable::CudaExecutable;
use super::in_flight::{Entry, InFlight};
use super::memory::{CudaMemory, device_buffer, device_memory};
use super::shared::Shared;
use super::staging;
use super::timestamp::CudaTimestamp;
use crate::driver::{Mark, RawGraphExec, RawStream};

/// Commands beyond which finished ones are looked for when another one is queued.
const MANY: usize = 1024;

/// An in-order queue of the driver.
#[derive(Debug)]
pub(super) struct CudaStream {
    shared: Arc<Shared>,
    raw: Arc<RawStream>,
    in_flight: Arc<InFlight>,
    /// The position after the last launch that ended; `None` where launches are waited for anyway, and where the
    /// driver refuses.
    mark: Option<Arc<Mark>>,
    /// Held while a command is queued, so that the in-flight list and the driver see the same order.
    order: Mutex<()>,
    /// Whether anything was queued since the last wait.
    busy: AtomicBool,
    label: String,
}

/// The end of a launch, for its observer.
struct Completion {
    observer: Arc<dyn LaunchObserver>,
    group: GroupId,
    result: Result<(), DeviceError>,
}

impl CudaStream {
    pub(super) fn new(shared: &Arc<Shared>, label: &str) -> Result<Arc<Self>, DeviceError> {
        shared.alive()?;
        let raw = Arc::new(shared.check(RawStream::new(&shared.context))?);
        let (in_flight, order, label) = (Arc::default(), Mutex::default(), label.to_owned());
        let mark = (!shared.options.synchronous).then(|| shared.check(Mark::new(&shared.context)).ok());
        let mark = mark.flatten().map(Arc::new);
        let read = mark.clone();
        shared.streams.add(&in_flight, move || read.as_ref().map(|mark| mark.read()));
        let busy = AtomicBool::new(false);
        Ok(Arc::new(Self { shared: shared.clone(), raw, in_flight, mark, order, busy, label }))
    }

    /// The stream behind one of the runtime's.
    pub(super) fn of(stream: &dyn Stream) -> Result<&Self, DeviceError> {
        let unsupported = || DeviceError::Unsupported("a stream of another kind of device".to_owned());
        stream.as_any().downcast_ref().ok_or_else(unsupported)
    }

    pub(super) fn raw(&self) -> &RawStream {
        &self.raw
    }

    /// Queues a graph whose launches have begun.
    pub(super) fn replay(&self, graph: &mut RawGraphExec, launches: Vec<Launch>) -> Result<(), DeviceError> {
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        self.busy.store(true, Ordering::SeqCst);
        self.shared.check(graph.launch(&self.raw))?;
        for launch in launches {
            self.in_flight.add(Entry::Replayed(launch));
        }
        Ok(())
    }

    /// Has another library queue work here, which uses what is kept until the stream is past it.
    pub(super) fn queue<T>(&self, kept: impl Any + Send, work: impl FnOnce(&RawStream) -> T) -> T {
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        self.busy.store(true, Ordering::SeqCst);
        let result = work(&self.raw);
        self.in_flight.add(Entry::keep(kept));
        result
    }

    fn free(&self, memory: Arc<dyn Memory>) -> Result<(), DeviceError> {
        let freed = self.shared.check(device_memory(&*memory)?.free_ordered(&self.raw))?;
        self.in_flight.add(Entry::keep(memory));
        if freed {
            Ok(())
        } else {
            Err(DeviceError::Conflict("memory that is not stream-ordered".to_owned()))
        }
    }

    /// Queues a launch. A completion that its observer has to learn of at once is returned, to be reported
    /// without the lock.
    fn launch(&self, launch: Launch) -> Option<Completion> {
        let (observer, group) = (launch.observer.clone(), launch.group);
        if observer.begin(group) == LaunchDecision::Skip {
            return None;
        }
        let executable = launch.executable.as_any().downcast_ref::<CudaExecutable>();
        let queued = executable
            .ok_or_else(|| DeviceError::Unsupported("an executable of another kind of device".to_owned()))
            .and_then(|executable| executable.launch(&self.raw, &launch));
        let completed = match queued {
            Ok(()) if self.shared.options.synchronous => {
                let name = executable.map_or("", CudaExecutable::name).to_owned();
                Some(self.wait_for_launch(name))
            }
            Ok(()) => None,
            Err(error) => Some(Err(error)),
        };
        let Some(result) = completed else {
            self.mark(self.in_flight.add(Entry::Launch(launch)));
            return None;
        };
        // Earlier stages of a failed group may be running: memory is kept until the stream is past them.
        self.in_flight.add(Entry::keep(launch));
        Some(Completion { observer, group, result })
    }

    /// Waits for the launch just queued, so that a fault is attributed to it.
    fn wait_for_launch(&self, kernel: String) -> Result<(), DeviceError> {
        self.raw.synchronize().map_err(|error| {
            let message = error.to_string();
            let _ = self.shared.check::<()>(Err(error));
            DeviceError::Kernel { kernel, message }
        })
    }

    fn upload(&self, from: &ImageBuffer, to: &BufferRef) -> Result<(), DeviceError> {
        let kept = staging::upload(&self.shared, &self.raw, from, device_buffer(to)?, to)?;
        self.in_flight.add(Entry::keep((kept, to.clone())));
        Ok(())
    }

    fn download(&self, from: &BufferRef, to: &BufferRef) -> Result<(), DeviceError> {
        let BufferMemory::Block(block) = &to.memory else {
            return Err(DeviceError::Unsupported("downloads go to pinned memory".to_owned()));
        };
        let host = block.host().ok_or_else(|| {
            DeviceError::Unsupported("downloads go to pinned memory, not to device memory".to_owned())
        })?;
        let mut guard = host.write(to.offset..to.offset + to.layout.span())?;
        let alone = || self.shared.streams.are_idle_but(&self.in_flight);
        let memory = device_buffer(from)?;
        staging::download(&self.shared, &self.raw, memory, from, &mut guard, to, alone)?;
        self.in_flight.add(Entry::keep((guard, from.clone(), to.clone())));
        Ok(())
    }

    fn record(&self, event: &dyn Event) -> Result<(), DeviceError> {
        let event = own(event)?;
        self.shared.check(self.raw.record(event.raw()))?;
        event.recorded_at(&self.in_flight, self.in_flight.position());
        Ok(())
    }

    fn wait(&self, event: &Arc<dyn Event>) -> Result<(), DeviceError> {
        let event = own(&**event)?;
        // Looked at first: should somebody record it meanwhile, the stream waits for more than this says, not for less.
        let point = event.point();
        self.shared.check(self.raw.wait(event.raw()))?;
        if let Some(point) = point {
            self.in_flight.add(Entry::Wait(point));
        }
        Ok(())
    }

    /// Has the end of the launch just queued marked. Without a mark a fault cannot be attributed to it, no
    /// more.
    fn mark(&self, position: u64) {
        if let Some(mark) = &self.mark {
            let _refused = self.shared.check(self.raw.write_mark(mark, position as u32));
        }
    }

    /// Keeps the in-flight list short on streams that are rarely waited for.
    fn look_for_finished(&self) {
        if self.in_flight.waiting() > MANY {
            let position = self.in_flight.position();
            if let Ok(true) = self.raw.query() {
                self.in_flight.reached(position);
            }
        }
    }

    /// Waits for the stream and settles its in-flight list.
    fn finish(&self) -> Result<(), DeviceError> {
        let position = self.in_flight.position();
        if !self.busy.swap(false, Ordering::SeqCst) && self.in_flight.waiting() == 0 {
            return self.shared.alive();
        }
        let waited = self.shared.alive().and_then(|()| self.shared.check(self.raw.synchronize()));
        match &waited {
            Err(DeviceError::Lost(_)) => {
                let mark = self.mark.as_ref().map(|mark| mark.read());
                self.in_flight.settle(position, |end| self.shared.lost_launch(&self.in_flight, mark, end));
            }
            Ok(()) => self.in_flight.reached(position),
            Err(error) => self.in_flight.settle(position, |_| Err(error.clone())),
        }
        waited
    }
}

pub(super) fn own(event: &dyn Event) -> Result<&CudaEvent, DeviceError> {
    let unsupported = || DeviceError::Unsupported("an event of another kind of device".to_owned());
    event.as_any().downcast_ref().ok_or_else(unsupported)
}

impl Stream for CudaStream {
    fn submit(&self, command: Command) -> Result<(), DeviceError> {
        self.shared.alive()?;
        self.look_for_finished();
        let order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        self.busy.store(true, Ordering::SeqCst);
        match command {
            Command::Launch(launch) => {
                let completed = self.launch(launch);
                drop(order);
                if let Some(Completion { observer, group, result }) = completed {
                    observer.end(group, result);
                }
                Ok(())
            }
            Command::Record(event) => self.record(&*event),
            Command::Wait(event) => self.wait(&event),
            Command::Upload { from, to } => self.upload(&from, &to),
            Command::Free(memory) => self.free(memory),
            Command::Timestamp(timestamp) => {
                self.shared.check(self.raw.record(CudaTimestamp::of(&*timestamp)?.queue()))
            }
            Command::Download { from, to } => self.download(&from, &to),
        }
    }

    fn allocate(&self, bytes: usize) -> Result<Arc<dyn Memory>, DeviceError> {
        Ok(CudaMemory::allocate_ordered(&self.shared, &self.raw, bytes)?)
    }

    fn create_timestamp(&self) -> Result<Arc<dyn Timestamp>, DeviceError> {
        Ok(CudaTimestamp::new(&self.shared)?)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.finish()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for CudaStream {
    fn drop(&mut self) {
        // Whoever dropped it no longer asks for the result, but what the commands use must outlive them.
        if self.in_flight.waiting() > 0 && self.finish().is_err() {
            debug_assert!(
                self.shared.alive().is_err(),
                "stream '{}' failed without losing the device",
                self.label
            );
        }
    }
}
