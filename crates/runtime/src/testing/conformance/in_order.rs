//! Runs that follow each other on the device, while the host does not wait.

use std::sync::Arc;

use super::rig::filled;
use crate::device::{Device, Event};
use crate::testing::{PlanBuilder, gray};
use crate::{
    AllocatorMode, DagScheduler, DeviceImage, ManagerOptions, MemoryManager, RunOrder, RunRequest, Session,
    SessionOptions, TaskState, Ticket,
};

const MODES: [(AllocatorMode, bool); 4] = [
    (AllocatorMode::Pooled, false),
    (AllocatorMode::Pooled, true),
    (AllocatorMode::StreamOrdered, false),
    (AllocatorMode::StreamOrdered, true),
];

fn session(device: &Arc<dyn Device>, (allocator, replay): (AllocatorMode, bool)) -> Session {
    let manager =
        MemoryManager::new(device.clone(), ManagerOptions { allocator, ..ManagerOptions::default() });
    let plan = PlanBuilder::diamond(1, gray(31, 17)).build();
    let options = SessionOptions { poison: false, replay, scheduler: Arc::new(DagScheduler::new()) };
    Session::new(device.clone(), manager, plan, options).expect("a small session")
}

fn submit(session: &Session, input: DeviceImage, after: &[Arc<dyn Event>], done: &Arc<dyn Event>) -> Ticket {
    let order = RunOrder { after: after.to_vec(), done: done.clone() };
    let inputs = vec![input.into()];
    let request = RunRequest { inputs, keep_on_device: true, order: Some(order), ..RunRequest::default() };
    let ticket = session.submit(request).expect("a run starts");
    assert!(!ticket.has_failed(), "nothing is refused");
    ticket
}

fn check(session: &Session, image: &DeviceImage, expected: u8) {
    let bytes = session.download(image).expect("a download").to_bytes();
    assert!(bytes.iter().all(|&b| b == expected), "{} where {expected} is right", bytes[0]);
}

/// Each run reads a result of the one before, which may still be under way.
pub(super) fn runs_follow_each_other(device: &Arc<dyn Device>) {
    for mode in MODES {
        let session = session(device, mode);
        let mut input = session.upload(&filled(gray(31, 17), 1)).expect("an upload");
        let (mut queued, mut after) = (Vec::new(), Vec::new());
        for _ in 0..10 {
            let done = device.create_event().expect("an event");
            let ticket = submit(&session, input, &after, &done);
            let outputs = ticket.device_outputs();
            input = outputs[2].clone().expect("memory for every output");
            after = vec![done];
            queued.push((ticket, outputs));
        }
        after[0].synchronize().expect("the last run ends");
        // `right` adds 5 each time.
        for ((ticket, outputs), value) in queued.into_iter().zip((1..).step_by(5)) {
            assert!(ticket.is_done(), "a run that another one came after has ended when that has");
            let report = ticket.wait();
            assert_eq!(report.error, None);
            assert!(report.tasks.iter().all(|t| t.state == TaskState::Completed && t.invocations == 1));
            for (output, expected) in outputs.iter().zip([2 * value + 8, value + 16, value + 5]) {
                check(&session, output.as_ref().expect("memory for every output"), expected);
            }
        }
    }
}

/// A run of the usual kind after one in order whose ticket nobody kept.
pub(super) fn other_runs_come_after(device: &Arc<dyn Device>) {
    for mode in MODES {
        let session = session(device, mode);
        let input = session.upload(&filled(gray(31, 17), 7)).expect("an upload");
        for _ in 0..3 {
            let done = device.create_event().expect("an event");
            let first = submit(&session, input.clone(), &[], &done).device_outputs()[2].clone();
            let second =
                submit(&session, first.clone().expect("memory"), &[], &done).device_outputs()[2].clone();
            let report =
                session.execute(RunRequest::new(vec![filled(gray(31, 17), 50)])).expect("a run starts");
            assert_eq!(report.error, None);
            assert_eq!(report.outputs[2].as_ref().expect("an output").to_bytes()[0], 55);
            check(&session, &first.expect("memory"), 12);
            check(&session, &second.expect("memory"), 17);
        }
    }
}
