//! `ffmpeg` and `ffprobe` as processes: what a video file is, its frames out of it, and frames into one.
//!
//! Frames go through pipes as NUT ([`mip_io::nut`]), which carries a timestamp for each. Nothing of FFmpeg is linked: a
//! crash of it is not ours, and any build of it will do.

mod carry;
mod child;
mod container;
mod decode;
mod encode;
mod pixels;
mod probe;
mod program;

pub(crate) use container::Container;
pub(crate) use decode::{Clock, Decoder, Decoding, Pick, Request};
pub(crate) use encode::{Encoder, Encoding, Original};
pub(crate) use pixels::Pixels;
pub(crate) use probe::{Probe, Tags};

/// Seconds that timestamps are raised by in pipes: NUT has none below 0, but a file may begin with some.
const MARGIN: i64 = 10;

/// Microseconds as ffmpeg takes them.
fn seconds(micros: i64) -> String {
    let (sign, size) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
    format!("{sign}{}.{:06}", size / 1_000_000, size % 1_000_000)
}

/// A name that ffmpeg takes for a file, whatever it begins with.
fn file(path: &std::path::Path) -> std::ffi::OsString {
    let mut name = std::ffi::OsString::from("file:");
    name.push(path);
    name
}

#[test]
fn times_are_written_with_their_sign() {
    assert_eq!([seconds(-1), seconds(10_500_000), seconds(0)], ["-0.000001", "10.500000", "0.000000"]);
}
