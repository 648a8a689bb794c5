//! Runs in order: events keep them apart, and the host waits where the device refuses those.

use super::*;
use crate::device::Event;
use crate::device::null::{CommandKind, Execution};
use crate::session::RunOrder;
use crate::testing::Work;
use crate::{DeviceImage, Ticket};

fn options(seed: u64) -> NullOptions {
    NullOptions {
        execution: Execution::Shuffled { seed },
        unified_memory: false,
        stream_ordered: Ok(()),
        ..NullOptions::default()
    }
}

/// Nothing but the order keeps the second run's `top` from overwriting what the first run's `right` reads.
fn crossing() -> Arc<Plan> {
    let mut builder = PlanBuilder::new(1);
    let input = builder.input("input", gray(5, 3));
    let top = builder.task("top", 0, Work::affine(1.0, 1.0), &[input]);
    let right = builder.task("right", 1, Work::affine(1.0, 2.0), &[top]);
    builder.wait(1, 0).output(right);
    builder.build()
}

fn submit(bench: &Bench, input: DeviceImage, after: &[Arc<dyn Event>]) -> (Ticket, Arc<dyn Event>) {
    let done = bench.device.create_event().unwrap();
    let order = RunOrder { after: after.to_vec(), done: done.clone() };
    let inputs = vec![input.into()];
    let request = RunRequest { inputs, keep_on_device: true, order: Some(order), ..RunRequest::default() };
    (bench.session.submit(request).unwrap(), done)
}

fn input(bench: &Bench, first: u8) -> DeviceImage {
    let mut image = ramp();
    image.view_mut().data_mut().iter_mut().for_each(|byte| *byte += first);
    bench.session.upload(&image).unwrap()
}

fn first_byte(bench: &Bench, report: &RunReport) -> u8 {
    assert_eq!(report.error, None);
    bench.session.download(report.device_outputs[0].as_ref().unwrap()).unwrap().to_bytes()[0]
}

#[test]
fn the_arena_is_one_runs_at_a_time() {
    for allocator in [AllocatorMode::Pooled, AllocatorMode::StreamOrdered] {
        for seed in 0..20 {
            let bench = Bench::with(options(seed), crossing(), false, allocator);
            let runs = [0, 50, 100].map(|first| submit(&bench, input(&bench, first), &[]).0);
            let [a, b, c] = runs;
            let values = [c, a, b].map(|ticket| first_byte(&bench, &ticket.wait()));
            assert_eq!(values, [103, 3, 53], "seed {seed}");
        }
    }
}

#[test]
fn the_host_waits_for_nothing() {
    let bench = Bench::with(options(1), crossing(), false, AllocatorMode::Pooled);
    let image = input(&bench, 0);
    bench.device.take_records();
    let tickets = [0; 4].map(|_| submit(&bench, image.clone(), &[]));
    let waits = |records: &[String]| records.iter().filter(|line| line.contains("synchronize")).count();
    let records =
        |bench: &Bench| bench.device.take_records().iter().map(ToString::to_string).collect::<Vec<_>>();
    let queued = records(&bench);
    assert_eq!(waits(&queued), 0, "{queued:#?}");
    for (ticket, _) in tickets {
        assert_eq!(ticket.wait().error, None);
    }
    let waited = records(&bench);
    assert_eq!(waits(&waited), 4, "one event each: {waited:#?}");
}

#[test]
fn a_run_begins_after_what_it_is_told_to() {
    for seed in 0..20 {
        let bench = Bench::with(options(seed), crossing(), false, AllocatorMode::Pooled);
        let image = input(&bench, 0);
        // Somebody else writes the input, on a stream of their own.
        let (stream, written) =
            (bench.device.create_stream("theirs").unwrap(), bench.device.create_event().unwrap());
        let mut from = ramp();
        from.view_mut().data_mut().fill(90);
        stream.submit(crate::device::Command::Upload { from, to: image.buffer() }).unwrap();
        stream.submit(crate::device::Command::Record(written.clone())).unwrap();
        let (ticket, _) = submit(&bench, image, &[written]);
        assert_eq!(first_byte(&bench, &ticket.wait()), 93, "seed {seed}");
    }
}

#[test]
fn where_events_are_refused_the_host_waits_instead() {
    for site in [Site::Submit(CommandKind::Wait), Site::Submit(CommandKind::Record)] {
        for seed in 0..20 {
            let bench = Bench::with(options(seed), crossing(), false, AllocatorMode::Pooled);
            let (first, before) = submit(&bench, input(&bench, 0), &[]);
            bench.device.inject(site, boom());
            let (second, done) = submit(&bench, first.device_outputs()[0].clone().unwrap(), &[before]);
            bench.device.clear_faults();
            assert!(done.is_complete() || second.has_failed() || !second.is_done());
            let report = second.wait();
            // A task that waits across streams fails with its wait; nothing is wrong in silence.
            match report.error {
                None => assert_eq!(first_byte(&bench, &report), 6, "seed {seed}"),
                Some(error) => assert!(error.to_string().contains("boom"), "{error}"),
            }
            assert_eq!(first_byte(&bench, &first.wait()), 3, "seed {seed}");
            let (third, _) = submit(&bench, input(&bench, 10), &[]);
            assert_eq!(first_byte(&bench, &third.wait()), 13, "seed {seed}");
        }
    }
}

#[test]
fn a_failure_is_in_the_report_and_known_before_it() {
    let bench = Bench::with(options(3), crossing(), false, AllocatorMode::Pooled);
    let image = input(&bench, 0);
    bench.device.inject(Site::Submit(CommandKind::Launch(1)), boom());
    let (ticket, done) = submit(&bench, image.clone(), &[]);
    assert!(ticket.has_failed());
    bench.device.clear_faults();
    let (next, _) = submit(&bench, image, &[done]);
    let report = ticket.wait();
    assert_eq!(states(&report), ["top completed", "right failed because of 1"]);
    assert!(report.error.is_some() && report.device_outputs[0].is_none());
    assert_eq!(first_byte(&bench, &next.wait()), 3);
}

#[test]
fn a_request_that_does_not_fit_leaves_the_run_before_it_alone() {
    for seed in 0..20 {
        let bench = Bench::with(options(seed), crossing(), false, AllocatorMode::Pooled);
        let (first, _) = submit(&bench, input(&bench, 0), &[]);
        let order = RunOrder { after: Vec::new(), done: bench.device.create_event().unwrap() };
        let none = RunRequest { keep_on_device: true, order: Some(order), ..RunRequest::default() };
        assert!(bench.session.submit(none).is_err());
        // The usual kind of run still waits for the first.
        let report = bench.session.execute(RunRequest::new(vec![ramp()])).unwrap();
        assert_eq!(head(&report, 0), Some([3, 4]), "seed {seed}");
        assert_eq!(first_byte(&bench, &first.wait()), 3, "seed {seed}");
    }
}
