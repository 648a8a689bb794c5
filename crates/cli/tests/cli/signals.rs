//! Signals at every stage: what is whole stays, nothing else does, and the exit code says which signal it was.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::support::Place;

const HEADER: &[u8] = b"YUV4MPEG2 W5 H3 F25:1 Ip A1:1 Cmono XCOLORRANGE=FULL\n";
const FRAME: usize = 6 + 15;

fn frame(number: u8) -> Vec<u8> {
    [&b"FRAME\n"[..], &[number; 15]].concat()
}

/// Frames whose pixels are all the same: mirroring changes nothing.
fn video(frames: u8) -> Vec<u8> {
    (0..frames).fold(HEADER.to_vec(), |all, number| [all, frame(number)].concat())
}

pub(crate) fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(sent.unwrap().success(), "kill -{signal}");
}

/// Waits for a condition; that it never comes true shows after minutes.
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_mins(2), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn parts(place: &Place) -> Vec<String> {
    place.list(".").into_iter().filter(|name| name.starts_with(".mip-")).collect()
}

/// Exit code, stdout and stderr of a command that ends. Its stdin stays open until then.
fn ended(mut child: Child) -> (Option<i32>, String, String) {
    let _stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A stream into `out.y4m` that has written two frames and waits for the third.
fn stream_of_two(place: &Place, more: &[&str]) -> Child {
    let arguments = ["stream", "-e", "flip", "--device", "cpu", "-o", "out.y4m"];
    let mut child = place.start(&[&arguments[..], more].concat());
    child.stdin.as_mut().unwrap().write_all(&video(2)).unwrap();
    let length = expected().len() as u64;
    let long = |part: &String| std::fs::metadata(place.path(part)).is_ok_and(|m| m.len() >= length);
    let written = || parts(place).iter().any(long);
    wait_until("two frames are written", written);
    child
}

/// What a stream of two frames writes.
fn expected() -> Vec<u8> {
    let place = Place::new();
    std::fs::write(place.path("in.y4m"), video(2)).unwrap();
    place.ok(&["stream", "-e", "flip", "--device", "cpu", "-i", "in.y4m", "-o", "out.y4m"]);
    place.bytes("out.y4m")
}

#[test]
fn a_stream_that_is_interrupted_keeps_its_whole_frames() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let place = Place::new();
        let child = stream_of_two(&place, &["--json"]);
        send(&child, signal);
        let (exit, stdout, stderr) = ended(child);
        assert_eq!(exit, Some(code), "{stderr}");
        assert!(stderr.contains(&format!("SIG{signal}")) && stderr.contains("out.y4m"), "{stderr}");
        let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((&json["frames"], &json["interrupted"]), (&2.into(), &format!("SIG{signal}").into()));
        assert_eq!(place.bytes("out.y4m"), expected());
        assert_eq!(place.list("."), ["out.y4m"]);
    }
}

#[test]
fn a_part_of_a_stream_does_not_replace_a_file() {
    let place = Place::new();
    place.write("out.y4m", "the old one");
    place.write("out.interrupted.y4m", "an older one");
    let child = stream_of_two(&place, &[]);
    send(&child, "INT");
    let (exit, _, stderr) = ended(child);
    assert_eq!(exit, Some(130), "{stderr}");
    assert!(stderr.contains("out.interrupted-2.y4m"), "{stderr}");
    assert_eq!(place.bytes("out.y4m"), b"the old one");
    assert_eq!(place.bytes("out.interrupted-2.y4m"), expected());
    assert_eq!(place.list("."), ["out.interrupted-2.y4m", "out.interrupted.y4m", "out.y4m"]);
}

#[test]
fn a_stream_into_a_pipe_ends_behind_a_whole_frame() {
    let place = Place::new();
    let mut child = place.start(&["stream", "-e", "flip", "--device", "cpu"]);
    child.stdin.as_mut().unwrap().write_all(&video(2)).unwrap();
    let mut head = vec![0; expected().len()];
    child.stdout.as_mut().unwrap().read_exact(&mut head).unwrap();
    // Half a frame: the source will never say the rest.
    child.stdin.as_mut().unwrap().write_all(&frame(3)[..FRAME / 2]).unwrap();
    send(&child, "INT");
    let (exit, rest, stderr) = ended(child);
    assert_eq!((exit, rest.as_str(), head), (Some(130), "", expected()), "{stderr}");
}

#[test]
fn a_run_that_waits_for_a_picture_stops_and_says_what_it_did() {
    let place = Place::new();
    place.rgb("a.png", (20, 10), 1);
    place.rgb("c.png", (20, 10), 2);
    place.sh("mkfifo b.png");
    let child = place.start(&["run", "-e", "flip", "--device", "cpu", "a.png", "b.png", "c.png", "--json"]);
    wait_until("the first is written", || place.path("out/a.png").exists());
    send(&child, "INT");
    let (exit, stdout, stderr) = ended(child);
    assert_eq!(exit, Some(130), "{stderr}");
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (&json["interrupted"], &json["frames"], &json["not_tried"]),
        (&"SIGINT".into(), &1.into(), &2.into())
    );
    assert_eq!(json["outputs"], serde_json::json!(["out/a.png"]));
    assert!(stderr.contains("interrupted by SIGINT") && stderr.contains("2 not tried"), "{stderr}");
    assert_eq!(place.list("out"), ["a.png"]);
}

/// A run that has begun to write a picture into a pipe which nobody empties. With the pipe, its first byte, and stderr.
fn stuck_run(place: &Place) -> (Child, std::fs::File, BufReader<std::process::ChildStderr>) {
    place.noise("a.png", (400, 400));
    place.sh("mkfifo pipe.png");
    let mut child = place.start(&["run", "-e", "flip", "--device", "cpu", "a.png", "-o", "pipe.png"]);
    let mut pipe = std::fs::File::open(place.path("pipe.png")).unwrap();
    pipe.read_exact(&mut [0]).unwrap();
    send(&child, "INT");
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(line.contains("SIGINT: finishing what is under way"), "{line}");
    (child, pipe, stderr)
}

#[test]
fn what_is_being_written_is_finished() {
    let place = Place::new();
    let (mut child, mut pipe, mut stderr) = stuck_run(&place);
    let mut written = vec![b'\x89'];
    pipe.read_to_end(&mut written).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("1 image -> 1 file") && rest.contains("interrupted by SIGINT"), "{rest}");
    place.ok(&["run", "-e", "flip", "--device", "cpu", "a.png", "-o", "whole.png"]);
    assert_eq!(written, place.bytes("whole.png"));
}

#[test]
fn a_second_signal_ends_at_once() {
    let place = Place::new();
    let (mut child, pipe, _stderr) = stuck_run(&place);
    send(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(pipe);
    assert_eq!(place.list("."), ["a.png", "pipe.png"]);
}

#[test]
fn commands_with_nothing_to_finish_end_at_once_and_leave_nothing() {
    let place = Place::new();
    place.rgb("a.png", (200, 100), 1);
    let endless = [
        "profile", "-e", "sobel", "a.png", "--device", "cpu", "--repeat", "100000", "--trace", "t.json",
        "--json",
    ];
    let child = place.start(&endless);
    wait_until("the trace is begun", || !parts(&place).is_empty());
    send(&child, "TERM");
    let (exit, stdout, stderr) = ended(child);
    assert_eq!(exit, Some(143), "{stderr}");
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&json["exit_code"], &json["interrupted"]), (&143.into(), &"SIGTERM".into()));
    assert_eq!(place.list("."), ["a.png"]);
}

#[test]
fn what_was_ignored_before_stays_ignored() {
    let place = Place::new();
    let mut child = Command::new("sh")
        .args([
            "-c",
            r#"trap "" HUP; exec "$0" stream -e flip --device cpu -o out.y4m"#,
            env!("CARGO_BIN_EXE_mip"),
        ])
        .current_dir(place.path("."))
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&video(1)).unwrap();
    wait_until("the file is begun", || !parts(&place).is_empty());
    send(&child, "HUP");
    stdin.write_all(&frame(1)).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert_eq!(place.bytes("out.y4m"), expected());
}

#[test]
fn leftovers_of_a_killed_run_go_and_those_of_a_running_one_stay() {
    let place = Place::new();
    let mut killed = stream_of_two(&place, &[]);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = parts(&place);
    assert_eq!(left.len(), 1);
    let mut alive = stream_of_two(&place, &[]);
    // What the killed run left is as long as what is waited for above, so the new one may not have searched yet.
    wait_until("what is left of a run that is gone goes", || {
        let now = parts(&place);
        now.len() == 1 && now != left
    });
    let alive_part = parts(&place);
    place.rgb("a.png", (20, 10), 1);
    place.ok(&["run", "-e", "flip", "--device", "cpu", "a.png", "-o", "b.png"]);
    assert_eq!(parts(&place), alive_part);
    drop(alive.stdin.take());
    assert_eq!(ended(alive).0, Some(0));
    assert_eq!(place.bytes("out.y4m"), expected());
    assert_eq!(place.list("."), ["a.png", "b.png", "out.y4m"]);
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error() {
    let place = Place::new();
    place.noise("a.png", (200, 200));
    let ran = place.sh(r#"ulimit -f 4; exec "$MIP" run -e flip --device cpu a.png -o b.png"#);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("b.png") && ran.stderr.contains("too large"), "{ran:?}");
    assert_eq!(place.list("."), ["a.png"]);
}
