//! `--decode gpu` with video: what it refuses; and, with a driver and a library for video that are C files and a program that stands for
//! ffmpeg, what becomes of packets. Kernels do not run there, so that of results it is their times and the chroma that no kernel makes
//! which are looked at.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use mip_io::nut::{NutReader, NutTag, NutVideo, NutWriter};
use mip_io::y4m::Y4mHeader;
use mip_io::yuv::Sampling;

use crate::libraries::fake_driver;
use crate::support::{Place, Ran};

const SIZE: (u32, u32) = (34, 18);
/// In the order of decoding, ten seconds later than in the file.
const TIMES: [u64; 5] = [10_000, 10_120, 10_040, 10_080, 10_160];

fn probe(codec: &str, pixels: &str, more: &str) -> String {
    format!(
        r#"{{"program_version":{{"version":"7.1"}},"streams":[{{"index":0,"codec_name":"{codec}","codec_type":"video",
        "pix_fmt":"{pixels}","width":34,"height":18,"time_base":"1/1000","avg_frame_rate":"25/1","nb_frames":"5",
        "color_space":"bt709","color_range":"tv"{more}}}],"format":{{"start_time":"0.000000"}}}}"#
    )
}

/// What ffmpeg gives when it copies: packets of the fake stream, frame `n` made of `20 n`, some of a mode of their own.
fn packets(mode: impl Fn(usize) -> u8) -> Vec<u8> {
    packets_at(TIMES, mode)
}

fn packets_at(times: [u64; 5], mode: impl Fn(usize) -> u8) -> Vec<u8> {
    let video = NutVideo { width: SIZE.0, height: SIZE.1, time_base: (1, 1000), aspect: None };
    let tag = NutTag::of(&Y4mHeader::new(SIZE.0, SIZE.1, Sampling::C420, None)).unwrap();
    let mut writer = NutWriter::new(Vec::new(), "nut", &video, tag).unwrap();
    for (n, pts) in times.into_iter().enumerate() {
        let packet = [b"FAKE\x22\0\x12\0\x08", &[20 * n as u8, mode(n)][..]].concat();
        writer.write(pts, packet.len(), [&packet[..]]).unwrap();
    }
    writer.into_inner()
}

fn place(probe: &str, packets: &[u8], with_library: bool) -> Place {
    let place = Place::new();
    fake_driver(&place, if with_library { &[("libnvcuvid.so.1", "nvcuvid.c")] } else { &[] });
    std::fs::write(place.path("in.mp4"), b"\0\0\0\x20ftypisom").unwrap();
    std::fs::write(place.path("packets.nut"), packets).unwrap();
    // A part is encoded in two steps, of which the second is `-hide_banner -loglevel error -nostdin -i file:PART ...`.
    let ffmpeg = r#"#!/bin/sh
for last; do :; done
echo "$*" >> called
case "$*" in
*pipe:1) cat packets.nut ;;
*pipe:0*) cat > "${last#file:}" ;;
*) cp "${6#file:}" "${last#file:}" ;;
esac
"#;
    for (name, text) in [("ffmpeg", ffmpeg), ("ffprobe", &*format!("#!/bin/sh\ncat <<'END'\n{probe}\nEND\n"))]
    {
        place.write(name, text);
        std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    place
}

fn run(place: &Place, arguments: &[&str]) -> Ran {
    Ran::of(&mut command(place, arguments))
}

fn command(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command();
    for variable in ["CUDA_HOME", "CUDA_PATH", "MIP_NVRTC_LIB"] {
        command.env_remove(variable);
    }
    command
        .arg("run")
        .args(arguments)
        .env("LD_LIBRARY_PATH", place.path("driver"))
        .env("MIP_CACHE_DIR", place.path("cache"))
        .env("MIP_FFMPEG", place.path("ffmpeg"))
        .env("MIP_FFPROBE", place.path("ffprobe"));
    command
}

const ON_GPU: [&str; 4] = ["--device", "cuda", "--decode", "gpu"];

/// Times and samples of the frames that the encoding ffmpeg was given.
fn encoded(place: &Place, name: &str) -> Vec<(i64, Vec<u8>)> {
    let bytes = place.bytes(name);
    let mut reader = NutReader::new(&bytes[..], name).unwrap().expect("headers");
    let mut frame = vec![0; (SIZE.0 * SIZE.1 * 3 / 2) as usize];
    let mut all = Vec::new();
    while let Some(pts) = reader.read(&mut frame).unwrap() {
        all.push((pts, frame.clone()));
    }
    all
}

#[test]
fn packets_become_frames_in_the_order_of_display() {
    let place = place(&probe("h264", "yuv420p", ""), &packets(|_| b' '), true);
    // Luma alone is worked on: chroma comes from the decoder, past the kernels that do not run here.
    place.write("luma.toml", "[[task]]\nname = \"soft\"\nop = \"gaussian_blur\"\ninputs = [\"@input-y\"]\n");
    let ran = run(&place, &[&["luma.toml", "in.mp4", "-o", "out.mp4", "--json"][..], &ON_GPU].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["frames"], 5);
    let frames = encoded(&place, "out.mp4");
    let times: Vec<i64> = frames.iter().map(|(pts, _)| *pts).collect();
    assert_eq!(times, [10_000, 10_040, 10_080, 10_120, 10_160]);
    for (shown, n) in [0, 2, 3, 1, 4].into_iter().enumerate() {
        let chroma = &frames[shown].1[(SIZE.0 * SIZE.1) as usize..];
        let sample = |x: u32, y: u32| (20 * n as u32 + x + 2 * (SIZE.1 + y)) as u8;
        let wanted: Vec<u8> = [0, 1]
            .into_iter()
            .flat_map(|v| {
                (0..SIZE.1 / 2).flat_map(move |y| (0..SIZE.0 / 2).map(move |x| sample(2 * x + v, y)))
            })
            .collect();
        assert_eq!(chroma, wanted, "frame {shown}");
    }
    let called = String::from_utf8(place.bytes("called")).unwrap();
    assert!(
        called.contains("-map_metadata -1 -c:v copy -bsf:v h264_mp4toannexb -output_ts_offset"),
        "{called}"
    );
}

/// As the CPU's decoder leaves them out: an edit list may begin between key frames.
#[test]
fn frames_before_the_beginning_are_not_shown() {
    let early = packets_at([9_900, 10_080, 9_960, 10_000, 10_120], |_| b' ');
    let place = place(&probe("h264", "yuv420p", ""), &early, true);
    let ran = run(&place, &[&["-e", "flip", "in.mp4", "-o", "out.mp4"][..], &ON_GPU].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let times: Vec<i64> = encoded(&place, "out.mp4").iter().map(|(pts, _)| *pts).collect();
    assert_eq!(times, [10_000, 10_080, 10_120]);
}

/// 200 packets of VP9, of which every twentieth can begin a stream; some of a mode of their own.
fn beginnings(mode: impl Fn(u64) -> u8) -> Vec<u8> {
    let video = NutVideo { width: SIZE.0, height: SIZE.1, time_base: (1, 1000), aspect: None };
    let tag = NutTag::of(&Y4mHeader::new(SIZE.0, SIZE.1, Sampling::C420, None)).unwrap();
    let mut writer = NutWriter::new(Vec::new(), "nut", &video, tag).unwrap();
    for n in 0..200_u64 {
        // Of VP9 a packet begins with its frame's header, and so does one of the fake stream, whose letters are no key frame.
        let mut packet = b"FAKE\x22\0\x12\0\x08\0 ".to_vec();
        (packet[9], packet[10]) = (n as u8, mode(n));
        if n % 20 == 0 {
            packet[0] = 0x82;
        }
        writer.write(10_000 + 40 * n, packet.len(), [&packet[..]]).unwrap();
    }
    writer.into_inner()
}

/// Whoever waits for an engine to take the next part must not wait for one that has failed.
#[test]
fn a_part_that_is_refused_ends_the_run_on_one_engine_and_on_several() {
    for engines in ["one", ""] {
        for refused in [0, 19, 39] {
            let packets = beginnings(|n| if n == refused { b'x' } else { b' ' });
            let place = place(&probe("vp9", "yuv420p", ""), &packets, true);
            let arguments = ["-e", "flip", "in.mp4", "-o", "out.mp4"];
            let mut command = command(&place, &[&arguments[..], &ON_GPU].concat());
            let ran = Ran::of(command.env("FAKE_NVDEC", engines));
            assert!(ran.code == 1 && ran.stderr.contains("NVDEC: cuvidParseVideoData failed"), "{ran:?}");
            assert!(!place.path("out.mp4").exists());
        }
    }
}

/// Parts that stand alone go to as many engines, and frames come in order all the same.
#[test]
fn a_stream_with_several_beginnings_is_decoded_by_several_engines() {
    let place = place(&probe("vp9", "yuv420p", ""), &beginnings(|_| b' '), true);
    place.write("luma.toml", "[[task]]\nname = \"soft\"\nop = \"gaussian_blur\"\ninputs = [\"@input-y\"]\n");
    let log = place.path("log");
    let mut command = command(&place, &[&["luma.toml", "in.mp4", "-o", "out.mp4"][..], &ON_GPU].concat());
    let ran = Ran::of(command.env("FAKE_NVDEC_LOG", &log));
    assert_eq!(ran.code, 0, "{ran:?}");
    let times = |frames: &[(i64, Vec<u8>)]| frames.iter().map(|(pts, _)| *pts).collect::<Vec<_>>();
    let every = |step: usize| (0..200).step_by(step).map(|n| 10_000 + 40 * n).collect::<Vec<i64>>();
    assert_eq!(times(&encoded(&place, "out.mp4")), every(1));
    // Few enough that none is copied to the host by a kernel, which does not run here.
    let pick = ["luma.toml", "in.mp4", "-o", "some.mp4", "--every", "40"];
    let ran = run(&place, &[&pick[..], &ON_GPU].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let frames = encoded(&place, "some.mp4");
    assert_eq!(times(&frames), every(40));
    let first = |frame: &[u8]| frame[(SIZE.0 * SIZE.1) as usize].wrapping_sub(2 * SIZE.1 as u8);
    let shown: Vec<u8> = frames.iter().map(|(_, frame)| first(frame)).collect();
    assert_eq!(shown, [0, 40, 80, 120, 160]);
    let made = |log: &str| log.lines().filter(|line| *line == "decoder 7").count();
    let none_held = |log: &str| {
        log.lines().filter(|line| line.starts_with("decoder gone")).all(|line| line.ends_with(" 0"))
    };
    let several = std::fs::read_to_string(&log).unwrap();
    assert!(
        (1..=3).contains(&made(&several)) && none_held(&several),
        "as many as there are engines at most: {several}"
    );
    // On one engine its parts follow each other.
    std::fs::remove_file(&log).unwrap();
    std::fs::remove_file(place.path("out.mp4")).unwrap();
    let ran = Ran::of(command.env("FAKE_NVDEC", "one"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(times(&encoded(&place, "out.mp4")), every(1));
    let one = std::fs::read_to_string(log).unwrap();
    assert!(made(&one) == 1 && none_held(&one), "{one}");
}

#[test]
fn frames_are_picked_and_written_as_pictures() {
    let place = place(&probe("hevc", "yuv420p", ""), &packets(|_| b' '), true);
    let pick = ["-e", "flip", "in.mp4", "-o", "out.mp4", "--frames", "1..4", "--every", "2"];
    let ran = run(&place, &[&pick[..], &ON_GPU].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let times: Vec<i64> = encoded(&place, "out.mp4").iter().map(|(pts, _)| *pts).collect();
    assert_eq!(times.len(), 2);
    assert_eq!(times[1] - times[0], 80, "{times:?}");
    let pictures = ["-e", "flip", "in.mp4", "-o", "frames/%03d.png", "--frames", "3..9"];
    let ran = run(&place, &[&pictures[..], &ON_GPU].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(place.list("frames"), ["003.png", "004.png"]);
    let ran =
        run(&place, &[&["-e", "flip", "in.mp4", "-o", "x.mp4", "--frames", "7..9"][..], &ON_GPU].concat());
    assert!(ran.code == 1 && ran.stderr.contains("has no frame 7"), "{ran:?}");
}

#[test]
fn packets_that_break_off_are_a_failure_that_leaves_nothing() {
    let whole = packets(|_| b' ');
    let place = place(&probe("h264", "yuv420p", ""), &whole[..whole.len() - 5], true);
    let ran = run(&place, &[&["-e", "flip", "in.mp4", "-o", "out.mp4"][..], &ON_GPU].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("ffmpeg stopped reading in.mp4 after 4 frames"), "{ran:?}");
    assert!(!place.path("out.mp4").exists());
}

#[test]
fn damage_is_a_warning_that_strict_reading_refuses() {
    let place = place(&probe("h264", "yuv420p", ""), &packets(|n| if n == 2 { b'd' } else { b' ' }), true);
    let base = ["-e", "flip", "in.mp4", "-o", "out.mp4"];
    let ran = run(&place, &[&base[..], &ON_GPU].concat());
    assert!(ran.code == 0 && ran.stderr.contains("1 frame(s) of in.mp4 lack some of their data"), "{ran:?}");
    std::fs::remove_file(place.path("out.mp4")).unwrap();
    let ran = run(&place, &[&base[..], &ON_GPU, &["--strict"]].concat());
    assert!(ran.code == 1 && ran.stderr.contains("strict reading refuses damage"), "{ran:?}");
    assert!(!place.path("out.mp4").exists());
}

#[test]
fn what_nvdec_does_not_decode_is_refused_with_the_remedy() {
    let good = packets(|_| b' ');
    for (codec, pixels, more, text) in [
        ("mjpeg", "yuvj422p", "", "is coded as mjpeg, and a GPU decodes h264, hevc, vp8, vp9, av1"),
        ("h264", "yuv444p", "", "has frames of yuv444p, and 4:2:0 of 8 to 12 bits is decoded"),
        ("av1", "yuv420p", "", "this GPU does not decode av1 of 8 bits"),
        (
            "h264",
            "yuv420p10le",
            "",
            "NVDEC finds 34x18 frames of nv12 in in.mp4, where ffmpeg finds 34x18 of p010",
        ),
        (
            "h264",
            "yuv420p",
            r#","side_data_list":[{"side_data_type":"Display Matrix","rotation":-90}]"#,
            "are shown turned by -90 degrees",
        ),
    ] {
        let place = place(&probe(codec, pixels, more), &good, true);
        let ran = run(&place, &[&["-e", "flip", "in.mp4", "-o", "out.mp4"][..], &ON_GPU].concat());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains(text) && ran.stderr.contains("--decode cpu"), "{text}: {ran:?}");
        assert!(!place.path("out.mp4").exists());
    }
    let refused = place(&probe("h264", "yuv420p", ""), &packets(|n| if n == 3 { b'x' } else { b' ' }), true);
    let ran = run(&refused, &[&["-e", "flip", "in.mp4", "-o", "out.mp4"][..], &ON_GPU].concat());
    assert!(ran.code == 1 && ran.stderr.contains("NVDEC: cuvidParseVideoData failed"), "{ran:?}");
    let none = place(&probe("h264", "yuv420p", ""), &good, false);
    let ran = run(&none, &[&["-e", "flip", "in.mp4", "-o", "out.mp4"][..], &ON_GPU].concat());
    assert!(ran.code == 1 && ran.stderr.contains("(libnvcuvid) is not installed"), "{ran:?}");
    let base = ["run", "-e", "flip", "in.mp4", "-o", "out.mp4", "--decode", "gpu"];
    none.refused(&[&base[..], &["--device", "cpu"]].concat(), &["--decode gpu needs a GPU", "--device cuda"]);
    let ran = none.mip(&[&base[..], &["--deinterlace"]].concat());
    assert!(ran.code == 2 && ran.stderr.contains("does not deinterlace"), "{ran:?}");
    none.rgb("p.png", (8, 8), 1);
    let ran = none.mip(&["run", "-e", "flip", "p.png", "-o", "out.mp4", "--decode", "gpu"]);
    assert!(ran.code == 2 && ran.stderr.contains("does not make videos of pictures"), "{ran:?}");
}
