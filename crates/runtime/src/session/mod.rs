//! A plan bound to a device, ready to execute again and again.

mod binding;
mod image;
mod options;
mod poison;
mod request;
mod storage;
#[cfg(test)]
mod tests;
mod ticket;

use std::sync::{Arc, Mutex, PoisonError};

use mip_core::ImageBuffer;
use mip_plan::{Plan, Uniforms};

pub use image::{DeviceImage, RunInput};
pub use options::SessionOptions;
pub use request::{RunOrder, RunRequest};
pub use storage::{pooled_image, pooled_image_with};
pub use ticket::{RunReport, Ticket};

use crate::device::{Command, Device, DeviceError, Event};
use crate::profiling::Kind;
use crate::scheduler::{GraphSlot, Ordered};
use crate::{AllocatorMode, Block, DagScheduler, LoadedPlan, MemoryManager, RuntimeError};
use binding::RunMemory;
use ticket::Run;

/// A plan bound to a device: streams and events made, groups loaded, arena allocated once (in stream-ordered mode
/// each run has its own, unless it is replayed).
///
/// One run at a time: submitting another waits for the one before. A failed or cancelled run leaves the
/// session usable. May be used and dropped on any thread; a run still going goes on to its end for its ticket.
#[derive(Debug)]
pub struct Session {
    device: Arc<dyn Device>,
    manager: Arc<MemoryManager>,
    scheduler: Arc<DagScheduler>,
    loaded: Arc<LoadedPlan>,
    initial_uniforms: Vec<Arc<[Uniforms]>>,
    poison: bool,
    replay: bool,
    /// Present where device memory is allocated in stream order.
    ordered: Option<OrderEvents>,
    current: Mutex<Current>,
}

/// The events that order the streams around stream-ordered memory and runs in order; none where there is one stream.
#[derive(Debug)]
struct OrderEvents {
    fork: Option<Arc<dyn Event>>,
    joins: Vec<Arc<dyn Event>>,
}

/// What only one run at a time may use.
#[derive(Debug)]
struct Current {
    run: Option<Arc<Run>>,
    /// Device copies of the inputs, by input, made when first needed and kept at their address. In stream-ordered
    /// mode each run has its own.
    input_blocks: Vec<Option<Arc<Block>>>,
    /// Kept at its address for all runs. In stream-ordered mode each run has its own, unless it is replayed.
    arena: Option<Arc<Block>>,
    graph: GraphSlot,
    /// For runs in order where memory needs none; made when first needed.
    order: Option<OrderEvents>,
}

impl Session {
    /// Makes everything ready that does not depend on pixels.
    ///
    /// # Errors
    /// [`RuntimeError::Load`] when a group cannot be prepared, [`RuntimeError::Allocation`] when there is no
    /// memory for the arena, [`RuntimeError::Device`] when the device refuses a stream or an event.
    pub fn new(
        device: Arc<dyn Device>,
        manager: Arc<MemoryManager>,
        plan: Arc<Plan>,
        options: SessionOptions,
    ) -> Result<Self, RuntimeError> {
        let probe = options.scheduler.probe();
        probe.adopt(&*device);
        let span = probe.span(Kind::Load, || "session".to_owned());
        let loaded = LoadedPlan::probed(&*device, plan, probe)?;
        span.end();
        Self::of_loaded(device, manager, loaded, options)
    }

    /// A session of the same plan that shares the loaded groups, the memory manager and the scheduler, and has
    /// streams, events and an arena of its own: runs of both may be under way at once.
    ///
    /// # Errors
    /// As for [`Session::new`], except that nothing is loaded.
    pub fn sibling(&self) -> Result<Self, RuntimeError> {
        let _span = self.scheduler.probe().span(Kind::Load, || "sibling session".to_owned());
        let loaded = self.loaded.sibling(&*self.device)?;
        let options =
            SessionOptions { poison: self.poison, replay: self.replay, scheduler: self.scheduler.clone() };
        Self::of_loaded(self.device.clone(), self.manager.clone(), loaded, options)
    }

    fn of_loaded(
        device: Arc<dyn Device>,
        manager: Arc<MemoryManager>,
        loaded: LoadedPlan,
        options: SessionOptions,
    ) -> Result<Self, RuntimeError> {
        let plan = loaded.plan();
        let ordered = match manager.effective_mode().0 {
            AllocatorMode::Pooled => None,
            AllocatorMode::StreamOrdered => Some(OrderEvents::new(&*device, plan.streams)?),
        };
        let current = Current {
            run: None,
            input_blocks: vec![None; plan.inputs.len()],
            // What can fail for want of memory fails now rather than at the first run.
            arena: if ordered.is_none() {
                binding::arena(plan, |n| manager.allocate_workspace(n))?
            } else {
                None
            },
            graph: GraphSlot::default(),
            order: None,
        };
        let stages = |group: &mip_plan::Group| group.stages.iter().map(|s| s.uniforms.clone()).collect();
        Ok(Self {
            initial_uniforms: plan.groups.iter().map(stages).collect(),
            current: Mutex::new(current),
            poison: options.poison,
            replay: options.replay,
            ordered,
            scheduler: options.scheduler,
            device,
            manager,
            loaded: Arc::new(loaded),
        })
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        self.loaded.plan()
    }

    /// The device.
    pub const fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// Where the memory comes from.
    pub const fn manager(&self) -> &Arc<MemoryManager> {
        &self.manager
    }

    /// What launches the groups.
    pub const fn scheduler(&self) -> &Arc<DagScheduler> {
        &self.scheduler
    }

    /// Starts a run; waits for the run before it, if that is still going and not both have a [`RunRequest::order`].
    ///
    /// # Errors
    /// [`RuntimeError::InputCount`], [`RuntimeError::Input`] or [`RuntimeError::Uniforms`] when the request does
    /// not fit the plan, [`RuntimeError::Allocation`] when there is no memory for an output. Nothing was
    /// launched then. Failures of tasks are in the ticket's report.
    pub fn submit(&self, request: RunRequest) -> Result<Ticket, RuntimeError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // The streams keep runs in order apart: each ends, and the next begins, on the first of them. Poison is the host's.
        let ordered = request.order.is_some() && !self.poison;
        let follows = |previous: &Arc<Run>| ordered && previous.is_in_order();
        if let Some(previous) = current.run.take_if(|previous| !follows(previous)) {
            previous.finish();
        }
        request.check(self.plan(), &self.initial_uniforms)?;
        if request.order.is_some() && self.ordered.is_none() && current.order.is_none() {
            current.order = Some(OrderEvents::new(&*self.device, self.plan().streams)?);
        }
        let uniforms =
            if request.uniforms.is_empty() { self.initial_uniforms.clone() } else { request.uniforms };
        let Current { input_blocks, graph, arena, order, .. } = &mut *current;
        let arena = self.arena(arena)?;
        let memory = RunMemory::allocate(self, &request.inputs, input_blocks, request.keep_on_device)?;
        if self.poison {
            let blocks = memory.written_blocks().chain(arena.as_deref());
            poison::fill(&self.loaded.streams, blocks)?;
        }
        let mut bindings = memory.bind(self, request.inputs, uniforms, arena.as_ref())?;
        if let Some(own) = request.order {
            let events = || order.as_ref().map(OrderEvents::ordered).unwrap_or_default();
            let ordered = bindings.ordered.take().unwrap_or_else(events);
            bindings.ordered = Some(Ordered { after: own.after, done: Some(own.done), ..ordered });
        }
        let (device, loaded, cancel) = (&*self.device, &self.loaded, &request.cancel);
        let pending = if self.replay {
            self.scheduler.submit_replayed(device, loaded, graph, bindings, cancel)
        } else {
            self.scheduler.submit(loaded, bindings, cancel)
        };
        let run = Run::start(self.plan().clone(), pending, memory, arena);
        current.run = Some(run.clone());
        Ok(Ticket::new(run))
    }

    /// The memory of this run's intermediates.
    fn arena(&self, kept: &mut Option<Arc<Block>>) -> Result<Option<Arc<Block>>, RuntimeError> {
        if let Some(arena) = kept {
            return Ok(Some(arena.clone()));
        }
        let Some(first) = self.loaded.streams.first() else { return Ok(None) };
        let arena = binding::arena(self.plan(), |bytes| self.manager.allocate_on(&**first, bytes))?;
        // A graph needs it to stay where it is.
        if self.ordered.is_none() || self.replay {
            kept.clone_from(&arena);
        }
        Ok(arena)
    }

    /// Waits for the run under way and gives back the memory that the session keeps between runs; the next run
    /// takes new. (The manager may keep it cached: see [`MemoryManager::trim`].)
    pub fn trim(&self) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(previous) = current.run.take() {
            previous.finish();
        }
        current.input_blocks.fill(None);
        current.arena = None;
    }

    /// Copies an image (batch) to device memory, as an input for this or another session of this device.
    ///
    /// # Errors
    /// [`RuntimeError::Allocation`] when there is no memory, [`RuntimeError::Device`] when the copy fails.
    pub fn upload(&self, image: &ImageBuffer) -> Result<DeviceImage, RuntimeError> {
        upload_image(&self.manager, image)
    }

    /// Copies an image (batch) from device memory.
    ///
    /// # Errors
    /// As for [`Session::upload`].
    pub fn download(&self, image: &DeviceImage) -> Result<ImageBuffer, RuntimeError> {
        download_image(&self.manager, image)
    }

    /// Starts a run and waits for it.
    ///
    /// # Errors
    /// As for [`Session::submit`].
    pub fn execute(&self, request: RunRequest) -> Result<RunReport, RuntimeError> {
        Ok(self.submit(request)?.wait())
    }
}

/// Copies an image (batch) to memory of a manager's device.
///
/// # Errors
/// [`RuntimeError::Allocation`] when there is no memory, [`RuntimeError::Device`] when the copy fails.
pub fn upload_image(manager: &MemoryManager, image: &ImageBuffer) -> Result<DeviceImage, RuntimeError> {
    let refused = |error| RuntimeError::Device { what: "copying an image to the device".to_owned(), error };
    let layout = binding::pitched(image.desc(), image.batch_size()).map_err(refused)?;
    let block = manager.allocate_device(layout.span());
    let what = || format!("{} on the device", image.desc());
    let block = block.map_err(|error| RuntimeError::Allocation { what: what(), error })?;
    let on_device = DeviceImage::new(layout, Arc::new(block));
    let command = Command::Upload { from: image.clone(), to: on_device.buffer() };
    copy(&**manager.device(), command).map_err(refused)?;
    Ok(on_device)
}

/// Copies an image (batch), which is complete, from the memory of a manager's device.
///
/// # Errors
/// [`RuntimeError::Allocation`] when there is no memory, [`RuntimeError::Device`] when the copy fails.
pub fn download_image(manager: &MemoryManager, image: &DeviceImage) -> Result<ImageBuffer, RuntimeError> {
    let refused = |error| RuntimeError::Device { what: "copying an image from the device".to_owned(), error };
    if image.offset() == 0 && image.block().memory().host().is_some() {
        return pooled_image(*image.layout(), image.block().clone()).map_err(refused);
    }
    let what = || format!("{} in pinned memory", image.desc());
    let block = manager.allocate_pinned(image.layout().span());
    let block = block.map_err(|error| RuntimeError::Allocation { what: what(), error })?;
    let pinned = DeviceImage::new(*image.layout(), Arc::new(block));
    let command = Command::Download { from: image.buffer(), to: pinned.buffer() };
    copy(&**manager.device(), command).map_err(refused)?;
    pooled_image(*image.layout(), pinned.block().clone()).map_err(refused)
}

/// Makes a copy between runs, on a stream of its own.
fn copy(device: &dyn Device, command: Command) -> Result<(), DeviceError> {
    let stream = device.create_stream("copies")?;
    stream.submit(command)?;
    stream.synchronize()
}

impl OrderEvents {
    fn new(device: &dyn Device, streams: u32) -> Result<Self, RuntimeError> {
        let event = || {
            let what = || "creating an event that orders the streams".to_owned();
            device.create_event().map_err(|error| RuntimeError::Device { what: what(), error })
        };
        Ok(Self {
            fork: if streams > 1 { Some(event()?) } else { None },
            joins: (1..streams).map(|_| event()).collect::<Result<_, _>>()?,
        })
    }

    /// What they order, with nothing to give back.
    fn ordered(&self) -> Ordered {
        Ordered { fork: self.fork.clone(), joins: self.joins.clone(), ..Ordered::default() }
    }
}
