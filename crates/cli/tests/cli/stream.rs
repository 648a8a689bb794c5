//! `mip stream`: video in, video out.

use super::support::Place;

const HEADER: &str = "YUV4MPEG2 W5 H3 F25:1 Ip A1:1 Cmono\n";

/// A gray video whose frames count up from their number.
fn video(frames: u8) -> Vec<u8> {
    let mut bytes = HEADER.as_bytes().to_vec();
    for frame in 0..frames {
        bytes.extend(b"FRAME\n");
        bytes.extend((0..15).map(|i| frame * 3 + i));
    }
    bytes
}

/// The pixels of each frame, of streams whose frames have no parameters.
fn frames(video: &[u8]) -> Vec<Vec<u8>> {
    let start = video.iter().position(|&b| b == b'\n').expect("a header") + 1;
    video[start..].chunks(6 + 15).map(|frame| frame[6..].to_vec()).collect()
}

fn mirrored(pixels: &[u8]) -> Vec<u8> {
    pixels.chunks(5).flat_map(|row| row.iter().rev().copied().collect::<Vec<_>>()).collect()
}

#[test]
fn frames_come_out_in_order_however_many_are_under_way() {
    let place = Place::new();
    let input = video(9);
    std::fs::write(place.path("in.y4m"), &input).unwrap();
    let expected: Vec<Vec<u8>> = frames(&input).iter().map(|frame| mirrored(frame)).collect();
    for mode in [&["--frames-in-flight", "1"][..], &["--frames-in-flight", "4"], &["--graph"], &["--no-fuse"]]
    {
        let arguments = ["stream", "-e", "flip", "--device", "cpu", "-i", "in.y4m", "-o", "out.y4m"];
        place.ok(&[&arguments[..], mode].concat());
        let output = std::fs::read(place.path("out.y4m")).unwrap();
        assert_eq!(frames(&output), expected, "{mode:?}");
        std::fs::remove_file(place.path("out.y4m")).unwrap();
    }
}

#[test]
fn each_frame_of_a_slow_source_comes_back_before_the_next_is_sent() {
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};
    for arguments in [&[][..], &["--frames-in-flight", "1"], &["--graph"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mip"))
            .args([&["stream", "-e", "flip", "--device", "cpu"], arguments].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut source, mut result) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (send, frames) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut head = [0];
            while head != *b"\n" {
                result.read_exact(&mut head).unwrap();
            }
            let mut frame = [0; 6 + 15];
            while result.read_exact(&mut frame).is_ok() {
                send.send(frame[6..].to_vec()).unwrap();
            }
        });
        let all = video(8);
        source.write_all(HEADER.as_bytes()).unwrap();
        for frame in all[HEADER.len()..].chunks(6 + 15) {
            source.write_all(frame).unwrap();
            // Only a frame that is kept back takes that long.
            let result = frames.recv_timeout(std::time::Duration::from_mins(2));
            assert_eq!(result.expect("a frame that was kept back"), mirrored(&frame[6..]), "{arguments:?}");
        }
        drop(source);
        assert!(child.wait().unwrap().success());
        assert!(frames.recv().is_err());
    }
}

#[test]
fn the_summary_counts_frames_and_graphs() {
    let place = Place::new();
    std::fs::write(place.path("in.y4m"), video(6)).unwrap();
    let ran = place.ok(&[
        "stream", "-e", "flip", "--device", "cpu", "--graph", "-i", "in.y4m", "-o", "out.y4m", "--json",
    ]);
    let summary: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(summary["frames"], 6, "{summary}");
    let graph = &summary["graph"];
    // Three sessions take turns: each is captured once.
    assert_eq!((&graph["captures"], &graph["replays"]), (&3.into(), &3.into()), "{summary}");
    let place = Place::new();
    std::fs::write(place.path("in.y4m"), video(1)).unwrap();
    place.refused(&["stream", "-e", "flip", "-i", "in.y4m", "--json"], &["--json", "-o"]);
}

#[test]
fn a_stream_that_is_cut_names_its_frame_and_leaves_no_file() {
    let place = Place::new();
    let mut cut = video(3);
    cut.truncate(cut.len() - 4);
    std::fs::write(place.path("in.y4m"), cut).unwrap();
    let ran = place.mip(&["stream", "-e", "flip", "--device", "cpu", "-i", "in.y4m", "-o", "out.y4m"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("frame 2"), "{}", ran.stderr);
    assert!(!place.path("out.y4m").exists());
}

#[test]
fn sampling_that_only_a_comment_names_is_not_taken_for_another() {
    let place = Place::new();
    let video = |head: &str| format!("YUV4MPEG2 W8 H4 F25:1 Ip {head}\nFRAME\n{}", "x".repeat(48));
    place.write("in.y4m", &video("XYSCSS=411"));
    let ran = place.mip(&["stream", "-e", "flip", "-i", "in.y4m", "-o", "out.y4m"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("XYSCSS=411") && ran.stderr.contains("yuv420p"), "{ran:?}");
    assert!(!place.path("out.y4m").exists());
    place.write("in.y4m", &video("XYSCSS=420JPEG"));
    place.ok(&["stream", "-e", "flip", "-i", "in.y4m", "-o", "out.y4m"]);
}

#[test]
fn what_is_no_video_is_refused_with_the_remedy() {
    let place = Place::new();
    place.write("in.y4m", "no video at all\n");
    let ran = place.mip(&["stream", "-e", "flip", "-i", "in.y4m", "-o", "out.y4m"]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("in.y4m") || ran.stderr.contains("YUV4MPEG2"), "{}", ran.stderr);
    place.write("deep.y4m", "YUV4MPEG2 W4 H4 F25:1 C420p10\n");
    let ran = place.mip(&["stream", "-e", "flip", "-i", "deep.y4m", "-o", "out.y4m"]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("yuv420p"), "{}", ran.stderr);
}
