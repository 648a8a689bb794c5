//! Profiles of pipelines on the CPU: what is recorded, and nothing where none was asked for.

#![cfg(feature = "profiling")]

use mini_image_pipe::prelude::*;
use mini_image_pipe::profiling::{Kind, Place, Profile};

const FORK: &str = "gray:color_convert to=gray ! soft:gaussian_blur kernel=5 inputs=gray \
                    ! edges:sobel inputs=gray ! mix:blend inputs=soft,edges";

fn test_image(width: u32, height: u32) -> ImageBuffer {
    let desc = ImageDesc::new(width, height, PixelFormat::Rgb, DType::U8).unwrap();
    ImageBuffer::from_bytes(desc, &(0..desc.bytes()).map(|i| (i * 37) as u8).collect::<Vec<u8>>()).unwrap()
}

fn pipeline(config: PipelineConfig) -> Pipeline {
    Pipeline::from_spec(&PipelineSpec::parse_line(FORK).unwrap(), config).unwrap()
}

fn profiled() -> PipelineConfig {
    PipelineConfig { enable_profiling: true, ..PipelineConfig::default() }
}

fn execute(pipeline: &mut Pipeline, width: u32) {
    pipeline.set_named_input("input", &test_image(width, 60)).unwrap();
    pipeline.execute().unwrap();
}

/// On one row a span either ends before the next begins, or holds it.
fn assert_nested(profile: &Profile) {
    for row in 0..profile.rows.len() {
        let spans: Vec<_> = profile.spans.iter().filter(|span| span.row == row).collect();
        for (index, a) in spans.iter().enumerate() {
            assert!(
                spans[index + 1..].iter().all(|b| b.begin >= a.end || b.end <= a.end),
                "{a:?} is crossed"
            );
        }
    }
}

fn names(profile: &Profile, kind: Kind) -> Vec<&str> {
    profile.of(kind).map(|span| &*span.name).collect()
}

#[test]
fn every_task_is_on_its_stream_within_the_execution() {
    for graph in [false, true] {
        let mut p = pipeline(PipelineConfig { fuse: false, enable_graph_replay: graph, ..profiled() });
        execute(&mut p, 90);
        let first = p.take_profile().unwrap();
        assert_eq!((first.of(Kind::Plan).count(), first.of(Kind::Load).count()), (1, 1 + 4));
        execute(&mut p, 90);
        let profile = p.take_profile().unwrap();
        assert_nested(&profile);
        assert_eq!(profile.of(Kind::Plan).count() + profile.of(Kind::Load).count(), 0);
        assert_eq!(profile.of(Kind::Replay).count(), usize::from(graph));
        let plan = p.plan_for(&[*test_image(90, 60).desc()], 1).unwrap();
        let execution = profile.of(Kind::Execute).next().unwrap();
        for task in &plan.tasks {
            let span = profile.of(Kind::Compute).find(|span| *span.name == *task.name).unwrap();
            let stream = plan.groups[task.group].stream as usize;
            assert_eq!(profile.rows[span.row].place, Place::Stream { session: 0, stream });
            assert!(execution.begin <= span.begin && span.end <= execution.end);
        }
        let at = |name: &str| profile.of(Kind::Compute).find(|span| &*span.name == name).unwrap();
        assert!(at("gray").end <= at("soft").begin && at("edges").end <= at("mix").begin, "graph {graph}");
    }
}

#[test]
fn a_fused_group_is_one_span_that_names_its_tasks() {
    let mut p = pipeline(profiled());
    execute(&mut p, 90);
    let profile = p.take_profile().unwrap();
    let groups = p.plan_for(&[*test_image(90, 60).desc()], 1).unwrap().groups.len();
    assert_eq!(profile.of(Kind::Compute).count(), groups);
    let mut tasks: Vec<String> =
        profile.of(Kind::Compute).flat_map(|span| span.work.clone().unwrap().tasks.clone()).collect();
    tasks.sort();
    assert_eq!(tasks, ["edges", "gray", "mix", "soft"]);
}

#[test]
fn what_gives_a_graph_up_is_marked_with_its_reason() {
    let mut p = pipeline(PipelineConfig { enable_graph_replay: true, ..profiled() });
    execute(&mut p, 90);
    execute(&mut p, 90);
    assert!(p.take_profile().unwrap().marks.is_empty());
    execute(&mut p, 80);
    let soft = p.task("soft").unwrap();
    execute(&mut p, 80);
    p.set_parameter(soft, "kernel", 7).unwrap();
    execute(&mut p, 80);
    let profile = p.take_profile().unwrap();
    let marks: Vec<&str> = profile.marks.iter().map(|mark| mark.name.as_str()).collect();
    assert_eq!(marks, ["graph invalidated: shapes", "graph invalidated: kernels"]);
    assert_eq!(profile.summary().marks.values().sum::<usize>(), 2);
}

#[test]
fn a_batch_is_gathered_once_and_runs_as_one() {
    let mut p = pipeline(profiled());
    p.set_named_input("input", &test_image(90, 60)).unwrap();
    p.execute_batch(&[test_image(90, 60), test_image(90, 60), test_image(90, 60)]).unwrap();
    let profile = p.take_profile().unwrap();
    assert_eq!(names(&profile, Kind::Gather), ["3 frames"]);
    assert_eq!(names(&profile, Kind::Execute), ["3 frames"]);
    assert!(profile.of(Kind::Compute).all(|span| span.work.as_ref().unwrap().batch == 3));
}

#[test]
fn nothing_is_recorded_unless_asked_for() {
    let mut p = pipeline(PipelineConfig::default());
    execute(&mut p, 90);
    assert!(p.take_profile().is_none());
    assert_eq!(p.scheduler().stats().timestamps, 0);
}

#[test]
fn profiled_and_not_give_the_same_bytes() {
    let outputs = [false, true].map(|enable_profiling| {
        let mut p = pipeline(PipelineConfig { enable_profiling, poison: true, ..PipelineConfig::default() });
        execute(&mut p, 90);
        p.output(p.task("mix").unwrap()).unwrap()
    });
    assert_eq!(outputs[0], outputs[1]);
}

#[test]
fn frames_of_a_stream_have_rows_of_their_own() {
    let mut p = pipeline(profiled());
    let options = StreamOptions { frames_in_flight: 3, ..StreamOptions::default() };
    let results = p.stream_frames((0..7).map(|_| test_image(90, 60)), &options).unwrap();
    assert_eq!(results.flatten().count(), 7);
    let profile = p.take_profile().unwrap();
    assert_nested(&profile);
    assert_eq!(names(&profile, Kind::Execute), (0..7).map(|n| format!("frame {n}")).collect::<Vec<_>>());
    let sessions: std::collections::BTreeSet<usize> = (profile.rows.iter())
        .filter_map(|row| match row.place {
            Place::Stream { session, .. } => Some(session),
            Place::Thread(_) => None,
        })
        .collect();
    assert_eq!(sessions.len(), 3);
    let summary = profile.summary();
    assert_eq!(summary.runs, 7);
    assert!(summary.elapsed_us >= summary.device_busy_us);
    let mut text = Vec::new();
    profile.write_chrome_trace(&mut text).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let rows = trace["traceEvents"].as_array().unwrap().iter().filter(|e| e["name"] == "thread_name");
    assert_eq!(rows.count(), profile.rows.len());
}
