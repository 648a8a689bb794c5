use super::*;
use crate::y4m::Y4mHeader;
use crate::yuv::Sampling;

const VIDEO: NutVideo = NutVideo { width: 4, height: 2, time_base: (1, 90_000), aspect: Some((4, 3)) };

fn written(times: &[u64]) -> Vec<u8> {
    let tag = NutTag::of(&Y4mHeader::new(4, 2, Sampling::C420, None)).unwrap();
    let mut writer = NutWriter::new(Vec::new(), "nut", &VIDEO, tag).unwrap();
    for (&pts, number) in times.iter().zip(0..) {
        writer.write(pts, 12, [&[number; 8][..], &[number + 100; 4]]).unwrap();
    }
    assert_eq!(writer.frames(), times.len() as u64);
    writer.into_inner()
}

#[test]
fn frames_come_back_with_their_times() {
    let times = [0, 3003, 3004, 900_000, 1 << 40];
    let bytes = written(&times);
    let mut reader = NutReader::new(&bytes[..], "nut").unwrap().unwrap();
    assert_eq!(*reader.video(), VIDEO);
    let mut frame = [0; 12];
    for (pts, number) in times.into_iter().zip(0_u8..) {
        assert_eq!(reader.read(&mut frame).unwrap(), Some(pts as i64));
        assert_eq!((frame[0], frame[11]), (number, number + 100));
    }
    assert_eq!(reader.read(&mut frame).unwrap(), None);
    assert_eq!(reader.frames(), 5);
}

#[test]
fn a_stream_cut_anywhere_is_told_and_a_damaged_one_never_panics() {
    let bytes = written(&[0, 5]);
    let mut frame = [0; 12];
    let whole = [bytes.len(), written(&[0]).len(), written(&[]).len()];
    for length in 1..bytes.len() {
        let all = NutReader::new(&bytes[..length], "nut").map(|reader| {
            let mut reader = reader.unwrap();
            std::iter::from_fn(|| reader.read(&mut frame).transpose()).collect::<Result<Vec<_>, _>>()
        });
        let ends_well = matches!(all, Ok(Ok(_)));
        assert_eq!(ends_well, whole.contains(&length), "{length}: {all:?}");
        for value in [0, 0x7F, 0x80, 0xFF] {
            let mut damaged = bytes.clone();
            damaged[length] = value;
            if let Ok(Some(mut reader)) = NutReader::new(&damaged[..], "nut") {
                while let Ok(Some(_)) = reader.read(&mut frame) {}
            }
        }
    }
    assert!(NutReader::new(&b""[..], "nut").unwrap().is_none());
    let error = NutReader::new(&b"YUV4MPEG2 W4 H2 F25:1 Ip A1:1"[..], "the video").unwrap_err().to_string();
    assert!(error.contains("the video is no NUT stream"), "{error}");
}

#[test]
fn frames_of_another_size_are_told() {
    let bytes = written(&[0]);
    let mut reader = NutReader::new(&bytes[..], "nut").unwrap().unwrap();
    let error = reader.read(&mut [0; 11]).unwrap_err().to_string();
    assert!(error.contains("frame 0 has 12 bytes, not 11"), "{error}");
}

/// What ffmpeg 5.1 wrote of three gray frames of 2x2, 1/25 s apart: its table of codes, bytes left out, shortened timestamps.
#[test]
fn a_stream_that_ffmpeg_wrote_is_read() {
    let bytes = include_bytes!("ffmpeg.nut");
    let mut reader = NutReader::new(&bytes[..], "nut").unwrap().unwrap();
    let NutVideo { width, height, time_base, aspect } = *reader.video();
    assert_eq!((width, height, aspect), (2, 2, Some((1, 1))));
    let mut frame = [0; 4];
    for number in 0..3_i64 {
        let pts = reader.read(&mut frame).unwrap().unwrap();
        let (numerator, denominator) = (i64::from(time_base.0), i64::from(time_base.1));
        assert_eq!(pts * numerator * 25, number * denominator);
        assert_eq!(frame, [10 * (number as u8 + 1); 4]);
    }
    assert_eq!(reader.read(&mut frame).unwrap(), None);
}
