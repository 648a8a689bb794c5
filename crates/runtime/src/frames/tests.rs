use std::num::NonZero;
use std::sync::{Arc, Mutex};

use mip_core::{BatchLayout, ImageBuffer};
use mip_plan::Plan;

use super::*;
use crate::device::null::{CommandKind, Execution, NullDevice, NullOptions, Record, Site};
use crate::device::{Device, DeviceError};
use crate::testing::{PlanBuilder, gray, interpreting_device};
use crate::{ManagerOptions, MemoryManager, RunRequest, RuntimeError, Session, SessionOptions};

fn width(frames: usize) -> NonZero<usize> {
    NonZero::new(frames).unwrap()
}

fn shuffled(seed: u64, unified_memory: bool) -> Arc<NullDevice> {
    let execution = Execution::Shuffled { seed };
    interpreting_device(NullOptions { execution, unified_memory, ..NullOptions::default() })
}

fn ring(device: &Arc<NullDevice>, plan: &Arc<Plan>) -> SessionRing {
    let manager = MemoryManager::new(device.clone() as Arc<dyn Device>, ManagerOptions::default());
    let options = SessionOptions { poison: true, ..SessionOptions::default() };
    let session = Session::new(device.clone() as Arc<dyn Device>, manager, plan.clone(), options);
    SessionRing::new(Arc::new(session.unwrap()))
}

fn ramp(first: u8) -> ImageBuffer {
    let mut image = ImageBuffer::with_layout(BatchLayout::tight(gray(5, 3), 1).unwrap()).unwrap();
    image.view_mut().data_mut().iter_mut().zip(first..).for_each(|(byte, value)| *byte = value);
    image
}

/// Pushes a frame through the ring.
fn push(
    frames: &mut InFlight<RuntimeError>,
    ring: &mut SessionRing,
    first: u8,
) -> Option<Finished<RuntimeError>> {
    let max = frames.max();
    frames.push(|| ring.turn(max)?.submit(RunRequest::new(vec![ramp(first)])))
}

/// Number, and the first byte of the first output or what went wrong.
fn seen(finished: Finished<RuntimeError>) -> (u64, Result<u8, String>) {
    let result = finished.result.map_err(|e| e.to_string()).and_then(|report| match report.error {
        Some(error) => Err(error.to_string()),
        None => Ok(report.outputs[0].as_ref().unwrap().to_bytes()[0]),
    });
    (finished.number, result)
}

#[test]
fn results_come_in_order_however_the_device_runs() {
    let plan = PlanBuilder::adding_chain(1, gray(5, 3)).build();
    for (seed, max) in (0..12).zip([1, 2, 3, 5].into_iter().cycle()) {
        let device = shuffled(seed, seed % 2 == 0);
        let (mut ring, mut frames) = (ring(&device, &plan), InFlight::new(width(max)));
        let mut results = Vec::new();
        for frame in 0..10 {
            results.extend(push(&mut frames, &mut ring, frame * 9).map(seen));
            assert!(frames.len() <= max);
        }
        assert_eq!((frames.len(), results.len()), (max, 10 - max));
        results.extend(std::iter::from_fn(|| frames.pop()).map(seen));
        let expected: Vec<_> = (0..10_u8).map(|frame| (u64::from(frame), Ok(frame * 9 + 7))).collect();
        assert_eq!(results, expected, "seed {seed}, {max} in flight");
    }
}

/// With nothing run before somebody waits, a shared arena or input would show: all frames are queued by then.
#[test]
fn frames_in_flight_share_no_memory() {
    let plan = PlanBuilder::diamond(1, gray(5, 3)).build();
    for seed in 0..20 {
        let device = shuffled(seed, false);
        let (mut ring, mut frames) = (ring(&device, &plan), InFlight::new(width(4)));
        for frame in 0..4 {
            assert!(push(&mut frames, &mut ring, frame * 20).is_none());
        }
        for frame in 0..4 {
            let report = frames.pop().unwrap().result.unwrap();
            let first = |output: usize| report.outputs[output].as_ref().unwrap().to_bytes()[0];
            let value = frame * 20;
            assert_eq!((first(0), first(1), first(2)), (2 * value + 8, value + 16, value + 5), "seed {seed}");
        }
    }
}

/// Picks records.
type Is = fn(&Record) -> bool;

#[test]
fn groups_are_loaded_once_and_sessions_made_when_needed() {
    let plan = PlanBuilder::adding_chain(1, gray(5, 3)).build();
    let device = shuffled(1, true);
    let (mut ring, mut frames) = (ring(&device, &plan), InFlight::new(width(3)));
    let count = |what: fn(&Record) -> bool| device.records().iter().filter(|record| what(record)).count();
    let (loads, streams): (Is, Is) =
        (|r| matches!(r, Record::Load { .. }), |r| matches!(r, Record::CreateStream { .. }));
    let (loaded, one) = (count(loads), count(streams));
    for frame in 0..2 {
        push(&mut frames, &mut ring, frame);
    }
    assert_eq!(count(streams), 2 * one);
    for frame in 0..7 {
        push(&mut frames, &mut ring, frame);
    }
    assert_eq!((count(loads), count(streams)), (loaded, 3 * one));
}

#[test]
fn a_frame_that_fails_keeps_its_place_and_harms_no_other() {
    let plan = PlanBuilder::adding_chain(1, gray(5, 3)).build();
    // Fails once armed, whichever frame that is.
    let device = shuffled(3, true);
    let (mut ring, mut frames) = (ring(&device, &plan), InFlight::new(width(1)));
    let mut results = Vec::new();
    for frame in 0..5 {
        results.extend(push(&mut frames, &mut ring, frame).map(seen));
        if frame == 1 {
            device.inject(Site::Run(CommandKind::Launch(0)), DeviceError::Injected("boom".to_owned()));
            results.extend(frames.pop().map(seen));
            device.clear_faults();
        }
    }
    results.extend(frames.pop().map(seen));
    assert_eq!(results.len(), 5);
    for (index, (number, result)) in (0..).zip(results) {
        assert_eq!(number, index);
        match (index, result) {
            (1, Err(text)) => assert!(text.contains("boom") && text.contains("task"), "{text}"),
            (_, result) => assert_eq!(result, Ok(index as u8 + 7)),
        }
    }
}

#[test]
fn a_frame_that_cannot_start_keeps_its_place() {
    let mut frames = InFlight::new(width(2));
    let device = shuffled(3, true);
    let mut ring = ring(&device, &PlanBuilder::adding_chain(1, gray(5, 3)).build());
    assert!(push(&mut frames, &mut ring, 0).is_none());
    let wrong = |what: &str| RuntimeError::Device {
        what: what.to_owned(),
        error: DeviceError::Injected("boom".to_owned()),
    };
    assert!(frames.push(|| Err(wrong("first"))).is_none());
    let oldest = push(&mut frames, &mut ring, 2).map(seen);
    assert_eq!(oldest, Some((0, Ok(7))));
    let refused = frames.pop().map(seen);
    assert_eq!(refused, Some((1, Err("first failed: injected failure: boom".to_owned()))));
    assert_eq!(frames.pop().map(seen), Some((2, Ok(9))));
    assert!(frames.pop().is_none() && frames.is_empty());
}

#[test]
fn a_session_that_cannot_be_made_fails_its_frame_only() {
    let plan = PlanBuilder::adding_chain(1, gray(5, 3)).build();
    let device = shuffled(5, true);
    let (mut ring, mut frames) = (ring(&device, &plan), InFlight::new(width(2)));
    device.inject(Site::CreateStream, DeviceError::Injected("no more".to_owned()));
    push(&mut frames, &mut ring, 0);
    push(&mut frames, &mut ring, 1);
    device.clear_faults();
    assert_eq!(push(&mut frames, &mut ring, 2).map(seen), Some((0, Ok(7))));
    let (number, failed) = frames.pop().map(seen).unwrap();
    assert!(number == 1 && failed.unwrap_err().contains("creating stream 0"));
    assert_eq!(frames.pop().map(seen), Some((2, Ok(9))));
}

#[test]
fn dropping_midway_waits_and_leaks_nothing() {
    let plan = PlanBuilder::diamond(1, gray(5, 3)).build();
    for unified_memory in [true, false] {
        let device = shuffled(9, unified_memory);
        let (mut ring, mut frames) = (ring(&device, &plan), InFlight::new(width(3)));
        for frame in 0..5 {
            drop(push(&mut frames, &mut ring, frame));
        }
        device.take_records();
        drop(frames);
        let launches = device.take_records().iter().filter(|r| matches!(r, Record::Launch { .. })).count();
        assert!(launches > 0, "what was queued has run");
        let in_use = ring.first().manager().stats().device.in_use;
        assert_eq!(in_use % 3, 0, "what three sessions keep, and no results: {in_use}");
        drop(ring);
        assert_eq!(device.allocated(), 0);
    }
}

#[test]
fn a_callback_that_panics_comes_out_of_the_wait_but_not_of_a_drop() {
    let plan = PlanBuilder::adding_chain(1, gray(5, 3)).build();
    let device = shuffled(9, true);
    let reported = Arc::new(Mutex::new(0));
    let count = reported.clone();
    let (mut ring, mut frames) = (ring(&device, &plan), InFlight::<RuntimeError>::new(width(2)));
    ring.first().scheduler().set_error_callback(move |_, _, _| {
        *count.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += 1;
        panic!("reported")
    });
    device.inject(Site::Run(CommandKind::Launch(0)), DeviceError::Injected("boom".to_owned()));
    push(&mut frames, &mut ring, 0);
    push(&mut frames, &mut ring, 1);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| frames.pop()));
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"reported"));
    drop(frames);
    assert_eq!(*reported.lock().unwrap_or_else(std::sync::PoisonError::into_inner), 2);
}

type Ends = (Submissions<u8, RuntimeError>, Completions<u8, RuntimeError>);

#[test]
fn each_frame_comes_out_when_it_is_done_and_not_when_the_next_is_pushed() {
    let plan = PlanBuilder::adding_chain(1, gray(5, 3)).build();
    let device = shuffled(3, true);
    let (mut ring, (mut ends, done)): (_, Ends) = (ring(&device, &plan), stream_ends(width(3)));
    let (out, results) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || done.for_each(|(note, f)| out.send((note, seen(f))).unwrap()));
    for frame in 0..5 {
        let start =
            || (frame, ring.turn(width(3)).and_then(|s| s.submit(RunRequest::new(vec![ramp(frame)]))));
        assert!(ends.push(start));
        assert_eq!(results.recv().unwrap(), (frame, (u64::from(frame), Ok(frame + 7))));
    }
    assert!(ends.push(|| (
        9,
        Err(RuntimeError::Device {
            what: "this".to_owned(),
            error: DeviceError::Injected("boom".to_owned()),
        })
    )));
    assert!(results.recv().unwrap().1.1.unwrap_err().contains("boom"));
    assert_eq!(ends.pushed(), 6);
    drop(ends);
    thread.join().unwrap();
    assert!(results.recv().is_err());
}

#[test]
fn no_more_frames_are_under_way_than_allowed_and_an_end_that_goes_ends_the_stream() {
    let plan = PlanBuilder::adding_chain(1, gray(5, 3)).build();
    let device = shuffled(9, false);
    let (mut ring, (mut ends, mut done)): (_, Ends) = (ring(&device, &plan), stream_ends(width(2)));
    let mut start =
        |frame| (frame, ring.turn(width(2)).and_then(|s| s.submit(RunRequest::new(vec![ramp(frame)]))));
    assert!(ends.push(|| start(0)) && ends.push(|| start(1)));
    let third = std::thread::scope(|scope| {
        let pushing = scope.spawn(|| ends.push(|| start(2)));
        // Had it not waited, there would be a third without a place.
        assert_eq!(done.next().map(|(note, finished)| (note, seen(finished))), Some((0, (0, Ok(7)))));
        pushing.join().unwrap()
    });
    assert!(third);
    drop(done);
    let mut started = false;
    assert!(!ends.push(|| {
        started = true;
        start(3)
    }));
    assert!(!started);
    drop(ring);
    assert_eq!(device.allocated(), 0);
}

#[test]
fn streams_go_between_threads() {
    fn check<T: Send>() {}
    check::<SessionRing>();
    check::<InFlight<RuntimeError>>();
    check::<Ends>();
}
