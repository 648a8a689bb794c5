mod failure;
mod in_order;
mod model;
mod order;
mod ordered;
mod refusal;
mod replay;
mod state;

use std::sync::{Arc, Mutex};

use mip_core::{BatchLayout, ImageBuffer};
use mip_plan::{Plan, TaskId};

use super::*;
use crate::device::null::{NullDevice, NullOptions, Site};
use crate::device::{Device, DeviceError};
use crate::testing::{PlanBuilder, gray, interpreting_device};
use crate::{AllocatorMode, ManagerOptions, MemoryManager, RunReport, RunRequest, Session, SessionOptions};

/// A session on a null device that computes, and the tasks its error callback was called with.
struct Bench {
    device: Arc<NullDevice>,
    session: Session,
    reported: Arc<Mutex<Vec<(TaskId, String, RuntimeError)>>>,
}

impl Bench {
    fn new(options: NullOptions, plan: Arc<Plan>) -> Self {
        Self::with(options, plan, false, AllocatorMode::Pooled)
    }

    fn with(options: NullOptions, plan: Arc<Plan>, replay: bool, allocator: AllocatorMode) -> Self {
        let device = interpreting_device(options);
        let scheduler = Arc::new(DagScheduler::new());
        let reported: Arc<Mutex<Vec<_>>> = Arc::default();
        let tell = reported.clone();
        scheduler.set_error_callback(move |id, name, error| {
            tell.lock().unwrap().push((id, name.to_owned(), error.clone()));
        });
        let manager =
            MemoryManager::new(device.clone(), ManagerOptions { allocator, ..ManagerOptions::default() });
        // Poison reaches separate memory through uploads, which some tests make fail.
        let options = SessionOptions { poison: device.info().unified_memory, replay, scheduler };
        let session = Session::new(device.clone() as Arc<dyn Device>, manager, plan, options).unwrap();
        device.take_records();
        Self { device, session, reported }
    }

    fn run(&self) -> RunReport {
        self.session.execute(RunRequest::new(vec![ramp()])).unwrap()
    }

    fn graphs(&self) -> GraphStats {
        self.session.scheduler().graph_stats()
    }

    fn reported(&self) -> Vec<String> {
        std::mem::take(&mut *self.reported.lock().unwrap()).into_iter().map(|(_, name, _)| name).collect()
    }

    /// Lines about streams.
    fn commands(&self) -> Vec<String> {
        let lines = self.device.take_records().into_iter().map(|r| r.to_string());
        lines.filter(|line| line.starts_with("stream")).collect()
    }
}

/// 0, 1, 2, ... in a 5x3 gray image.
fn ramp() -> ImageBuffer {
    let mut image = ImageBuffer::with_layout(BatchLayout::tight(gray(5, 3), 1).unwrap()).unwrap();
    image.view_mut().data_mut().iter_mut().zip(0..).for_each(|(byte, i)| *byte = i);
    image
}

/// The first pixels of an output: what 0 and 1 became.
fn head(report: &RunReport, output: usize) -> Option<[u8; 2]> {
    let bytes = report.outputs[output].as_ref()?.to_bytes();
    Some([bytes[0], bytes[1]])
}

fn states(report: &RunReport) -> Vec<String> {
    let text = |task: &TaskReport| match task.state {
        TaskState::Failed { cause } => format!("{} failed because of {cause}", task.name),
        state => format!("{} {state}", task.name),
    };
    report.tasks.iter().map(text).collect()
}

fn invocations(report: &RunReport) -> Vec<u64> {
    report.tasks.iter().map(|task| task.invocations).collect()
}

fn boom() -> DeviceError {
    DeviceError::Injected("boom".to_owned())
}

fn diamond() -> Arc<Plan> {
    PlanBuilder::diamond(1, gray(5, 3)).build()
}
