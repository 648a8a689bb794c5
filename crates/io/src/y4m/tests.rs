use proptest::prelude::*;

use super::*;
use crate::yuv::{Range, Sampling};

fn open(bytes: &[u8]) -> Result<Y4mReader<&[u8]>, Y4mError> {
    Y4mReader::new(bytes, "in.y4m")
}

fn header(line: &str) -> Result<Y4mHeader, String> {
    let stream = format!("{line}\n");
    open(stream.as_bytes()).map(|reader| reader.header().clone()).map_err(|error| error.to_string())
}

/// All frames.
fn read_all(bytes: &[u8]) -> Result<Vec<Vec<u8>>, Y4mError> {
    let mut reader = Y4mReader::with_limit(bytes, "in.y4m", 1 << 20)?;
    let mut planes = vec![0; reader.header().frame_bytes()];
    let mut frames = Vec::new();
    while reader.read(&mut planes)? {
        frames.push(planes.clone());
    }
    assert_eq!(reader.frames(), frames.len() as u64);
    Ok(frames)
}

#[test]
fn headers_of_ffmpeg() {
    let h = header("YUV4MPEG2 W1920 H1080 F30000:1001 Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=LIMITED")
        .unwrap();
    assert_eq!((h.width, h.height, h.sampling), (1920, 1080, Sampling::C420Jpeg));
    assert_eq!((h.rate.as_deref(), h.aspect.as_deref()), (Some("30000:1001"), Some("1:1")));
    assert_eq!(h.range, Some(Range::Limited));
    assert_eq!(h.to_string(), "YUV4MPEG2 W1920 H1080 F30000:1001 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED");
    let gray = header("YUV4MPEG2 W6 H4 F25:1 Ip A0:0 Cmono XCOLORRANGE=FULL").unwrap();
    assert_eq!((gray.sampling, gray.range), (Sampling::Mono, Some(Range::Full)));
}

#[test]
fn depths_above_8_bits() {
    for (words, sampling, bits, format) in [
        ("C420p10 XYSCSS=420P10", Sampling::C420, 10, "i420p10"),
        ("C422p12", Sampling::C422, 12, "i422p12"),
        ("C444p16", Sampling::C444, 16, "i444p16"),
        ("Cmono16", Sampling::Mono, 16, "gray16"),
    ] {
        let h = header(&format!("YUV4MPEG2 W5 H3 {words}")).unwrap();
        assert_eq!((h.sampling, h.bits, h.format().to_string()), (sampling, bits, format.to_owned()));
        assert_eq!(header(&h.to_string()).unwrap(), h);
    }
    assert_eq!(header("YUV4MPEG2 W5 H3 C420p10").unwrap().frame_bytes(), 2 * (15 + 2 * 6));
    for wrong in ["C420p17", "C420p8", "C420p", "Cmono7", "C420p4294967306"] {
        assert!(
            header(&format!("YUV4MPEG2 W5 H3 {wrong}")).unwrap_err().contains("not supported"),
            "{wrong}"
        );
    }
}

#[test]
fn what_a_header_leaves_out() {
    let h = header("YUV4MPEG2 H3  W5").unwrap();
    assert_eq!(h, Y4mHeader::new(5, 3, Sampling::C420Jpeg, None));
    assert_eq!(h.effective_range(), Range::Limited);
    assert_eq!(header("YUV4MPEG2 H3 W5 Cmono").unwrap().effective_range(), Range::Full);
    assert_eq!(header("YUV4MPEG2 H3 W5 I? C420mpeg2").unwrap().to_string(), "YUV4MPEG2 W5 H3 Ip C420mpeg2");
}

#[test]
fn sampling_that_only_a_comment_names_counts() {
    let sampling = |words: &str| header(&format!("YUV4MPEG2 W4 H4 {words}")).map(|h| h.sampling);
    for (words, expected) in [
        ("XYSCSS=420JPEG", Sampling::C420Jpeg),
        ("XYSCSS=420MPEG2", Sampling::C420Mpeg2),
        ("XYSCSS=420PALDV", Sampling::C420Paldv),
        ("XYSCSS=422", Sampling::C422),
        ("XYSCSS=444", Sampling::C444),
        // The tag goes before the comment, wherever they stand.
        ("XYSCSS=411 C444", Sampling::C444),
        ("C422 XYSCSS=444", Sampling::C422),
        ("XSOMETHING=411", Sampling::C420Jpeg),
    ] {
        assert_eq!(sampling(words), Ok(expected), "{words}");
    }
    for (words, text) in [
        ("XYSCSS=411", "video of chroma sampling XYSCSS=411, which is not supported"),
        ("XYSCSS=410", "XYSCSS=410"),
        ("XYSCSS=", "XYSCSS="),
        ("C411 XYSCSS=420JPEG", "C411"),
    ] {
        let error = sampling(words).unwrap_err();
        assert!(error.contains(text) && error.contains("-pix_fmt yuv420p"), "{words}: {error}");
    }
}

#[test]
fn what_is_not_supported_says_how_to_convert_it() {
    for (word, text) in [
        ("It", "interlaced video (It), which is not supported; make it progressive"),
        ("Im", "-vf yadif"),
        ("C420p17", "neither 8 nor 9 to 16 bits (C420p17), which is not supported; convert it first"),
        ("Cmono7", "neither 8 nor 9 to 16 bits (Cmono7)"),
        ("C444alpha", "alpha"),
        ("C411", "chroma sampling C411"),
        ("C410", "ffmpeg -i FILE -pix_fmt yuv420p -f yuv4mpegpipe -"),
    ] {
        let error = header(&format!("YUV4MPEG2 W4 H4 {word}")).unwrap_err();
        assert!(error.starts_with("in.y4m holds") && error.contains(text), "{error}");
    }
}

#[test]
fn damaged_headers_say_what_is_wrong() {
    for (line, text) in [
        ("YUV4MPEG2 W4", "gives no size (H is missing)"),
        ("YUV4MPEG2 W0 H4", "the width is '0'"),
        ("YUV4MPEG2 W4 H-4", "the height is '-4'"),
        ("YUV4MPEG2 W99999 H99999", "99999x99999 pixels"),
        ("YUV4MPEG2 W4 H4 F25", "the frame rate is '25'"),
        ("YUV4MPEG2 W4 H4 Ix", "unknown interlacing 'Ix'"),
        ("YUV4MPEG2 W4 H4 Q1", "unknown parameter 'Q1'"),
        ("YUV4MPEG2 W4 H4 é", "unknown parameter 'é'"),
        ("YUV4MPEG2 W4 H4 XCOLORRANGE=TV", "must be FULL or LIMITED"),
    ] {
        let error = header(line).unwrap_err();
        assert!(error.starts_with("in.y4m has a damaged Y4M header: ") && error.contains(text), "{error}");
    }
    assert!(open(b"YUV4MPEG2 W4 H4").unwrap_err().to_string().contains("ends before its newline"));
    let long = [b"YUV4MPEG2 ".as_slice(), &[b'X'; 5000]].concat();
    assert!(open(&long).unwrap_err().to_string().contains("longer than 4096 bytes"));
}

#[test]
fn something_else_is_no_y4m() {
    for (bytes, text) in [
        (b"".as_slice(), "in.y4m is empty; expected a Y4M stream"),
        (b"RIFF\0\0\0\0AVI ", "begins with \"RIFF\\x00"),
        (b"YUV4", "begins with \"YUV4\""),
        (b"YUV4MPEG1 W4", "begins with \"YUV4MPEG1\""),
        (b"YUV4MPEG22 W4\n", "begins with \"YUV4MPEG22 W4\""),
    ] {
        let error = open(bytes).unwrap_err();
        assert!(matches!(error, Y4mError::NotY4m { .. }) && error.to_string().contains(text), "{error}");
    }
}

#[test]
fn every_cut_is_either_an_end_or_named_with_its_frame() {
    let header = "YUV4MPEG2 W5 H3 C420\n".len();
    let mut whole = b"YUV4MPEG2 W5 H3 C420\n".to_vec();
    let mut ends = vec![whole.len()];
    for frame in 0..3_u8 {
        whole.extend(if frame == 1 { b"FRAME Ip XNOTE\n".as_slice() } else { b"FRAME\n" });
        // 15 luma samples, and two planes of 3x2.
        whole.extend((0..27).map(|i| i + 40 * frame));
        ends.push(whole.len());
    }
    for cut in header..=whole.len() {
        let frame = ends.iter().filter(|&&end| end <= cut).count() - 1;
        match read_all(&whole[..cut]) {
            Ok(frames) => {
                assert!(ends.contains(&cut));
                assert_eq!(frames.len(), frame);
                for (frame, planes) in (0..).zip(&frames) {
                    assert_eq!(*planes, (0..27).map(|i| i + 40 * frame).collect::<Vec<u8>>());
                }
            }
            Err(error) => {
                let text = format!("in.y4m is truncated: frame {frame} ends after {} of ", cut - ends[frame]);
                assert!(error.to_string().starts_with(&text) && !ends.contains(&cut), "{cut}: {error}");
            }
        }
    }
}

#[test]
fn what_stands_where_a_frame_should_begin_is_named() {
    let stream = b"YUV4MPEG2 W1 H1 Cmono\nFRAME\nx";
    let with = |rest: &[u8]| read_all(&[stream, rest].concat()).unwrap_err().to_string();
    assert!(with(b"FRAMES\nx").ends_with("frame 1 should begin with `FRAME`, but there is \"FRAMES\""));
    assert!(with(b"\nFRAME\nx").contains("but there is \"\""));
    assert!(with(b"YUV4MPEG2 W1 H1 Cmono\nFRAME\nx").contains("the header of another stream"));
    assert!(with(&[b'F'; 9000]).contains("a line of more than 4096 bytes"));
}

/// Gives a byte at a time, interrupted now and then, and fails at the end.
struct Slow<'a>(&'a [u8], bool);

impl std::io::Read for Slow<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        self.1 = !self.1;
        match self.0.split_first() {
            _ if self.1 => Err(std::io::ErrorKind::Interrupted.into()),
            Some((&first, rest)) => {
                (to[0], self.0) = (first, rest);
                Ok(1)
            }
            None => Err(std::io::Error::other("unplugged")),
        }
    }
}

#[test]
fn short_reads_are_no_end_and_failures_are_told() {
    let stream = b"YUV4MPEG2 W2 H1 Cmono\nFRAME\nab";
    let mut reader = Y4mReader::new(Slow(stream, false), "pipe").unwrap();
    let mut planes = [0; 2];
    assert!(reader.read(&mut planes).unwrap());
    assert_eq!(&planes, b"ab");
    assert_eq!(reader.read(&mut planes).unwrap_err().to_string(), "cannot read pipe: unplugged");
}

fn any_header() -> impl Strategy<Value = Y4mHeader> {
    let ratio = || prop::option::of((0..1000_u32, 0..1000_u32).prop_map(|(n, d)| format!("{n}:{d}")));
    let sampling = prop::sample::select(Sampling::ALL.to_vec());
    let range = prop::option::of(prop::sample::select(Range::ALL.to_vec()));
    (1..20_u32, 1..20_u32, sampling, 8..=16_u32, range, ratio(), ratio()).prop_map(
        |(width, height, sampling, bits, range, rate, aspect)| {
            // Names of one siting have no depth.
            let plain = matches!(sampling, Sampling::Mono | Sampling::C420 | Sampling::C422 | Sampling::C444);
            let bits = if plain { bits } else { 8 };
            Y4mHeader { width, height, sampling, bits, range, rate, aspect }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read(header in any_header(), count in 0..4_usize, seed in any::<u8>()) {
        let mut frames = Vec::new();
        let mut writer = Y4mWriter::new(Vec::new(), "out.y4m", &header).unwrap();
        for frame in 0..count {
            let value = |i: usize| (i * 7 + frame * 13) as u8 ^ seed;
            let planes: Vec<u8> = (0..header.frame_bytes()).map(value).collect();
            writer.write(planes.chunks(5)).unwrap();
            frames.push(planes);
        }
        let bytes = writer.into_inner();
        prop_assert_eq!(open(&bytes).unwrap().header().clone(), header);
        prop_assert_eq!(read_all(&bytes).unwrap(), frames);
    }

    #[test]
    fn no_stream_is_too_strange(tail in prop::collection::vec(any::<u8>(), 0..80), magic in any::<bool>()) {
        let head: &[u8] = if magic { b"YUV4MPEG2 W2 H2 " } else { b"" };
        // Any answer will do, as long as there is one.
        let _ = read_all(&[head, &tail].concat());
    }
}
