//! Video files through programs that stand for ffmpeg and ffprobe: what they are asked, and what becomes of their failures.
//! `tests/ffmpeg.sh` does the same with real ones.

use std::os::unix::fs::PermissionsExt as _;

use mip_io::nut::{NutReader, NutTag, NutVideo, NutWriter};
use mip_io::y4m::Y4mHeader;
use mip_io::yuv::Sampling;

use crate::signals::{send, wait_until};
use crate::support::{Place, Ran};

const SIZE: (u32, u32) = (4, 2);
const BYTES: usize = 12;
/// Units of 1/1000 s, ten seconds later than in the file: uneven, as variable frame rates are.
const TIMES: [u64; 4] = [10_000, 10_040, 10_100, 10_180];

fn frames() -> Vec<[u8; BYTES]> {
    (0..TIMES.len() as u8).map(|n| std::array::from_fn(|i| 60 + n * 20 + i as u8)).collect()
}

/// What a decoding ffmpeg writes.
fn nut() -> Vec<u8> {
    let video = NutVideo { width: SIZE.0, height: SIZE.1, time_base: (1, 1000), aspect: Some((4, 3)) };
    let tag = NutTag::of(&Y4mHeader::new(SIZE.0, SIZE.1, Sampling::C420, None)).unwrap();
    let mut writer = NutWriter::new(Vec::new(), "nut", &video, tag).unwrap();
    for (pts, frame) in TIMES.into_iter().zip(frames()) {
        writer.write(pts, BYTES, [&frame[..]]).unwrap();
    }
    writer.into_inner()
}

/// What an encoding ffmpeg was given, where it keeps that: times and frames.
fn encoded(place: &Place, name: &str) -> (NutVideo, Vec<(i64, Vec<u8>)>) {
    let bytes = place.bytes(name);
    let mut reader = NutReader::new(&bytes[..], name).unwrap().expect("headers");
    let mut frame = vec![0; BYTES];
    let mut all = Vec::new();
    while let Some(pts) = reader.read(&mut frame).unwrap() {
        all.push((pts, frame.clone()));
    }
    (*reader.video(), all)
}

const PROBE: &str = r#"{"program_version":{"version":"7.1"},
 "streams":[
  {"index":0,"codec_name":"h264","codec_type":"video","pix_fmt":"yuv420p","width":4,"height":2,"time_base":"1/1000",
   "avg_frame_rate":"20/1","nb_frames":"4","color_space":"bt709","color_range":"tv","color_transfer":"smpte2084",
   "chroma_location":"topleft","side_data_list":[{"side_data_type":"Mastering display metadata"}]},
  {"index":1,"codec_name":"aac","codec_type":"audio"},
  {"index":2,"codec_name":"subrip","codec_type":"subtitle"},
  {"index":3,"codec_name":"bin_data","codec_type":"data"}],
 "format":{"start_time":"0.500000","duration":"0.2"}}"#;

const DECODE: &str = "cat frames.nut";
/// Keeps what it gets under the name that it is to write.
const ENCODE: &str = r#"cat > "${last#file:}""#;

/// A place with `in.mp4` and programs in place of ffmpeg and ffprobe. The first notes how it was called in `called`.
fn place(decode: &str, encode: &str, probe: &str) -> Place {
    let place = Place::new();
    std::fs::write(place.path("in.mp4"), b"\0\0\0\x20ftypisom").unwrap();
    std::fs::write(place.path("frames.nut"), nut()).unwrap();
    let ffmpeg = format!(
        "#!/bin/sh\nfor last; do :; done\necho \"$*\" >> called\ncase \"$last\" in\npipe:1) {decode} ;;\n*) {encode} ;;\nesac\n"
    );
    for (name, text) in [("ffmpeg", &*ffmpeg), ("ffprobe", &format!("#!/bin/sh\n{probe}\n"))] {
        place.write(name, text);
        std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    place
}

fn says(document: &str) -> String {
    format!("cat <<'END'\n{document}\nEND")
}

fn run(place: &Place, arguments: &[&str]) -> Ran {
    let mut command = place.command();
    command.args(["run", "--device", "cpu"]).args(arguments);
    Ran::of(command.env("MIP_FFMPEG", place.path("ffmpeg")).env("MIP_FFPROBE", place.path("ffprobe")))
}

fn fails(place: &Place, arguments: &[&str], code: i32, because: &[&str]) {
    let before = place.list(".");
    let ran = run(place, arguments);
    assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
    for text in because {
        assert!(ran.stderr.contains(text), "{arguments:?} should say {text:?}: {}", ran.stderr);
    }
    let after: Vec<String> = place.list(".").into_iter().filter(|name| name != "called").collect();
    assert_eq!(after, before.into_iter().filter(|name| name != "called").collect::<Vec<_>>());
}

#[test]
fn frames_keep_their_times_and_are_those_of_mip_stream() {
    let place = place(DECODE, ENCODE, &says(PROBE));
    let ran = run(&place, &["-e", "flip", "in.mp4", "-o", "out.mp4", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let (video, frames_out) = encoded(&place, "out.mp4");
    assert_eq!((video.time_base, video.aspect), ((1, 1000), Some((4, 3))));
    let times: Vec<u64> = frames_out.iter().map(|(pts, _)| *pts as u64).collect();
    assert_eq!(times, TIMES);
    // Mirrored RGB and back, as mip stream does it.
    let mut y4m = b"YUV4MPEG2 W4 H2 F20:1 Ip A4:3 C420paldv XCOLORRANGE=LIMITED\n".to_vec();
    for frame in frames() {
        y4m.extend([b"FRAME\n", &frame[..]].concat());
    }
    std::fs::write(place.path("in.y4m"), y4m).unwrap();
    let stream =
        ["stream", "-e", "flip", "--matrix", "709", "--device", "cpu", "-i", "in.y4m", "-o", "out.y4m"];
    place.ok(&stream);
    let streamed = place.bytes("out.y4m");
    let samples: Vec<u8> =
        frames_out.iter().flat_map(|(_, frame)| [b"FRAME\n", &frame[..]].concat()).collect();
    assert!(streamed.ends_with(&samples), "{streamed:?} {samples:?}");
    let called = String::from_utf8(place.bytes("called")).unwrap();
    for word in [
        "-copyts -i file:in.mp4 -map 0:0",
        "-pix_fmt yuv420p -fps_mode passthrough -enc_time_base 1/1000 -output_ts_offset 9.500000",
        "-itsoffset -9.500000 -f nut -i pipe:0 -i file:in.mp4 -map 0:v:0 -map 1:1 -map 1:2 -map_metadata 1 -map_chapters 1",
        "-c:1 copy -c:2 mov_text -output_ts_offset -0.500000 -vf setparams=range=tv:colorspace=bt709:color_trc=smpte2084",
        "-c:v libx264 -crf 18",
        "-bsf:v h264_metadata=chroma_sample_loc_type=2 -pix_fmt +yuv420p",
        "-f mp4 -y file:",
    ] {
        assert!(called.contains(word), "{word} in {called}");
    }
    let json = ran.json();
    assert_eq!((&json["frames"], &json["outputs"]), (&4.into(), &serde_json::json!(["out.mp4"])));
    let lost = "not carried over to out.mp4: stream 3 (data bin_data), Mastering display metadata";
    assert_eq!(json["warnings"], serde_json::json!([lost]));
    assert!(ran.stderr.contains(lost), "{ran:?}");
}

/// Samples as they are, with headers and without; no ffmpeg encodes.
#[test]
fn raw_files_are_written_without_ffmpeg() {
    let place = place(DECODE, ENCODE, &says(PROBE));
    assert_eq!(run(&place, &["-e", "flip", "in.mp4", "-o", "out.mp4"]).code, 0);
    let encoded = encoded(&place, "out.mp4").1;
    place.write("called", "");
    let ran = run(&place, &["-e", "flip", "in.mp4", "-o", "out.y4m"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut y4m = b"YUV4MPEG2 W4 H2 F20:1 Ip A4:3 C420paldv XCOLORRANGE=LIMITED\n".to_vec();
    for (_, frame) in &encoded {
        y4m.extend([b"FRAME\n", &frame[..]].concat());
    }
    assert!(place.bytes("out.y4m") == y4m, "{}", String::from_utf8_lossy(&place.bytes("out.y4m")));
    let ran = run(&place, &["-e", "flip", "in.mp4", "-o", "out.yuv"]);
    let samples: Vec<u8> = encoded.into_iter().flat_map(|(_, frame)| frame).collect();
    assert!(ran.code == 0 && place.bytes("out.yuv") == samples, "{ran:?}");
    let lost = "not carried over to out.yuv: stream 1 (audio aac), stream 2 (subtitle subrip), stream 3 (data bin_data), \
                Mastering display metadata, what its samples are (4x2 of i420)";
    assert!(ran.stderr.contains(lost), "{ran:?}");
    let to_gray = "flip ! color_convert to=gray";
    assert_eq!(run(&place, &["-e", to_gray, "in.mp4", "-o", "gray.y4m", "--every", "2"]).code, 0);
    let gray = place.bytes("gray.y4m");
    assert!(gray.starts_with(b"YUV4MPEG2 W4 H2 F20:2 Ip A4:3 Cmono XCOLORRANGE=FULL\nFRAME\n"), "{gray:?}");
    let called = String::from_utf8(place.bytes("called")).unwrap();
    assert!(called.lines().count() == 3 && !called.contains("-i pipe:0"), "{called}");
}

#[test]
fn a_part_begins_at_0_and_its_sound_is_cut_to_it() {
    // The second step is `-hide_banner -loglevel error -nostdin -i file:PART ...`.
    let two_steps =
        r#"case "$*" in *pipe:0*) cat > "${last#file:}" ;; *) cp "${6#file:}" "${last#file:}" ;; esac"#;
    let place = place(DECODE, two_steps, &says(PROBE));
    let ran = run(
        &place,
        &["-e", "flip", "in.mp4", "-o", "out.mkv", "--frames", "1..5", "--every", "2", "--crf", "30"],
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let times: Vec<i64> = encoded(&place, "out.mkv").1.iter().map(|(pts, _)| *pts).collect();
    assert_eq!(times, [0, 40, 100, 180]);
    let called = String::from_utf8(place.bytes("called")).unwrap();
    for word in [
        "-vf select='gte(n,1)*not(mod(n-1,2))' -frames:v 2",
        "-f nut -i pipe:0 -map 0:v:0 -vf",
        "-crf 30",
        "-ss 0.000001 -t 0.260000 -i file:in.mp4 -map 0:v:0 -map 1:1 -map 1:2",
        "-c:1 copy -c:2 copy -c:v:0 copy -copypriorss 0 -f matroska",
    ] {
        assert!(called.contains(word), "{word} in {called}");
    }
    assert!(!place.list(".").iter().any(|name| name.starts_with(".mip-")));
}

#[test]
fn pictures_are_numbered_as_the_frames_they_are_of() {
    let place = place(DECODE, "exit 9", &says(PROBE));
    let ran =
        run(&place, &["-e", "flip", "in.mp4", "-o", "p/f%03d.png", "--frames", "10..25", "--every", "5"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.lines(), ["p/f010.png", "p/f015.png", "p/f020.png", "p/f025.png"]);
    let size = place.read("p/f010.png").desc().to_string();
    assert_eq!(size, "4x2 rgb u8");
    let ran = run(&place, &["-e", "flip", "in.mp4", "-o", "folder", "--format", "ppm"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(place.list("folder"), ["00000.ppm", "00001.ppm", "00002.ppm", "00003.ppm"]);
}

#[test]
fn pictures_become_a_video() {
    let place = place("exit 9", ENCODE, "exit 9");
    for number in [2, 10, 9] {
        place.rgb(&format!("in/{number}.png"), SIZE, number);
    }
    let made = ["-e", "flip", "in/%d.png", "-o", "out.webm", "--rate", "30000/1001"];
    let ran = run(&place, &made);
    assert_eq!(ran.code, 0, "{ran:?}");
    let (video, frames) = encoded(&place, "out.webm");
    assert_eq!(video.time_base, (1001, 30_000));
    assert_eq!(frames.iter().map(|(pts, _)| *pts).collect::<Vec<_>>(), [0, 1, 2]);
    // In the order of their numbers: the first is that of 2.
    run(&place, &["-e", "flip", "in/2.png", "-o", "two.webm", "--rate", "25"]);
    assert_eq!(encoded(&place, "two.webm").1[0].1, frames[0].1);
    let called = String::from_utf8(place.bytes("called")).unwrap();
    assert!(
        called.contains("setparams=range=tv:colorspace=smpte170m") && called.contains("-c:v libvpx-vp9"),
        "{called}"
    );

    fails(&place, &["-e", "flip", "in", "-o", "new.mp4"], 2, &["--rate 25"]);
    fails(&place, &["-e", "flip", "no%d.png", "-o", "new.mp4", "--rate", "25"], 2, &["no%0"]);
    fails(
        &place,
        &["-e", "color_convert to=rgba", "in", "-o", "new.mp4", "--rate", "25"],
        2,
        &["color_convert to=rgb"],
    );
    place.rgb("in/11.png", (8, 8), 1);
    fails(&place, &["-e", "flip", "in", "-o", "new.mp4", "--rate", "25"], 1, &["11.png", "are alike"]);
}

#[test]
fn programs_that_are_missing_or_fail_are_told() {
    let place = place(DECODE, ENCODE, &says(PROBE));
    let to_video = ["-e", "flip", "in.mp4", "-o", "out.mp4"];
    let with = |ffmpeg: &str, ffprobe: &str| {
        let mut command = place.command();
        command.args(["run", "--device", "cpu"]).args(to_video);
        Ran::of(command.env("MIP_FFMPEG", ffmpeg).env("MIP_FFPROBE", ffprobe))
    };
    let here = |name: &str| place.path(name).to_string_lossy().into_owned();
    for ran in [with(&here("gone"), &here("ffprobe")), with(&here("ffmpeg"), &here("gone"))] {
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("install FFmpeg") && ran.stderr.contains("in MIP_FF"), "{ran:?}");
    }
    let ran = with("./ffmpeg", &here("ffprobe"));
    assert!(ran.code == 2 && ran.stderr.contains("must be an absolute path"), "{ran:?}");
    place.write("old.mp4", "what stood there before");
    let cut = format!("head -c {} frames.nut; echo lost >&2; exit 1", nut().len() - 5);
    let to_old = ["-e", "flip", "in.mp4", "-o", "old.mp4"];
    for (decode, encode, probe, says) in [
        (
            DECODE,
            ENCODE,
            "echo 'moov atom not found' >&2; exit 1".to_owned(),
            &["ffprobe cannot read in.mp4", "moov atom"][..],
        ),
        (DECODE, ENCODE, "echo nonsense".to_owned(), &["is not understood"]),
        (
            "echo boom >&2; exit 3",
            ENCODE,
            says_probe(),
            &["ffmpeg cannot read in.mp4", "exit status: 3", "boom"],
        ),
        (&cut, ENCODE, says_probe(), &["stopped reading in.mp4 after 3 frames", "lost"]),
        ("kill -9 $$", ENCODE, says_probe(), &["cannot read in.mp4", "signal: 9"]),
        ("exit 0", ENCODE, says_probe(), &["in.mp4 has no frames"]),
        ("echo what", ENCODE, says_probe(), &["in.mp4"]),
        (
            DECODE,
            "echo 'No space left' >&2; exit 1",
            says_probe(),
            &["cannot write old.mp4", "No space left"],
        ),
        (
            DECODE,
            "head -c 200 > /dev/null; exit 7",
            says_probe(),
            &["cannot write old.mp4", "exit status: 7"],
        ),
    ] {
        let other = self::place(decode, encode, &probe);
        for name in ["ffmpeg", "ffprobe"] {
            std::fs::copy(other.path(name), place.path(name)).unwrap();
        }
        fails(&place, &to_old, 1, says);
        assert_eq!(place.bytes("old.mp4"), b"what stood there before");
    }
}

fn says_probe() -> String {
    says(PROBE)
}

#[test]
fn what_ffmpeg_complains_of_is_a_warning_or_with_strict_an_error() {
    let place = place("cat frames.nut; echo 'corrupt frame' >&2", ENCODE, &says(PROBE));
    let ran = run(&place, &["-e", "flip", "in.mp4", "-o", "out.mp4"]);
    assert!(ran.code == 0 && ran.stderr.contains("warning: ffmpeg says of in.mp4: corrupt frame"), "{ran:?}");
    fails(&place, &["-e", "flip", "in.mp4", "-o", "new.mp4", "--strict"], 1, &["strict", "corrupt frame"]);
}

#[test]
fn requests_that_do_not_fit_are_refused() {
    let audio = r#"{"streams":[{"index":0,"codec_name":"aac","codec_type":"audio"}],"format":{}}"#;
    let sound = place(DECODE, ENCODE, &says(audio));
    fails(&sound, &["-e", "flip", "in.mp4", "-o", "out.mp4"], 1, &["no video stream", "audio aac"]);
    let fields =
        place(DECODE, ENCODE, &says(&PROBE.replace("\"width\"", "\"field_order\":\"tt\",\"width\"")));
    fails(&fields, &["-e", "flip", "in.mp4", "-o", "out.mp4"], 1, &["interlaced", "--deinterlace"]);
    let place = place(DECODE, ENCODE, &says(PROBE));
    std::fs::copy(place.path("in.mp4"), place.path("b.mp4")).unwrap();
    place.rgb("a.png", SIZE, 1);
    for (arguments, because) in [
        (&["in.mp4"][..], &["name a video file with -o"][..]),
        (&["in.mp4", "-o", "out.avi"], &["video is written as .mp4", ".webm"]),
        (&["in.mp4", "-o", "out.y4m", "--crf", "20"], &["--crf is for an encoder", "out.y4m"]),
        (&["a.png", "-o", "out.y4m", "--rate", "25"], &["a video that is encoded", ".mp4"]),
        (&["in.mp4", "-o", "out.png"], &["one picture for all frames", "%05d"]),
        (&["in.mp4", "-o", "-"], &["mip stream"]),
        (&["in.mp4", "-o", "in.mp4"], &["would replace the input in.mp4"]),
        (&["in.mp4", "b.mp4", "-o", "out.mp4"], &["in.mp4 is a video; a run takes one"]),
        (&["in.mp4", "-o", "out.mp4", "--quality", "80"], &["--crf"]),
        (&["in.mp4", "-o", "f%d.png", "--crf", "20"], &["--crf is for a video"]),
        (&["in.mp4", "-o", "out.mp4", "--batch", "4"], &["--batch is for images"]),
        (&["in.mp4", "-o", "out.mp4", "--rate", "25"], &["a video has its own rate"]),
        (&["in.mp4", "-o", "out.mp4", "--frames", "5..2"], &["the end is not among them"]),
        (&["a.png", "-o", "out", "--every", "2"], &["--every is for video files"]),
        (&["gone.mp4", "-o", "out.mp4", "--rate", "25"], &["does not exist"]),
    ] {
        fails(&place, &[&["-e", "flip"], arguments].concat(), 2, because);
    }
    fails(
        &place,
        &["-e", "crop x=0 y=0 width=3 height=2", "in.mp4", "-o", "out.mp4"],
        2,
        &["even sizes", ".webm"],
    );
    let nothing = self::place("exit 0", ENCODE, &says(PROBE));
    fails(
        &nothing,
        &["-e", "flip", "in.mp4", "-o", "o.mp4", "--frames", "99.."],
        1,
        &["no frame 99", "--frames"],
    );
}

#[test]
fn an_interrupted_video_is_a_whole_file_and_no_program_is_left() {
    // Decodes two frames, then waits for ever.
    let head = usize::midpoint(nut().len(), header_bytes());
    let two = format!("head -c {head} frames.nut; echo $$ > pid; exec sleep 1000");
    // Without sound there is nothing to cut.
    let silent = PROBE.replace("\"audio\"", "\"data\"").replace("\"subtitle\"", "\"data\"");
    let place = place(&two, ENCODE, &says(&silent));
    let child = std::process::Command::new("env")
        .arg("--default-signal=INT,TERM,HUP")
        .arg(env!("CARGO_BIN_EXE_mip"))
        .args(["run", "-e", "flip", "--device", "cpu", "in.mp4", "-o", "out.mp4"])
        .env("MIP_FFMPEG", place.path("ffmpeg"))
        .env("MIP_FFPROBE", place.path("ffprobe"))
        .current_dir(place.path("."))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let begun = |name: &String| {
        name.starts_with(".mip-") && std::fs::metadata(place.path(name)).is_ok_and(|m| m.len() >= head as u64)
    };
    wait_until("two frames are written", || place.list(".").iter().any(begun));
    send(&child, "INT");
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert_eq!(encoded(&place, "out.mp4").1.len(), 2, "{stderr}");
    let pid = String::from_utf8(place.bytes("pid")).unwrap();
    let alive = || {
        std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z"))
    };
    wait_until("the decoder is gone", || !alive());
    assert!(!place.list(".").iter().any(|name| name.starts_with(".mip-")));
}

fn header_bytes() -> usize {
    let video = NutVideo { width: SIZE.0, height: SIZE.1, time_base: (1, 1000), aspect: Some((4, 3)) };
    let tag = NutTag::of(&Y4mHeader::new(SIZE.0, SIZE.1, Sampling::C420, None)).unwrap();
    NutWriter::new(Vec::new(), "nut", &video, tag).unwrap().into_inner().len()
}
