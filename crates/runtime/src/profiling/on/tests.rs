use std::num::NonZero;
use std::sync::{Arc, Mutex};

use mip_core::{BatchLayout, ImageBuffer};
use mip_plan::Plan;

use super::super::Kind;
use super::*;
use crate::device::null::{CommandKind, Execution, NullDevice, NullOptions, Site};
use crate::device::{Device, DeviceError};
use crate::testing::{PlanBuilder, gray, interpreting_device};
use crate::{
    DagScheduler, InFlight, ManagerOptions, MemoryManager, RunRequest, RuntimeError, Session, SessionOptions,
    SessionRing,
};

fn separate() -> NullOptions {
    NullOptions { unified_memory: false, ..NullOptions::default() }
}

fn session(device: &Arc<NullDevice>, plan: &Arc<Plan>, replay: bool, probe: &Probe) -> Session {
    let scheduler = Arc::new(DagScheduler::with_probe(probe.clone()));
    let options = SessionOptions { replay, scheduler, ..SessionOptions::default() };
    let device = device.clone() as Arc<dyn Device>;
    let manager = MemoryManager::new(device.clone(), ManagerOptions::default());
    Session::new(device, manager, plan.clone(), options).unwrap()
}

fn image() -> ImageBuffer {
    ImageBuffer::with_layout(BatchLayout::tight(gray(5, 3), 1).unwrap()).unwrap()
}

fn run(session: &Session) {
    assert_eq!(session.execute(RunRequest::new(vec![image()])).unwrap().error, None);
}

fn names(profile: &Profile, kind: Kind) -> Vec<&str> {
    profile.of(kind).map(|span| &*span.name).collect()
}

/// On one row a span either ends before the next begins, or holds it.
fn assert_nested(profile: &Profile) {
    for row in 0..profile.rows.len() {
        let spans: Vec<&Span> = profile.spans.iter().filter(|span| span.row == row).collect();
        for (index, a) in spans.iter().enumerate() {
            assert!(a.begin <= a.end);
            for b in &spans[index + 1..] {
                assert!(a.begin <= b.begin, "in order");
                assert!(b.begin >= a.end || b.end <= a.end, "{a:?} and {b:?} cross");
            }
        }
    }
}

#[test]
fn a_run_has_a_span_for_each_command_on_its_stream_and_one_on_the_host() {
    let plan = PlanBuilder::diamond(1, gray(5, 3)).build();
    let probe = Probe::recording().unwrap();
    let session = session(&interpreting_device(separate()), &plan, false, &probe);
    run(&session);
    let profile = probe.take().unwrap();
    assert_nested(&profile);
    for (group, span) in plan.groups.iter().zip(profile.of(Kind::Compute)) {
        let stream = group.stream as usize;
        assert_eq!(profile.rows[span.row].place, Place::Stream { session: 0, stream });
        let work = span.work.as_ref().unwrap();
        let tasks = group.tasks.iter().map(|&task| &plan.tasks[task].name);
        assert!(work.tasks.iter().map(String::as_str).eq(tasks.map(|name| &**name)), "{span:?}");
        assert_eq!(work.bytes, 15 * (group.reads().len() + group.writes().len()) as u64);
    }
    let groups = plan.groups.len();
    assert_eq!(profile.of(Kind::Compute).count(), groups);
    assert_eq!(names(&profile, Kind::Upload), ["@input"]);
    assert_eq!(profile.of(Kind::Download).count(), plan.outputs.len());
    assert_eq!(profile.of(Kind::Queue).count(), groups + 1 + plan.outputs.len());
    assert_eq!(profile.of(Kind::Load).count(), groups + 1);
    assert_eq!((profile.of(Kind::Submit).count(), profile.of(Kind::Wait).count()), (1, 1));
    assert_eq!(profile.dropped, 0);
    // What was queued on the host is found again on the stream.
    let flows = |on_device: bool| {
        let spans = profile.spans.iter().filter(move |span| span.kind.is_on_device() == on_device);
        let mut flows: Vec<u64> = spans.filter_map(|span| span.flow).collect();
        flows.sort_unstable();
        flows
    };
    assert_eq!(flows(true), flows(false));
    assert!(probe.take().unwrap().spans.is_empty(), "taken once");
}

#[test]
fn a_timestamp_more_or_less_changes_no_other_command() {
    let plan = PlanBuilder::diamond(1, gray(5, 3)).build();
    for replay in [false, true] {
        let records = [Probe::default(), Probe::recording().unwrap()].map(|probe| {
            let device = interpreting_device(separate());
            let session = session(&device, &plan, replay, &probe);
            run(&session);
            run(&session);
            assert_eq!(session.scheduler().stats().timestamps > 0, probe.is_recording());
            device.take_records()
        });
        assert_eq!(records[0], records[1], "replay {replay}");
    }
}

#[test]
fn a_replay_is_a_span_with_its_groups_inside() {
    let plan = PlanBuilder::diamond(1, gray(5, 3)).build();
    let probe = Probe::recording().unwrap();
    let session = session(&interpreting_device(separate()), &plan, true, &probe);
    run(&session);
    let first = probe.take().unwrap();
    assert_eq!((first.of(Kind::Capture).count(), first.of(Kind::Replay).count()), (1, 1));
    for _ in 0..2 {
        run(&session);
        let profile = probe.take().unwrap();
        assert_nested(&profile);
        assert_eq!((profile.of(Kind::Capture).count(), profile.of(Kind::Replay).count()), (0, 1));
        let graph = profile.of(Kind::Graph).next().unwrap();
        assert_eq!(profile.of(Kind::Compute).count(), plan.groups.len());
        for span in profile.of(Kind::Compute) {
            assert!(graph.begin <= span.begin && span.end <= graph.end, "{span:?} in {graph:?}");
        }
        let summary = profile.summary();
        let graphs = summary.tasks.iter().filter(|row| row.kind == Kind::Graph);
        assert_eq!(graphs.map(|row| row.count).sum::<usize>(), 1);
        let shares: f64 = summary.tasks.iter().filter(|r| r.kind != Kind::Graph).map(|r| r.share).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    }
}

#[test]
fn what_does_not_run_has_no_span() {
    let plan = PlanBuilder::adding_chain(1, gray(5, 3)).build();
    let probe = Probe::recording().unwrap();
    let device = interpreting_device(separate());
    let session = session(&device, &plan, false, &probe);
    device.inject(Site::Run(CommandKind::Launch(0)), DeviceError::Injected("boom".to_owned()));
    assert!(session.execute(RunRequest::new(vec![image()])).unwrap().error.is_some());
    let profile = probe.take().unwrap();
    assert!(plan.groups.len() > 1);
    assert_eq!(profile.of(Kind::Compute).count(), 1, "the one that failed; those after it were left out");
}

#[test]
fn a_device_that_refuses_to_take_times_runs_all_the_same() {
    let plan = PlanBuilder::adding_chain(1, gray(5, 3)).build();
    let probe = Probe::recording().unwrap();
    let device = interpreting_device(separate());
    let session = session(&device, &plan, false, &probe);
    device.inject(Site::Submit(CommandKind::Timestamp), DeviceError::Injected("no".to_owned()));
    run(&session);
    let profile = probe.take().unwrap();
    assert!(profile.spans.iter().all(|span| !span.kind.is_on_device()));
    assert_eq!(profile.dropped as usize, profile.of(Kind::Queue).count());
}

/// Frames on sessions of their own: a row each, and nobody's copies at the same time as another's.
#[test]
fn frames_in_flight_are_on_rows_of_their_own() {
    let plan = PlanBuilder::adding_chain(1, gray(5, 3)).build();
    let probe = Probe::recording().unwrap();
    let device =
        interpreting_device(NullOptions { execution: Execution::Shuffled { seed: 3 }, ..separate() });
    let three = NonZero::new(3).unwrap();
    let mut ring = SessionRing::new(Arc::new(session(&device, &plan, false, &probe)));
    let mut frames = InFlight::<RuntimeError>::new(three);
    for _ in 0..7 {
        frames.push(|| ring.turn(three)?.submit(RunRequest::new(vec![image()])));
    }
    while frames.pop().is_some() {}
    let profile = probe.take().unwrap();
    let streams: Vec<Place> = profile.rows.iter().map(|row| row.place).filter(|p| !is_host(*p)).collect();
    assert_eq!(streams, [0, 1, 2].map(|session| Place::Stream { session, stream: 0 }));
    assert_eq!(profile.of(Kind::Upload).count(), 7);
    for kind in [Kind::Upload, Kind::Download] {
        let mut copies: Vec<&Span> = profile.of(kind).collect();
        copies.sort_by_key(|span| (span.begin, span.end));
        assert!(copies.windows(2).all(|pair| pair[0].end <= pair[1].begin), "{copies:?}");
    }
    let summary = profile.summary();
    assert_eq!((summary.runs, summary.streams.len()), (7, 3));
    assert!(summary.streams.iter().all(|row| row.overlap_us <= row.busy_us));
}

fn is_host(place: Place) -> bool {
    matches!(place, Place::Thread(_))
}

#[test]
fn the_trace_has_a_row_for_each_thread_and_stream() {
    let plan = PlanBuilder::diamond(1, gray(5, 3)).build();
    let probe = Probe::recording().unwrap();
    let session = session(&interpreting_device(separate()), &plan, false, &probe);
    run(&session);
    let profile = probe.take().unwrap();
    let mut text = Vec::new();
    profile.write_chrome_trace(&mut text).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |ph: &'static str| events.iter().filter(move |event| event["ph"] == ph);
    let rows = of("M").filter(|event| event["name"] == "thread_name");
    let streams: Vec<&str> =
        rows.filter(|row| row["pid"] == 2).map(|row| row["args"]["name"].as_str().unwrap()).collect();
    let expected: Vec<String> =
        (0..plan.streams).map(|stream| format!("session 0, stream {stream}")).collect();
    assert_eq!(streams, expected);
    assert_eq!(of("X").count(), profile.spans.len());
    assert_eq!((of("s").count(), of("f").count()), (plan.groups.len() + 4, plan.groups.len() + 4));
    let upload = of("X").find(|event| event["cat"] == "upload").unwrap();
    assert_eq!((&upload["name"], &upload["args"]["bytes"]), (&"upload @input".into(), &15.into()));
    let compute = of("X").find(|event| event["cat"] == "compute").unwrap();
    assert_eq!(compute["args"]["reads"][0], "5x3 gray u8");
}

#[test]
fn ranges_open_and_close_around_what_the_host_does() {
    #[derive(Debug, Default)]
    struct Named(Mutex<(Vec<String>, usize)>);
    impl crate::device::Ranges for Named {
        fn push(&self, name: &str) {
            self.0.lock().unwrap().0.push(name.to_owned());
        }
        fn pop(&self) {
            self.0.lock().unwrap().1 += 1;
        }
    }
    let named = Arc::new(Named::default());
    let device = interpreting_device(NullOptions { ranges: Some(named.clone()), ..separate() });
    let plan = PlanBuilder::adding_chain(1, gray(5, 3)).build();
    run(&session(&device, &plan, false, &Probe::recording().unwrap()));
    let (opened, closed) = std::mem::take(&mut *named.0.lock().unwrap());
    assert_eq!(opened.len(), closed);
    assert_eq!(opened[0], "load session");
    assert!(opened.iter().any(|name| name == "submit") && opened.iter().any(|name| name == "wait"));
    run(&session(&device, &plan, false, &Probe::default()));
    assert!(named.0.lock().unwrap().0.is_empty(), "nothing is named where nothing is recorded");
}
