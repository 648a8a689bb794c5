//! When a run is replayed and when not: the contract of graph replay, sentence by sentence.

use std::collections::BTreeMap;

use mip_core::ImageDesc;

use super::*;
use crate::device::null::CommandKind;
use crate::testing::{FnKernel, Work, padded};

fn bench(plan: Arc<Plan>) -> Bench {
    Bench::with(NullOptions::default(), plan, true, AllocatorMode::Pooled)
}

/// Captures, replays, direct runs.
fn counts(bench: &Bench) -> (u64, u64, u64) {
    let stats = bench.graphs();
    (stats.captures, stats.replays, stats.direct_runs)
}

fn invalidations(scheduler: &DagScheduler) -> Vec<(&'static str, u64)> {
    scheduler.graph_stats().invalidations.iter().map(|(reason, n)| (reason.name(), *n)).collect()
}

/// Another session of the same scheduler and manager, for another plan.
fn another(bench: &Bench, plan: Arc<Plan>) -> Session {
    let (device, manager) = (bench.session.device().clone(), bench.session.manager().clone());
    let options = SessionOptions { poison: true, replay: true, scheduler: bench.session.scheduler().clone() };
    Session::new(device, manager, plan, options).unwrap()
}

fn image(desc: ImageDesc) -> ImageBuffer {
    ImageBuffer::new(desc).unwrap()
}

#[test]
fn a_stable_workload_is_captured_once_and_new_pixels_and_uniforms_are_no_change() {
    let bench = bench(diamond());
    let mut held = vec![bench.run(), bench.run()];
    assert_eq!(head(&held[1], 0), Some([8, 10]));
    let mut uniforms = bench.session.plan().groups.iter().map(|g| g.stages[0].uniforms.clone());
    let doubled: Vec<Arc<[_]>> =
        uniforms.by_ref().map(|u| [u.iter().map(|v| v * 2.0).collect()].into()).collect();
    let request = RunRequest { uniforms: doubled, ..RunRequest::new(vec![ramp()]) };
    let report = bench.session.execute(request).unwrap();
    // Twice 2*(2*p + 2) + 4 ... as the doubled numbers say: top = 2p + 2, left = 2 top + 4, right = 2 top + 8.
    assert_eq!(head(&report, 0), Some([2 * 8 + 2 * 12, 2 * 12 + 2 * 16]));
    held.push(report);
    held.push(bench.run());
    assert_eq!(head(&held[3], 0), Some([8, 10]), "the old numbers again");
    assert_eq!(counts(&bench), (1, 3, 0));
    assert!(invalidations(bench.session.scheduler()).is_empty());
    let stats = bench.session.scheduler().stats();
    assert_eq!((stats.graph_launches, stats.launches, stats.waits), (4, 0, 0));
}

#[test]
fn the_recording_forks_from_the_first_stream_and_joins_every_side_branch_to_it() {
    let bench = bench(diamond());
    bench.run();
    let lines: Vec<String> = bench.device.take_records().iter().map(ToString::to_string).collect();
    assert!(lines.contains(&"capture groups [0, 1, 2, 3, 4]".to_owned()), "{lines:#?}");
    let streams: Vec<&str> = lines.iter().filter(|l| l.starts_with("stream")).map(String::as_str).collect();
    assert_eq!(streams[0], "stream 0: record e3");
    assert_eq!(&streams[1..3], ["stream 1: wait e3", "stream 2: wait e3"]);
    assert_eq!(
        &streams[streams.len() - 4..],
        ["stream 1: record e6", "stream 0: wait e6", "stream 2: record e7", "stream 0: wait e7",]
    );
}

#[test]
fn each_change_has_its_reason_that_run_goes_direct_and_the_next_captures_again() {
    let base = || PlanBuilder::adding_chain(1, gray(5, 3)).build();
    let chain = |works: Vec<(&str, Work)>, desc: ImageDesc| {
        let mut builder = PlanBuilder::new(1);
        let mut last = builder.input("input", desc);
        for (name, work) in works {
            last = builder.task(name, 0, work, &[last]);
        }
        builder.output(last);
        builder.build()
    };
    let add = |v: f32| Work::affine(1.0, v);
    let same_tasks = || vec![("a", add(1.0)), ("b", add(2.0)), ("c", add(4.0))];
    let mut branched = PlanBuilder::new(1);
    let input = branched.input("input", gray(5, 3));
    let a = branched.task("a", 0, add(1.0), &[input]);
    let b = branched.task("b", 0, add(2.0), &[a]);
    let c = branched.task("c", 0, add(4.0), &[a]);
    branched.output(c).output(b);
    let f32_desc = ImageDesc::new(5, 3, mip_core::PixelFormat::Gray, mip_core::DType::U16).unwrap();
    let other = Work { kernel: FnKernel::kernel("other", 1, |_, _| Ok(())), ..add(2.0) };
    let cases = [
        ("task_count", chain(vec![("a", add(1.0))], gray(5, 3)), gray(5, 3)),
        ("dependencies", branched.build(), gray(5, 3)),
        ("topology", chain(vec![("a", add(1.0)), ("x", add(2.0)), ("c", add(4.0))], gray(5, 3)), gray(5, 3)),
        ("shapes", chain(same_tasks(), gray(6, 3)), gray(6, 3)),
        ("formats", chain(same_tasks(), f32_desc), f32_desc),
        ("kernels", chain(vec![("a", add(1.0)), ("b", other), ("c", add(4.0))], gray(5, 3)), gray(5, 3)),
    ];
    for (reason, plan, desc) in cases {
        let bench = bench(base());
        (0..2).for_each(|_| drop(bench.run()));
        let other = another(&bench, plan);
        let run = || assert_eq!(other.execute(RunRequest::new(vec![image(desc)])).unwrap().error, None);
        run();
        assert_eq!(invalidations(bench.session.scheduler()), [(reason, 1)]);
        assert_eq!(counts(&bench), (1, 1, 1), "{reason}: the run after the change goes direct");
        run();
        run();
        assert_eq!(counts(&bench), (2, 2, 1), "{reason}: captured again, then replayed");
        // Back again: a change as well, but the first session still has its graph.
        bench.run();
        bench.run();
        assert_eq!(counts(&bench), (2, 3, 2), "{reason}");
    }
}

#[test]
fn strides_of_an_input_read_in_place_are_a_change() {
    let bench = bench(diamond());
    (0..2).for_each(|_| drop(bench.run()));
    let request = || {
        let layout = padded(gray(5, 3), 1, 11);
        RunRequest::new(vec![ImageBuffer::with_layout(layout).unwrap()])
    };
    for _ in 0..2 {
        assert_eq!(bench.session.execute(request()).unwrap().error, None);
    }
    assert_eq!(invalidations(bench.session.scheduler()), [("strides", 1)]);
    assert_eq!(counts(&bench), (2, 1, 1));
}

#[test]
fn an_arena_at_another_address_is_a_change_and_outputs_at_other_addresses_are_not() {
    let bench = bench(diamond());
    let held: Vec<_> = (0..4).map(|_| bench.run()).collect();
    assert_eq!(counts(&bench), (1, 3, 0), "outputs have lain at four addresses");
    bench.session.trim();
    assert_eq!(head(&bench.run(), 0), Some([8, 10]));
    assert_eq!(invalidations(bench.session.scheduler()), [("memory_addresses", 1)]);
    assert_eq!(head(&bench.run(), 0), Some([8, 10]));
    assert_eq!(counts(&bench), (2, 3, 1));
    drop(held);
}

#[test]
fn a_smaller_last_batch_has_a_graph_of_its_own() {
    let plan = |batch| PlanBuilder::diamond(batch, gray(5, 3)).build();
    let bench = bench(plan(4));
    let last = another(&bench, plan(2));
    let batch = |n| ImageBuffer::with_layout(BatchLayout::tight(gray(5, 3), n).unwrap()).unwrap();
    for _ in 0..3 {
        for _ in 0..2 {
            assert_eq!(bench.session.execute(RunRequest::new(vec![batch(4)])).unwrap().error, None);
        }
        assert_eq!(last.execute(RunRequest::new(vec![batch(2)])).unwrap().error, None);
    }
    assert_eq!(counts(&bench), (2, 7, 0));
    assert!(invalidations(bench.session.scheduler()).is_empty());
}

#[test]
fn an_operator_that_asks_for_recapture_runs_direct() {
    let mut builder = PlanBuilder::new(1);
    let input = builder.input("input", gray(5, 3));
    let (kernel, wish) = FnKernel::recapturing("moody");
    let out = builder.task("moody", 0, Work::custom(kernel), &[input]);
    builder.output(out);
    let bench = bench(builder.build());
    (0..2).for_each(|_| drop(bench.run()));
    assert_eq!(counts(&bench), (1, 1, 0));
    wish.store(true, std::sync::atomic::Ordering::Relaxed);
    (0..2).for_each(|_| assert_eq!(bench.run().error, None));
    assert_eq!(counts(&bench), (1, 1, 2));
    assert_eq!(invalidations(bench.session.scheduler()), [("operator_request", 1)]);
    wish.store(false, std::sync::atomic::Ordering::Relaxed);
    (0..2).for_each(|_| drop(bench.run()));
    assert_eq!(counts(&bench), (2, 2, 2));
}

#[test]
fn a_failed_capture_leaves_everything_usable_and_the_run_goes_direct() {
    for unified_memory in [true, false] {
        let options = NullOptions { unified_memory, ..NullOptions::default() };
        let bench = Bench::with(options, diamond(), true, AllocatorMode::Pooled);
        bench.device.inject(Site::Capture, boom());
        let report = bench.run();
        assert_eq!((head(&report, 0), report.error), (Some([8, 10]), None));
        let stats = bench.graphs();
        assert_eq!((stats.failed_captures, stats.direct_runs), (1, 1));
        assert_eq!(stats.reason.unwrap(), "capturing a graph failed: injected failure: boom");
        bench.device.clear_faults();
        (0..2).for_each(|_| assert_eq!(head(&bench.run(), 0), Some([8, 10])));
        assert_eq!(counts(&bench), (1, 1, 1));
    }
}

#[test]
fn a_refused_replay_fails_its_tasks_and_the_next_run_captures_again() {
    let bench = bench(diamond());
    bench.run();
    bench.device.inject(Site::Replay, boom());
    let report = bench.run();
    assert!(report.error.unwrap().to_string().contains("injected failure: boom"));
    assert!(report.outputs.iter().all(Option::is_none));
    bench.device.clear_faults();
    assert_eq!(head(&bench.run(), 0), Some([8, 10]));
    assert_eq!(invalidations(bench.session.scheduler()), [("replay_refused", 1)]);
    assert_eq!(counts(&bench), (2, 1, 0));
}

#[test]
fn a_task_that_fails_in_a_replay_stops_only_what_depends_on_it() {
    let bench = bench(diamond());
    bench.run();
    bench.device.inject(Site::Run(CommandKind::Launch(1)), boom());
    let report = bench.run();
    assert_eq!(states(&report)[1], "left failed because of 1");
    assert_eq!(states(&report)[4], "join failed because of 1");
    assert_eq!((head(&report, 0), head(&report, 1)), (None, Some([16, 17])));
    assert_eq!(bench.reported(), ["left"]);
    bench.device.clear_faults();
    assert_eq!(head(&bench.run(), 0), Some([8, 10]));
    assert_eq!(counts(&bench), (1, 2, 0));
}

#[test]
fn an_upload_that_fails_is_reported_as_in_a_direct_run() {
    let options = NullOptions { unified_memory: false, ..NullOptions::default() };
    let bench = Bench::with(options, diamond(), true, AllocatorMode::Pooled);
    bench.run();
    bench.device.inject(Site::Submit(CommandKind::Upload), boom());
    let report = bench.run();
    assert!(report.error.unwrap().to_string().contains("input 'input' could not be uploaded"));
    bench.device.clear_faults();
    assert_eq!(head(&bench.run(), 0), Some([8, 10]));
}

#[test]
fn a_cancelled_run_is_not_replayed() {
    let bench = bench(diamond());
    bench.run();
    let cancel = CancelToken::new();
    cancel.cancel();
    let report = bench.session.execute(RunRequest { cancel, ..RunRequest::new(vec![ramp()]) }).unwrap();
    assert_eq!(report.error, Some(RuntimeError::Cancelled { unfinished: 5, tasks: 5 }));
    assert_eq!(head(&bench.run(), 0), Some([8, 10]));
    assert_eq!(counts(&bench), (1, 1, 1));
}

#[test]
fn a_device_that_cannot_replay_runs_direct_and_says_why() {
    let options = NullOptions { graph_replay: Err("no graphs here".to_owned()), ..NullOptions::default() };
    let bench = Bench::with(options, diamond(), true, AllocatorMode::Pooled);
    (0..3).for_each(|_| assert_eq!(head(&bench.run(), 0), Some([8, 10])));
    assert_eq!(counts(&bench), (0, 0, 3));
    assert_eq!(bench.graphs().reason.as_deref(), Some("no graphs here"));
}

#[test]
fn counters_can_be_started_anew() {
    let bench = bench(diamond());
    (0..3).for_each(|_| drop(bench.run()));
    bench.session.scheduler().forget_runs();
    assert_eq!(bench.graphs(), GraphStats { invalidations: BTreeMap::new(), ..GraphStats::default() });
    bench.run();
    assert_eq!(counts(&bench), (0, 1, 0));
}
