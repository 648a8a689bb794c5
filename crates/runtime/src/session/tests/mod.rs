mod memory;
mod request;
mod tickets;

use std::sync::Arc;

use mip_core::{BatchLayout, ImageBuffer};
use mip_plan::Plan;

use super::*;
use crate::device::null::{Execution, NullDevice, NullOptions, Site};
use crate::device::{Device, DeviceError};
use crate::testing::{PlanBuilder, Work, gray, interpreting_device};
use crate::{ManagerOptions, TaskState};

fn separate() -> NullOptions {
    NullOptions { unified_memory: false, ..NullOptions::default() }
}

fn try_session(
    device: &Arc<NullDevice>,
    manager: &Arc<MemoryManager>,
    plan: &Arc<Plan>,
) -> Result<Session, RuntimeError> {
    let options = SessionOptions { poison: true, ..SessionOptions::default() };
    Session::new(device.clone() as Arc<dyn Device>, manager.clone(), plan.clone(), options)
}

fn session(device: &Arc<NullDevice>, plan: &Arc<Plan>) -> Session {
    let manager = MemoryManager::new(device.clone() as Arc<dyn Device>, ManagerOptions::default());
    try_session(device, &manager, plan).unwrap()
}

/// A batch of 5x3 gray images counting up from `first`.
fn ramp(batch: usize, first: u8) -> ImageBuffer {
    let mut image = ImageBuffer::with_layout(BatchLayout::tight(gray(5, 3), batch).unwrap()).unwrap();
    image.view_mut().data_mut().iter_mut().zip(first..).for_each(|(byte, value)| *byte = value);
    image
}

fn chain() -> Arc<Plan> {
    PlanBuilder::adding_chain(1, gray(5, 3)).build()
}

fn boom() -> DeviceError {
    DeviceError::Injected("boom".to_owned())
}

#[test]
fn a_batch_runs_each_task_once_on_unified_and_on_separate_memory() {
    let plan = PlanBuilder::diamond(2, gray(5, 3)).build();
    for options in [NullOptions::default(), separate()] {
        let session = session(&interpreting_device(options), &plan);
        let report = session.execute(RunRequest::new(vec![ramp(2, 0)])).unwrap();
        assert_eq!(report.error, None);
        assert!(report.tasks.iter().all(|t| t.state == TaskState::Completed && t.invocations == 1));
        let bytes = |i: usize| report.outputs[i].as_ref().unwrap().to_bytes();
        let expect = |f: &dyn Fn(u8) -> u8| (0..30).map(f).collect::<Vec<_>>();
        assert_eq!(bytes(0), expect(&|v| 2 * v + 8));
        assert_eq!(bytes(1), expect(&|v| v + 16));
        assert_eq!(bytes(2), expect(&|v| v + 5));
    }
}

#[test]
fn what_cannot_be_prepared_is_named() {
    let device = interpreting_device(NullOptions::default());
    let manager = MemoryManager::new(device.clone() as Arc<dyn Device>, ManagerOptions::default());
    let plan = PlanBuilder::diamond(1, gray(5, 3)).build();
    let cases = [
        (Site::Load(1), "task 'left' (affine) cannot be prepared for this device: injected failure: boom"),
        (Site::CreateStream, "creating stream 0 failed: injected failure: boom"),
        (Site::CreateEvent, "creating an event for group 0 failed: injected failure: boom"),
        (Site::Allocation(1), "no memory for the arena of intermediate images: injected failure: boom"),
    ];
    for (site, text) in cases {
        device.inject(site, boom());
        assert_eq!(try_session(&device, &manager, &plan).unwrap_err().to_string(), text);
        device.clear_faults();
    }
    assert!(try_session(&device, &manager, &plan).is_ok());
}

#[test]
fn groups_loaded_side_by_side_are_in_their_places_and_the_first_error_counts() {
    for load_threads in [2, 3, 64] {
        let device = interpreting_device(NullOptions { load_threads, ..NullOptions::default() });
        let manager = MemoryManager::new(device.clone() as Arc<dyn Device>, ManagerOptions::default());
        let plan = PlanBuilder::diamond(1, gray(5, 3)).build();
        for group in [4, 2, 3] {
            device.inject(Site::Load(group), boom());
        }
        let error = try_session(&device, &manager, &plan).unwrap_err().to_string();
        assert!(error.starts_with("task 'right' (affine) cannot be prepared"), "{error}");
        device.clear_faults();
        let report = session(&device, &plan).execute(RunRequest::new(vec![ramp(1, 0)])).unwrap();
        let bytes = |i: usize| report.outputs[i].as_ref().unwrap().to_bytes();
        assert_eq!(bytes(0), (0..15).map(|v| 2 * v + 8).collect::<Vec<u8>>());
        assert_eq!(bytes(1), (0..15).map(|v| v + 16).collect::<Vec<u8>>());
    }
}

#[test]
fn workspaces_lie_in_the_arena_apart_from_the_images() {
    let mut builder = PlanBuilder::adding_chain(1, gray(5, 3));
    builder.workspace(1, 100).workspace(2, 30);
    let session = session(&interpreting_device(NullOptions::default()), &builder.build());
    let report = session.execute(RunRequest::new(vec![ramp(1, 0)])).unwrap();
    assert_eq!(report.outputs[0].as_ref().unwrap().to_bytes(), (7..22).collect::<Vec<u8>>());
}

#[test]
fn poison_shows_what_nobody_wrote() {
    // Without a function the null device computes nothing.
    for unified_memory in [true, false] {
        let device = NullDevice::new(NullOptions { unified_memory, ..NullOptions::default() });
        let report = session(&device, &chain()).execute(RunRequest::new(vec![ramp(1, 0)])).unwrap();
        assert_eq!(report.outputs[0].as_ref().unwrap().to_bytes(), [0xA5; 15]);
    }
}
