//! Replay, stream-ordered memory and images on the device: the same bytes as the plain way.

use std::sync::Arc;

use mip_plan::Uniforms;

use super::rig::filled;
use crate::device::Device;
use crate::testing::{PlanBuilder, gray};
use crate::{
    AllocatorMode, DagScheduler, ManagerOptions, MemoryManager, RunInput, RunReport, RunRequest, Session,
    SessionOptions,
};

fn session(device: &Arc<dyn Device>, allocator: AllocatorMode, replay: bool, batch: usize) -> Session {
    let options = ManagerOptions { allocator, ..ManagerOptions::default() };
    let manager = MemoryManager::new(device.clone(), options);
    let plan = PlanBuilder::diamond(batch, gray(31, 17)).build();
    let options = SessionOptions { poison: true, replay, scheduler: Arc::new(DagScheduler::new()) };
    Session::new(device.clone(), manager, plan, options).expect("a small session")
}

/// What every pixel of the outputs `join`, `side` and `right` is, for an input of `value` and a `step` added by
/// `side`.
fn check(report: &RunReport, value: u8, step: u8) {
    assert_eq!(report.error, None);
    let expected = [2 * value + 8, value + step, value + 5];
    for (output, expected) in report.outputs.iter().zip(expected) {
        let bytes = output.as_ref().expect("every output is there").to_bytes();
        assert!(bytes.iter().all(|&b| b == expected), "every pixel of every output is right");
    }
}

/// The plan's uniforms, with another number for `side`.
fn uniforms(session: &Session, step: u8) -> Vec<Arc<[Uniforms]>> {
    let plan = session.plan();
    let of = |group: &mip_plan::Group| {
        let name = &plan.tasks[group.tasks[0]].name;
        let own = group.stages[0].uniforms.clone();
        let new: Uniforms = if &**name == "side" { Arc::new([1.0, f32::from(step)]) } else { own };
        Arc::from([new])
    };
    plan.groups.iter().map(of).collect()
}

/// Runs replayed, with new pixels, new numbers and outputs at new addresses each time.
pub(super) fn equals_direct_runs(device: &Arc<dyn Device>) {
    for allocator in [AllocatorMode::Pooled, AllocatorMode::StreamOrdered] {
        let session = session(device, allocator, true, 1);
        let mut held = Vec::new();
        for round in 0..24 {
            let (value, step) = (3 * round, 16 + round);
            let image = filled(gray(31, 17), value);
            let uniforms = uniforms(&session, step);
            let report = session.execute(RunRequest { uniforms, ..RunRequest::new(vec![image]) });
            let report = report.expect("a run starts");
            check(&report, value, step);
            if round % 3 == 0 {
                held.push(report);
            }
        }
        let stats = session.scheduler().graph_stats();
        match &device.info().graph_replay {
            Ok(()) => assert_eq!((stats.captures, stats.replays, stats.direct_runs), (1, 23, 0), "{stats:?}"),
            Err(reason) => {
                assert_eq!((stats.direct_runs, stats.reason.as_ref()), (24, Some(reason)));
            }
        }
        for (round, report) in (0..24).step_by(3).zip(&held) {
            check(report, 3 * round, 16 + round); // Later replays wrote elsewhere.
        }
    }
}

/// Stream-ordered memory: the same results, and nothing from the driver once warm.
pub(super) fn stream_ordered_memory_reaches_a_steady_state(device: &Arc<dyn Device>) {
    let session = session(device, AllocatorMode::StreamOrdered, false, 2);
    let (mode, reason) = session.manager().effective_mode();
    match &device.info().stream_ordered {
        Ok(()) => assert_eq!((mode, reason), (AllocatorMode::StreamOrdered, None)),
        Err(why) => assert_eq!((mode, reason.as_ref()), (AllocatorMode::Pooled, Some(why))),
    }
    let image = || {
        let one = filled(gray(31, 17), 7);
        let layout = mip_core::BatchLayout::tight(gray(31, 17), 2).expect("a small batch");
        let mut two = mip_core::ImageBuffer::with_layout(layout).expect("a small batch");
        two.view_mut().data_mut().fill(one.to_bytes()[0]);
        two
    };
    let run = || check(&session.execute(RunRequest::new(vec![image()])).expect("a run starts"), 7, 16);
    (0..3).for_each(|_| run());
    let allocations = || {
        let stats = session.manager().stats();
        stats.device.driver_allocations + stats.pinned.driver_allocations
    };
    let warm = allocations();
    (0..30).for_each(|_| run());
    assert_eq!(allocations(), warm, "the steady state allocates nothing from the driver");
    session.trim();
    session.manager().trim();
    let stats = session.manager().stats();
    assert_eq!((stats.device.reserved, stats.device.in_use), (0, 0), "trim gives everything back");
    run();
}

/// Images that stay on the device between runs.
pub(super) fn images_stay_on_the_device(device: &Arc<dyn Device>) {
    for (allocator, replay) in
        [(AllocatorMode::Pooled, false), (AllocatorMode::Pooled, true), (AllocatorMode::StreamOrdered, true)]
    {
        let session = session(device, allocator, replay, 1);
        let mut input = session.upload(&filled(gray(31, 17), 1)).expect("an upload");
        // `right` adds 5 each time.
        for round in 0..10_u8 {
            let request = RunRequest {
                inputs: vec![RunInput::from(input.clone())],
                keep_on_device: true,
                ..RunRequest::default()
            };
            let report = session.execute(request).expect("a run starts");
            assert_eq!(report.error, None);
            assert!(report.outputs.iter().all(Option::is_none));
            let expected = 1 + 5 * (round + 1);
            input = report.device_outputs[2].clone().expect("the output stays on the device");
            let read = session.download(&input).expect("a download").to_bytes();
            assert!(read.iter().all(|&b| b == expected), "round {round}");
        }
    }
}
