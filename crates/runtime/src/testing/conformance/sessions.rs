use std::sync::Arc;
use std::thread;

use super::rig::filled;
use crate::device::{Device, DeviceKind};
use crate::testing::{FnKernel, PlanBuilder, Work, gray};
use crate::{ManagerOptions, MemoryManager, RunReport, RunRequest, Session, SessionOptions, TaskState};

fn session(device: &Arc<dyn Device>, manager: &Arc<MemoryManager>, plan: PlanBuilder) -> Session {
    let options = SessionOptions { poison: true, ..SessionOptions::default() };
    Session::new(device.clone(), manager.clone(), plan.build(), options).expect("a small session")
}

fn run(session: &Session, value: u8) -> RunReport {
    session.execute(RunRequest::new(vec![filled(gray(31, 17), value)])).expect("a run starts")
}

fn check_diamond(report: &RunReport, value: u8) {
    assert_eq!(report.error, None);
    let expected = [2 * value + 8, value + 16, value + 5];
    for (output, expected) in report.outputs.iter().zip(expected) {
        let bytes = output.as_ref().expect("every output is there").to_bytes();
        assert!(bytes.iter().all(|&b| b == expected), "every pixel of every output is right");
    }
}

/// Sessions of one device and one manager, each on a thread of its own, outputs dropped on yet another one.
pub(super) fn run_on_many_threads(device: &Arc<dyn Device>) {
    let manager = MemoryManager::new(device.clone(), ManagerOptions::default());
    thread::scope(|scope| {
        for worker in 0..3 {
            let session = session(device, &manager, PlanBuilder::diamond(1, gray(31, 17)));
            scope.spawn(move || {
                for round in 0..20 {
                    let value = worker * 30 + round;
                    let report = run(&session, value);
                    check_diamond(&report, value);
                    thread::spawn(move || drop(report)).join().expect("outputs are dropped anywhere");
                }
            });
        }
    });
}

pub(super) fn reach_a_steady_state(device: &Arc<dyn Device>) {
    let manager = MemoryManager::new(device.clone(), ManagerOptions::default());
    let session = session(device, &manager, PlanBuilder::diamond(1, gray(31, 17)));
    run(&session, 0);
    let allocations = || {
        let stats = manager.stats();
        stats.device.driver_allocations + stats.pinned.driver_allocations
    };
    let warm = allocations();
    (0..30).for_each(|round| check_diamond(&run(&session, round), round));
    assert_eq!(allocations(), warm, "the steady state allocates nothing from the driver");
}

pub(super) fn finish_other_branches(device: &Arc<dyn Device>) {
    if device.info().kind == DeviceKind::CUDA {
        return; // As for single launches.
    }
    let mut builder = PlanBuilder::new(1);
    let input = builder.input("input", gray(31, 17));
    let fails = builder.task("fails", 0, Work::custom(FnKernel::failing("unlucky", "no luck")), &[input]);
    let after = builder.task("after", 0, Work::affine(1.0, 1.0), &[fails]);
    let other = builder.task("other", 1, Work::affine(1.0, 3.0), &[input]);
    builder.output(after).output(other);
    let manager = MemoryManager::new(device.clone(), ManagerOptions::default());
    let session = session(device, &manager, builder);
    for _ in 0..5 {
        let report = run(&session, 4);
        let text = report.error.as_ref().expect("the failure is reported").to_string();
        assert_eq!(text, "task 'fails' (custom) failed: kernel 'unlucky' failed: no luck");
        let states: Vec<TaskState> = report.tasks.iter().map(|task| task.state).collect();
        let failed = TaskState::Failed { cause: 0 };
        assert_eq!(states, [failed, failed, TaskState::Completed]);
        assert!(report.outputs[0].is_none() && report.outputs[1].is_some(), "the other branch is delivered");
    }
}
