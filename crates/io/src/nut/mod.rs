//! NUT: uncompressed video with a timestamp for each frame, as `ffmpeg -c:v rawvideo -f nut` writes and reads it in pipes.
//!
//! Y4M and raw video know one frame rate at most; this is what carries variable ones exactly. Of the format
//! (<https://git.ffmpeg.org/nut>) there is what one video stream of raw frames needs.

mod crc;
mod error;
mod header;
mod reader;
mod tag;
#[cfg(test)]
mod tests;
mod writer;

pub use error::NutError;
pub use reader::NutReader;
pub use tag::NutTag;
pub use writer::NutWriter;

/// What all frames of a stream have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NutVideo {
    /// Width in pixels, at least 1.
    pub width: u32,
    /// Height in pixels, at least 1.
    pub height: u32,
    /// Seconds of a timestamp's unit, as numerator and denominator, both at least 1.
    pub time_base: (u32, u32),
    /// Width to height of a pixel, where it is said.
    pub aspect: Option<(u32, u32)>,
}

/// The bytes that packets begin with; a frame never begins with an `N`.
const MAIN: u64 = code(*b"NM", 0x7A56_1F5F_04AD);
const STREAM: u64 = code(*b"NS", 0x1140_5BF2_F9DB);
const SYNCPOINT: u64 = code(*b"NK", 0xE4AD_EECA_4569);
const INDEX: u64 = code(*b"NX", 0xDD67_2F23_E64E);

const FILE_ID: &[u8] = b"nut/multimedia container\0";

/// Flags of a frame.
mod flag {
    pub(super) const KEY: u64 = 1;
    pub(super) const CODED_PTS: u64 = 8;
    pub(super) const STREAM_ID: u64 = 16;
    pub(super) const SIZE_MSB: u64 = 32;
    pub(super) const CHECKSUM: u64 = 64;
    pub(super) const RESERVED: u64 = 128;
    pub(super) const SIDE_DATA: u64 = 256;
    pub(super) const HEADER_INDEX: u64 = 1024;
    pub(super) const MATCH_TIME: u64 = 2048;
    pub(super) const CODED: u64 = 4096;
    pub(super) const INVALID: u64 = 8192;
}

const fn code(letters: [u8; 2], rest: u64) -> u64 {
    (letters[0] as u64) << 56 | (letters[1] as u64) << 48 | rest
}
