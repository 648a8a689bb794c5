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
    place.write("alpha.y4m", "YUV4MPEG2 W4 H4 F25:1 C420\n");
    let line = "color_convert to=rgba";
    place.refused(&["stream", "-e", line, "-i", "alpha.y4m", "-o", "out.y4m"], &["color_convert to=rgb"]);
    let line = ["stream", "-e", "flip", "-i", "alpha.y4m", "-o", "out.y4m", "--output-format", "mono"];
    place.refused(&line, &["color_convert to=gray"]);
}

#[test]
fn colors_of_10_bits_come_out_with_10_bits() {
    let place = Place::new();
    // Middling luma and little chroma, which RGB can hold.
    let frame: Vec<u8> = (0..27_u16).flat_map(|i| (450 + (13 * i) % 120).to_le_bytes()).collect();
    let header = "YUV4MPEG2 W5 H3 F25:1 Ip C420p10 XCOLORRANGE=LIMITED";
    std::fs::write(place.path("in.y4m"), y4m(header, std::slice::from_ref(&frame))).unwrap();
    place.ok(&["stream", "-e", "flip ! flip", "--device", "cpu", "-i", "in.y4m", "-o", "out.y4m"]);
    let out = std::fs::read(place.path("out.y4m")).unwrap();
    let expected = y4m(header, &[frame]);
    assert_eq!((out.len(), &out[..header.len()]), (expected.len(), header.as_bytes()));
    let samples = |bytes: &[u8]| -> Vec<i32> {
        let (pairs, _) = bytes[header.len() + 7..].as_chunks::<2>();
        pairs.iter().map(|pair| i32::from(u16::from_le_bytes(*pair))).collect()
    };
    let off = samples(&out).into_iter().zip(samples(&expected)).map(|(a, b)| (a - b).abs()).max();
    assert!(off <= Some(1), "{off:?}");
}

#[test]
fn raw_video_comes_out_as_it_went_in_and_says_what_its_stages_took() {
    let place = Place::new();
    let pixels: Vec<u8> = (0..64).map(|i| if i < 40 { 100 + i } else { 120 + i % 8 }).collect();
    let frames = [&pixels[..], &pixels[..]].concat();
    for (format, bytes) in [("nv12:8x5", 64), ("nv21:8x5", 64), ("yv12:8x5", 64), ("nv16:8x4", 64)] {
        std::fs::write(place.path("in"), &frames[..2 * bytes]).unwrap();
        let options = ["--raw", format, "--matrix", "709", "--range", "limited", "--raw-output", "--json"];
        let line = ["stream", "-e", "flip ! flip", "--device", "cpu", "-i", "in", "-o", "out"];
        let ran = place.ok(&[&line[..], &options, &["--trace", "trace.json"]].concat());
        let out = std::fs::read(place.path("out")).unwrap();
        assert_eq!(out.len(), 2 * bytes, "{format}");
        let off = out.iter().zip(&frames).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(off <= Some(1), "{format}: {off:?}");
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let stages: Vec<&str> =
            report["stages"].as_array().unwrap().iter().map(|s| s["stage"].as_str().unwrap()).collect();
        assert_eq!(stages, ["read", "compute", "write"]);
        let trace = std::fs::read_to_string(place.path("trace.json")).unwrap();
        assert!(trace.contains("traceEvents"), "{trace}");
    }
    // Chroma between samples: other pixels, of the same size.
    let line = ["stream", "-e", "flip ! flip", "--device", "cpu", "-i", "in", "-o", "between"];
    let options = ["--raw", "nv16:8x4", "--matrix", "709", "--range", "limited", "--raw-output"];
    place.ok(&[&line[..], &options, &["--chroma", "bilinear", "--siting", "center"]].concat());
    let [sharp, between] = ["out", "between"].map(|name| std::fs::read(place.path(name)).unwrap());
    assert_eq!(sharp.len(), between.len());
    assert_ne!(sharp, between);
    place.refused(&[&line[..], &options, &["--chroma", "cubic"]].concat(), &["nearest, bilinear"]);
}

/// Two frames of 5x3 in 4:2:0, U before V, whose bytes count up.
fn color_frames() -> Vec<Vec<u8>> {
    (0..2).map(|frame| (0..27).map(|i| 40 + 3 * i + frame).collect()).collect()
}

fn y4m(header: &str, frames: &[Vec<u8>]) -> Vec<u8> {
    let frames = frames.iter().flat_map(|frame| [b"FRAME\n", &frame[..]].concat());
    [header.as_bytes(), b"\n"].concat().into_iter().chain(frames).collect()
}

/// The luma mirrored, the rest as it was.
fn luma_mirrored(frame: &[u8]) -> Vec<u8> {
    [mirrored(&frame[..15]), frame[15..].to_vec()].concat()
}

#[test]
fn chroma_of_a_luma_filter_comes_out_byte_for_byte() {
    let place = Place::new();
    let header = "YUV4MPEG2 W5 H3 F25:1 Ip C420jpeg XCOLORRANGE=LIMITED";
    std::fs::write(place.path("in.y4m"), y4m(header, &color_frames())).unwrap();
    let line = "flip inputs=@input-y";
    place.ok(&["stream", "-e", line, "--device", "cpu", "-i", "in.y4m", "-o", "out.y4m"]);
    let expected: Vec<Vec<u8>> = color_frames().iter().map(|frame| luma_mirrored(frame)).collect();
    assert_eq!(std::fs::read(place.path("out.y4m")).unwrap(), y4m(header, &expected));
    // The same frames as a camera has them: chroma in turns, no header.
    let turns = |frame: &Vec<u8>| {
        let (u, v) = (&frame[15..21], &frame[21..]);
        let chroma = u.iter().zip(v).flat_map(|(u, v)| [*u, *v]);
        frame[..15].iter().copied().chain(chroma).collect::<Vec<u8>>()
    };
    std::fs::write(place.path("in.nv12"), color_frames().iter().flat_map(turns).collect::<Vec<u8>>())
        .unwrap();
    let nv12 = ["stream", "-e", line, "--device", "cpu", "--raw", "nv12:5x3", "-i", "in.nv12"];
    place.ok(&[&nv12[..], &["-o", "apart.y4m"]].concat());
    let apart = std::fs::read(place.path("apart.y4m")).unwrap();
    assert_eq!(apart, y4m("YUV4MPEG2 W5 H3 Ip C420", &expected));
    place.ok(&[&nv12[..], &["--raw-output", "-o", "out.nv12"]].concat());
    let kept: Vec<u8> = expected.iter().flat_map(turns).collect();
    assert_eq!(std::fs::read(place.path("out.nv12")).unwrap(), kept);
    // V before U in memory, U before V in Y4M.
    let swapped = |frame: &Vec<u8>| [&frame[..15], &frame[21..], &frame[15..21]].concat();
    std::fs::write(place.path("in.yv12"), color_frames().iter().flat_map(swapped).collect::<Vec<u8>>())
        .unwrap();
    let yv12 = ["stream", "-e", line, "--device", "cpu", "--raw", "yv12:5x3", "-i", "in.yv12"];
    place.ok(&[&yv12[..], &["-o", "yv12.y4m"]].concat());
    assert_eq!(std::fs::read(place.path("yv12.y4m")).unwrap(), apart);
    place.ok(&[&yv12[..], &["--raw-output", "-o", "out.yv12"]].concat());
    let kept: Vec<u8> = expected.iter().flat_map(swapped).collect();
    assert_eq!(std::fs::read(place.path("out.yv12")).unwrap(), kept);
    // Luma alone, where that is asked for.
    place.ok(&[&nv12[..], &["--output-format", "mono", "--raw-output", "-o", "luma"]].concat());
    let luma: Vec<u8> = expected.iter().flat_map(|frame| frame[..15].to_vec()).collect();
    assert_eq!(std::fs::read(place.path("luma")).unwrap(), luma);
}

#[test]
fn luma_of_10_bits_stays_what_it_is() {
    let place = Place::new();
    let frame: Vec<u8> = (0..27_u16).flat_map(|i| (64 + 30 * i).to_le_bytes()).collect();
    let header = "YUV4MPEG2 W5 H3 F25:1 Ip C420p10";
    std::fs::write(place.path("in.y4m"), y4m(header, std::slice::from_ref(&frame))).unwrap();
    let line = "flip direction=vertical inputs=@input-y";
    place.ok(&["stream", "-e", line, "--device", "cpu", "-i", "in.y4m", "-o", "out.y4m"]);
    let turned = [&frame[20..30], &frame[10..20], &frame[..10], &frame[30..]].concat();
    let expected = y4m("YUV4MPEG2 W5 H3 F25:1 Ip C420p10 XCOLORRANGE=LIMITED", &[turned]);
    assert_eq!(std::fs::read(place.path("out.y4m")).unwrap(), expected);
}

#[test]
fn luma_alone_says_how_many_bits_it_has() {
    let place = Place::new();
    let frame: Vec<u8> = (0..27_u16).flat_map(|i| (64 + 30 * i).to_le_bytes()).collect();
    let header = "YUV4MPEG2 W5 H3 F25:1 Ip C420p10";
    std::fs::write(place.path("in.y4m"), y4m(header, std::slice::from_ref(&frame))).unwrap();
    let mono = |line: &str| {
        place.ok(&["stream", "-e", line, "-i", "in.y4m", "-o", "out.y4m", "--output-format", "mono"]);
        let video = std::fs::read(place.path("out.y4m")).unwrap();
        let end = video.iter().position(|&byte| byte == b'\n').unwrap();
        (String::from_utf8_lossy(&video[..end]).into_owned(), video.len() - end - 1 - 6)
    };
    let (header, bytes) = mono("flip inputs=@input-y");
    assert!(header.contains("Cmono10 ") && bytes == 30, "{header} {bytes}");
    let (header, bytes) = mono("cast to=u8 inputs=@input-y");
    assert!(header.contains("Cmono ") && bytes == 15, "{header} {bytes}");
    // Samples in the upper bits are nothing that Y4M has a word for.
    std::fs::write(place.path("in.p010"), &frame).unwrap();
    let raw =
        ["stream", "-e", "flip inputs=@input-y", "--raw", "p010:5x3", "-i", "in.p010", "-o", "p010.y4m"];
    place.refused(&raw, &["upper bits", "--raw-output"]);
    place.refused(&[&raw[..], &["--output-format", "mono"]].concat(), &["upper bits", "--raw-output"]);
}

#[test]
fn colors_left_alone_come_back_but_for_rounding_whatever_the_frames_are() {
    let place = Place::new();
    let header = "YUV4MPEG2 W5 H3 F25:1 Ip C420jpeg XCOLORRANGE=LIMITED";
    // Colours that RGB can hold: middling luma, little chroma.
    let frames: Vec<Vec<u8>> =
        color_frames().iter().map(|frame| frame.iter().map(|v| 112 + v % 32).collect()).collect();
    std::fs::write(place.path("in.y4m"), y4m(header, &frames)).unwrap();
    place.ok(&["stream", "-e", "crop x=0 y=0 width=5 height=3", "-i", "in.y4m", "-o", "out.y4m"]);
    let out = std::fs::read(place.path("out.y4m")).unwrap();
    let expected = y4m(header, &frames);
    assert_eq!(out.len(), expected.len());
    let off = out.iter().zip(&expected).map(|(a, b)| a.abs_diff(*b)).max();
    assert!(off <= Some(1), "{off:?}");
}

#[test]
fn raw_video_has_no_colors_until_they_are_said() {
    let place = Place::new();
    std::fs::write(place.path("in"), color_frames().concat()).unwrap();
    let raw = ["stream", "-e", "flip", "--raw", "i420:5x3", "-i", "in", "-o", "out.y4m"];
    place.refused(&raw, &["@input", "matrix", "range"]);
    place.ok(&[&raw[..], &["--matrix", "601", "--range", "limited"]].concat());
    place.refused(&["stream", "-e", "flip", "--raw", "i421:5x3", "-i", "in"], &["i421", "nv12"]);
    let mut cut = color_frames().concat();
    cut.truncate(40);
    std::fs::write(place.path("cut"), cut).unwrap();
    let ran = place.mip(&[
        "stream",
        "-e",
        "flip inputs=@input-y",
        "--raw",
        "i420:5x3",
        "-i",
        "cut",
        "-o",
        "cut.y4m",
    ]);
    assert!(ran.code == 1 && ran.stderr.contains("frame 1 ends after 13 of 27 bytes"), "{ran:?}");
    assert!(!place.path("cut.y4m").exists());
}
