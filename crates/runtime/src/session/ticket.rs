use std::any::Any;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};

use mip_core::ImageBuffer;
use mip_plan::{Plan, PlanOutput};

use super::binding::{OutputMemory, RunMemory, output_of};
use super::{DeviceImage, storage};
use crate::scheduler::{PendingRun, SchedulerReport};
use crate::{Block, RuntimeError, TaskReport, TaskState};

/// A finished run.
#[derive(Debug)]
pub struct RunReport {
    /// The results, in plan order; `None` where the producing task did not complete or its result could not
    /// be read back. Each owns its memory and gives it back to the pool when dropped.
    pub outputs: Vec<Option<ImageBuffer>>,
    /// The results that were to stay on the device, in plan order; empty unless asked for.
    pub device_outputs: Vec<Option<DeviceImage>>,
    /// All tasks, in plan order.
    pub tasks: Vec<TaskReport>,
    /// The first error in plan order, if anything failed or was cancelled.
    pub error: Option<RuntimeError>,
}

/// A run that was started. Dropping it gives up the results; the run itself goes on to its end.
#[derive(Debug)]
pub struct Ticket {
    run: Arc<Run>,
}

impl Ticket {
    pub(super) const fn new(run: Arc<Run>) -> Self {
        Self { run }
    }

    /// Waits for the run. All outputs are complete.
    ///
    /// # Panics
    /// When the error callback panicked during the run, with the same payload.
    pub fn wait(self) -> RunReport {
        self.run.finish();
        let finished = match std::mem::replace(&mut *self.run.lock(), Stage::Taken) {
            Stage::Finished(finished) => finished,
            Stage::Going(_) | Stage::Taken => unreachable!("finished above, and only tickets take it"),
        };
        if let Some(panic) = finished.panic {
            resume_unwind(panic);
        }
        finished.report
    }

    /// Whether waiting for the run would return at once. Of a run without a [`RunOrder`](super::RunOrder) only known
    /// once it was waited for.
    pub fn is_done(&self) -> bool {
        match &*self.run.lock() {
            Stage::Going(going) => going.pending.is_done(),
            Stage::Finished(_) | Stage::Taken => true,
        }
    }

    /// Whether a task is known to have failed already; of others it is known when the run has ended.
    pub fn has_failed(&self) -> bool {
        match &*self.run.lock() {
            Stage::Going(going) => going.pending.has_failed(),
            Stage::Finished(finished) => finished.report.error.is_some(),
            Stage::Taken => false,
        }
    }

    /// The images that stay on the device, in plan order, before the run has ended: what is in them counts from
    /// [`RunOrder::done`](super::RunOrder::done) on, and only where the run did not fail. Empty unless asked for.
    pub fn device_outputs(&self) -> Vec<Option<DeviceImage>> {
        match &*self.run.lock() {
            Stage::Going(going) => {
                let outputs = going.memory.outputs();
                let kept = |output: &PlanOutput| output_of(outputs, output.buffer)?.on_device();
                if outputs.iter().any(OutputMemory::is_kept) {
                    self.run.plan.outputs.iter().map(kept).collect()
                } else {
                    Vec::new()
                }
            }
            Stage::Finished(finished) => finished.report.device_outputs.clone(),
            Stage::Taken => Vec::new(),
        }
    }

    /// Waits for the run and gives up its results, and a panic of the error callback with them.
    pub(crate) fn discard(self) {
        self.run.finish();
        *self.run.lock() = Stage::Taken;
    }
}

/// A run shared by its ticket and its session: whoever comes first waits for it.
#[derive(Debug)]
pub(super) struct Run {
    plan: Arc<Plan>,
    stage: Mutex<Stage>,
}

#[derive(Debug)]
enum Stage {
    Going(Box<Going>),
    Finished(Box<Finished>),
    Taken,
}

#[derive(Debug)]
struct Going {
    // Declared first: dropping it waits for the device, which uses the memory below.
    pending: PendingRun,
    memory: RunMemory,
    arena: Option<Arc<Block>>,
}

#[derive(Debug)]
struct Finished {
    report: RunReport,
    panic: Option<Box<dyn Any + Send>>,
}

impl Run {
    pub(super) fn start(
        plan: Arc<Plan>,
        pending: PendingRun,
        memory: RunMemory,
        arena: Option<Arc<Block>>,
    ) -> Arc<Self> {
        let going = Box::new(Going { pending, memory, arena });
        Arc::new(Self { plan, stage: Mutex::new(Stage::Going(going)) })
    }

    /// Whether events order it among the runs of its session. Once it was waited for, it is before all of them.
    pub(super) fn is_in_order(&self) -> bool {
        match &*self.lock() {
            Stage::Going(going) => going.pending.is_in_order(),
            Stage::Finished(_) | Stage::Taken => true,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the device and reads the outputs, unless that was done before.
    pub(super) fn finish(&self) {
        let mut stage = self.lock();
        *stage = match std::mem::replace(&mut *stage, Stage::Taken) {
            Stage::Going(going) => self.read(*going),
            done => done,
        };
    }

    fn read(&self, going: Going) -> Stage {
        let mut outcome = going.pending.join();
        drop(going.arena);
        let memory = going.memory.into_outputs();
        let kept = |output: &PlanOutput| {
            let completed = outcome.tasks[output.task].state == TaskState::Completed;
            output_of(&memory, output.buffer).filter(|_| completed)?.on_device()
        };
        let any_kept = memory.iter().any(OutputMemory::is_kept);
        let device_outputs = if any_kept { self.plan.outputs.iter().map(kept).collect() } else { Vec::new() };
        let read = |output: &PlanOutput| self.output(output, &memory, &mut outcome);
        let outputs = self.plan.outputs.iter().map(read).collect();
        let (error, panic) = (outcome.error(), outcome.panic);
        Stage::Finished(Box::new(Finished {
            report: RunReport { outputs, device_outputs, tasks: outcome.tasks, error },
            panic,
        }))
    }

    fn output(
        &self,
        output: &PlanOutput,
        memory: &[OutputMemory],
        outcome: &mut SchedulerReport,
    ) -> Option<ImageBuffer> {
        let completed = outcome.tasks[output.task].state == TaskState::Completed;
        if !completed || outcome.lost_outputs.contains_key(&output.buffer) {
            return None;
        }
        let own = output_of(memory, output.buffer).filter(|own| !own.is_kept())?;
        let image = storage::pooled_image(own.layout, own.host_block().clone());
        image
            .map_err(|error| {
                let output_name = self.plan.tasks[output.task].name.to_string();
                let lost = RuntimeError::Download { output: output_name, error };
                outcome.lost_outputs.insert(output.buffer, lost);
            })
            .ok()
    }
}
