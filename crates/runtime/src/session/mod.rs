//! A plan bound to a device, ready to execute again and again.

mod binding;
mod options;
mod poison;
mod request;
mod storage;
#[cfg(test)]
mod tests;
mod ticket;

use std::sync::{Arc, Mutex, PoisonError};

use mip_plan::{Plan, Uniforms};

pub use options::SessionOptions;
pub use request::RunRequest;
pub use storage::pooled_image;
pub use ticket::{ExecutionReport, Ticket};

use crate::device::Device;
use crate::{Block, DagScheduler, LoadedPlan, MemoryManager, RuntimeError};
use binding::RunMemory;
use ticket::Run;

/// A plan bound to a device: streams and events made, groups loaded, arena allocated once.
///
/// One run at a time: submitting another waits for the one before. A failed or cancelled run leaves the
/// session usable. May be used and dropped on any thread; a run still going goes on to its end for its ticket.
#[derive(Debug)]
pub struct Session {
    device: Arc<dyn Device>,
    manager: Arc<MemoryManager>,
    scheduler: Arc<DagScheduler>,
    loaded: Arc<LoadedPlan>,
    arena: Option<Arc<Block>>,
    initial_uniforms: Vec<Arc<[Uniforms]>>,
    poison: bool,
    current: Mutex<Current>,
}

/// What only one run at a time may use.
#[derive(Debug)]
struct Current {
    run: Option<Arc<Run>>,
    /// Device copies of the inputs, by input, made when first needed and kept at their address.
    input_blocks: Vec<Option<Arc<Block>>>,
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
        let loaded = LoadedPlan::new(&*device, plan)?;
        Self::of_loaded(device, manager, loaded, options)
    }

    /// A session of the same plan that shares the loaded groups, the memory manager and the scheduler, and has
    /// streams, events and an arena of its own: runs of both may be under way at once.
    ///
    /// # Errors
    /// As for [`Session::new`], except that nothing is loaded.
    pub fn sibling(&self) -> Result<Self, RuntimeError> {
        let loaded = self.loaded.sibling(&*self.device)?;
        let options = SessionOptions { poison: self.poison, scheduler: self.scheduler.clone() };
        Self::of_loaded(self.device.clone(), self.manager.clone(), loaded, options)
    }

    fn of_loaded(
        device: Arc<dyn Device>,
        manager: Arc<MemoryManager>,
        loaded: LoadedPlan,
        options: SessionOptions,
    ) -> Result<Self, RuntimeError> {
        let plan = loaded.plan();
        let arena = match plan.arena_bytes {
            0 => None,
            bytes => {
                let block = manager.allocate_workspace(bytes);
                let what = "the arena of intermediate images".to_owned();
                Some(Arc::new(block.map_err(|error| RuntimeError::Allocation { what, error })?))
            }
        };
        let stages = |group: &mip_plan::Group| group.stages.iter().map(|s| s.uniforms.clone()).collect();
        Ok(Self {
            initial_uniforms: plan.groups.iter().map(stages).collect(),
            current: Mutex::new(Current { run: None, input_blocks: vec![None; plan.inputs.len()] }),
            poison: options.poison,
            scheduler: options.scheduler,
            device,
            manager,
            loaded: Arc::new(loaded),
            arena,
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

    /// Starts a run; waits for the run before it, if that is still going.
    ///
    /// # Errors
    /// [`RuntimeError::InputCount`], [`RuntimeError::Input`] or [`RuntimeError::Uniforms`] when the request does
    /// not fit the plan, [`RuntimeError::Allocation`] when there is no memory for an output. Nothing was
    /// launched then. Failures of tasks are in the ticket's report.
    pub fn submit(&self, request: RunRequest) -> Result<Ticket, RuntimeError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(previous) = current.run.take() {
            previous.finish();
        }
        request.check(self.plan(), &self.initial_uniforms)?;
        let uniforms =
            if request.uniforms.is_empty() { self.initial_uniforms.clone() } else { request.uniforms };
        let memory = RunMemory::allocate(self, &request.inputs, &mut current.input_blocks)?;
        if self.poison {
            let blocks = memory.written_blocks().chain(self.arena.as_deref());
            poison::fill(&self.loaded.streams, blocks)?;
        }
        let bindings = memory.bind(self, request.inputs, uniforms)?;
        let pending = self.scheduler.submit(&self.loaded, bindings, &request.cancel);
        let run = Run::start(self.plan().clone(), pending, memory, self.arena.clone());
        current.run = Some(run.clone());
        Ok(Ticket::new(run))
    }

    /// Starts a run and waits for it.
    ///
    /// # Errors
    /// As for [`Session::submit`].
    pub fn execute(&self, request: RunRequest) -> Result<ExecutionReport, RuntimeError> {
        Ok(self.submit(request)?.wait())
    }
}
