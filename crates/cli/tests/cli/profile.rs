//! `mip profile`: the table, the JSON, the trace.

use serde_json::Value;

use crate::support::Place;

const FORK: &str = "gray:color_convert to=gray ! soft:gaussian_blur kernel=5 inputs=gray \
                    ! edges:sobel inputs=gray ! mix:blend inputs=soft,edges";

fn place() -> Place {
    let place = Place::new();
    place.rgb("in.png", (90, 60), 1);
    place
}

fn names(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}

#[test]
fn the_table_names_tasks_and_streams() {
    let ran = place().ok(&["profile", "-e", FORK, "in.png", "--device", "cpu", "--repeat", "3", "--no-fuse"]);
    let row = |name: &str| ran.stdout.lines().find(|line| line.contains(name)).unwrap_or_default();
    for task in ["gray", "soft", "edges", "mix"] {
        let words: Vec<&str> = row(&format!(" {task} ")).split_whitespace().collect();
        assert_eq!(words[..3], ["compute", task, "3"], "{}", ran.stdout);
    }
    assert!(row("session 0, stream 1").contains('%'), "{}", ran.stdout);
    assert!(row("submit").contains("us") && row("wait").contains('s'), "{}", ran.stdout);
    assert!(ran.stderr.contains("--trace FILE"), "{}", ran.stderr);
}

#[test]
fn json_and_trace_agree() {
    let place = place();
    let arguments = ["profile", "-e", FORK, "in.png", "--device", "cpu", "--graph", "--repeat", "4"];
    let report = place.ok(&[&arguments[..], &["--json", "--trace", "t.json"]].concat()).json();
    assert_eq!((&report["repeat"], &report["graph"]), (&4.into(), &true.into()));
    assert!(
        report["us_per_run"].as_f64() > Some(0.0) && report["unprofiled_us_per_run"].as_f64() > Some(0.0)
    );
    let summary = &report["summary"];
    assert_eq!(summary["runs"], 4);
    let host = summary["host"].as_array().unwrap();
    let replays = host.iter().find(|row| row["kind"] == "replay").unwrap();
    assert_eq!(replays["count"], 4, "captured while warming up: {summary}");
    // A fused group is one row that names its tasks.
    let tasks = summary["tasks"].as_array().unwrap();
    let mut computed: Vec<&str> = tasks
        .iter()
        .filter(|row| row["kind"] == "compute")
        .flat_map(|row| row["tasks"].as_array().unwrap().iter().map(|task| task.as_str().unwrap()))
        .collect();
    computed.sort_unstable();
    assert_eq!(computed, ["edges", "gray", "mix", "soft"]);

    let trace: Value = serde_json::from_slice(&place.bytes("t.json")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let rows = events.iter().filter(|event| event["name"] == "thread_name" && event["pid"] == 2);
    let rows: Vec<&str> = rows.map(|row| row["args"]["name"].as_str().unwrap()).collect();
    assert_eq!(rows, names(&summary["streams"]));
    let spans = events.iter().filter(|event| event["cat"] == "compute").count();
    let counted: u64 =
        tasks.iter().filter(|row| row["kind"] == "compute").map(|row| row["count"].as_u64().unwrap()).sum();
    assert_eq!(spans as u64, counted);
}

#[test]
fn without_warm_up_the_trace_shows_planning_and_loading() {
    let place = place();
    let arguments = ["profile", "-e", "sobel", "in.png", "--device", "cpu", "--repeat", "1"];
    for (warm_up, shown) in [("0", true), ("1", false)] {
        place.ok(&[&arguments[..], &["--warm-up", warm_up, "--trace", "t.json"]].concat());
        let trace: Value = serde_json::from_slice(&place.bytes("t.json")).unwrap();
        let has = |kind: &str| trace["traceEvents"].as_array().unwrap().iter().any(|e| e["cat"] == kind);
        assert_eq!((has("plan"), has("load"), has("compute")), (shown, shown, true), "warm-up {warm_up}");
    }
}

#[test]
fn a_stream_is_compared_with_its_slowest_stage_and_batches_run_as_one() {
    let place = place();
    let arguments = ["profile", "-e", FORK, "in.png", "--device", "cpu", "--json"];
    let report = place.ok(&[&arguments[..], &["--stream", "2", "--repeat", "6"]].concat()).json();
    let stream = &report["stream"];
    assert_eq!((&stream["frames_in_flight"], &report["summary"]["runs"]), (&2.into(), &6.into()));
    assert_eq!(stream["slowest"]["stage"], "compute", "the CPU copies nothing: {stream}");
    assert!(stream["ratio"].as_f64() > Some(0.0));
    let sessions = names(&report["summary"]["streams"]);
    assert!(sessions.iter().any(|name| name.starts_with("session 1,")), "{sessions:?}");
    let report = place.ok(&[&arguments[..], &["--batch", "3", "--repeat", "2"]].concat()).json();
    assert_eq!((&report["summary"]["runs"], &report["batch"]), (&2.into(), &3.into()));
}

#[test]
fn what_cannot_be_profiled_is_refused_with_a_reason() {
    let place = place();
    place.refused(&["profile", "-e", "sobel"], &["no image", "'input'"]);
    place.refused(&["profile", "-e", "sobel", "in.png", "in.png"], &["one image too many"]);
    place.refused(&["profile", "-e", "sobel", "in.png", "--stream", "2", "--batch", "2"], &["--batch"]);
    place.refused(&["profile", "-e", "sobel", "--input", "left=in.png"], &["'left'", "input"]);
    let ran = place.mip(&["profile", "-e", "sobel", "in.png", "--trace", "none/t.json", "--device", "cpu"]);
    assert!(ran.code == 1 && ran.stderr.contains("none/"), "{ran:?}");
    let failed =
        place.mip(&["profile", "-e", "crop x=0 y=0 width=900 height=9", "in.png", "--trace", "t.json"]);
    assert!(failed.code != 0 && !place.path("t.json").exists(), "no trace of what did not run: {failed:?}");
}

/// Categories of the spans in a trace, with how many there are of each.
fn categories(place: &Place, name: &str) -> std::collections::BTreeMap<String, usize> {
    let trace: Value = serde_json::from_slice(&place.bytes(name)).unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for event in trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X") {
        *counts.entry(event["cat"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn files_are_timed_around_executions() {
    let place = place();
    place.rgb("photo.jpg", (90, 60), 2);
    let arguments = ["profile", "-e", FORK, "photo.jpg", "--device", "cpu", "--repeat", "3"];
    let report = place.ok(&[&arguments[..], &["--json", "--trace", "t.json"]].concat()).json();
    let files = report["files"].as_array().unwrap();
    let steps: Vec<_> =
        files.iter().map(|row| (row["step"].as_str().unwrap(), row["format"].as_str().unwrap())).collect();
    assert_eq!(steps, [("read", "JPEG"), ("decode", "JPEG"), ("encode", "PNG")]);
    assert_eq!((&files[0]["name"], &files[2]["name"]), (&"photo.jpg".into(), &"mix".into()));
    assert_eq!(files[0]["bytes"], place.bytes("photo.jpg").len());
    assert!(files.iter().all(|row| row["median_us"].as_f64() > Some(0.0)), "{report}");
    let spans = categories(&place, "t.json");
    assert!(["read", "decode", "encode", "execute"].iter().all(|kind| spans[*kind] > 2), "{spans:?}");
    let ran = place.ok(&[&arguments[..], &["--format", "jpg", "--stream", "2"]].concat());
    let row = |name: &str| ran.stdout.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    assert!(row("encode").contains("JPEG") && row("decode").contains("photo.jpg"), "{}", ran.stdout);
}

#[test]
fn a_run_over_files_has_a_timeline() {
    let place = place();
    place.rgb("in/a.png", (90, 60), 2);
    place.rgb("in/b.jpg", (90, 60), 3);
    let run = ["run", "-e", FORK, "in", "--device", "cpu", "--trace", "t.json"];
    place.ok(&[&run[..], &["-o", "out"]].concat());
    let spans = categories(&place, "t.json");
    let files = ["read", "decode", "encode", "write", "execute"].map(|kind| spans[kind]);
    assert_eq!(files, [2; 5], "{spans:?}");
    assert!(spans["compute"] >= 2, "{spans:?}");
    place.ok(&[&run[..], &["-o", "t.npy"]].concat());
    let spans = categories(&place, "t.json");
    assert_eq!((spans["write"], spans.get("encode")), (2, None), "{spans:?}");
    place.refused(&["run", "-e", FORK, "in", "--trace", "in/a.png", "-o", "out"], &["--trace", "in/a.png"]);
    place.refused(&["run", "-e", FORK, "in", "--trace", "-", "-o", "out"], &["--trace"]);
    place.refused(&["run", "-e", FORK, "in/a.png", "--trace", "o.png", "-o", "o.png"], &["--trace names"]);
}

fn video(place: &Place, frames: usize) -> Vec<u8> {
    let frame: Vec<u8> = (0..64 * 48 * 3 / 2).map(|i| (i * 7 % 251) as u8).collect();
    std::fs::write(place.path("in.i420"), frame.repeat(frames)).unwrap();
    let mut y4m = b"YUV4MPEG2 W64 H48 F25:1 C420jpeg\n".to_vec();
    for _ in 0..frames {
        y4m.extend(b"FRAME\n");
        y4m.extend(&frame);
    }
    y4m
}

#[test]
fn a_video_has_its_stages() {
    let place = Place::new();
    let y4m = video(&place, 9);
    std::fs::write(place.path("in.y4m"), &y4m).unwrap();
    let line = "resize width=32 ! gaussian_blur kernel=3";
    let start = ["profile", "-e", line, "--device", "cpu", "--json", "--trace", "t.json"];
    let raw = ["in.i420", "--raw", "i420:64x48", "--matrix", "709", "--range", "limited"];
    for (input, repeat, frames) in [(&["in.y4m"][..], "100", 9), (&raw[..], "5", 5)] {
        let report = place.ok(&[&start[..], input, &["--repeat", repeat]].concat()).json();
        assert_eq!((&report["frames"], &report["frames_in_flight"]), (&frames.into(), &3.into()));
        assert_eq!((&report["format"], &report["written"]), (&"i420".into(), &true.into()), "{report}");
        let stages =
            report["stages"].as_array().unwrap().iter().map(|stage| stage["stage"].as_str().unwrap());
        assert_eq!(stages.collect::<Vec<_>>(), ["read", "compute", "write"]);
        assert!(report["frames_per_second"].as_f64() > Some(0.0), "{report}");
        assert_eq!(report["summary"]["runs"], frames);
        let spans = categories(&place, "t.json");
        // The end of a file is read as well.
        assert!((spans["read"] - frames) < 2 && spans["write"] == frames, "{spans:?}");
    }
    // Two results are no video; frames are measured all the same.
    let two = "small:resize width=32 ! flip inputs=small ! sobel inputs=small";
    let ran = place.ok(&["profile", "-e", two, "in.y4m", "--device", "cpu"]);
    assert!(ran.stdout.contains("let go of") && ran.stdout.contains("frames/s alone"), "{}", ran.stdout);
    place.refused(&["profile", "-e", line, "in.y4m", "--batch", "2"], &["--batch is for images"]);
    place.rgb("in.png", (9, 6), 1);
    place.refused(&["profile", "-e", line, "in.png", "--matrix", "709"], &["--matrix is for a video"]);
    let header = y4m.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    std::fs::write(place.path("none.y4m"), &y4m[..header]).unwrap();
    let ran = place.mip(&["profile", "-e", line, "none.y4m", "--device", "cpu"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("has no frames"), "{}", ran.stderr);
}
