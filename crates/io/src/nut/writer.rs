use std::io::Write;

use super::crc::crc32;
use super::{FILE_ID, MAIN, NutError, NutTag, NutVideo, STREAM, SYNCPOINT, flag};

/// Low bits that timestamps could be shortened to; ours are written whole.
const SHIFT: u64 = 7;
/// The first byte of every frame.
const CODE: u8 = 1;

/// Writes frames as a NUT stream of one raw video. Each frame is flushed: no buffer is needed in between.
#[derive(Debug)]
pub struct NutWriter<W> {
    output: W,
    name: String,
    frame: u64,
}

impl<W: Write> NutWriter<W> {
    /// Writes the headers. `name` stands for the stream in errors.
    ///
    /// # Errors
    /// [`NutError::Write`].
    pub fn new(output: W, name: &str, video: &NutVideo, tag: NutTag) -> Result<Self, NutError> {
        let mut writer = Self { output, name: name.to_owned(), frame: 0 };
        let (numerator, denominator) = video.time_base;
        // Version, streams, most bytes between syncpoints, the one time base.
        let mut main = Vec::new();
        for value in [3, 1, 65_536 - 1, 1, numerator.into(), denominator.into()] {
            put(&mut main, value);
        }
        // One code is used; runs of fields are flags, their count, pts delta, size factor, stream, size, reserved, codes.
        let used = flag::KEY | flag::CODED_PTS | flag::SIZE_MSB | flag::CHECKSUM;
        for (flags, count) in [(flag::INVALID, 1), (used, 1), (flag::INVALID, 253)] {
            for value in [flags, 6, 0, 1, 0, 0, 0, count] {
                put(&mut main, value);
            }
        }
        // No bytes that frames leave out.
        put(&mut main, 0);
        let mut stream = Vec::new();
        // Its number, that it is video, and the length of its tag.
        for value in [0, 0, 4] {
            put(&mut stream, value);
        }
        stream.extend(tag.0);
        let (wide, high) = video.aspect.unwrap_or((0, 0));
        let (width, height) = (video.width.into(), video.height.into());
        // Time base, bits, most units between frames without a checksum, delay, flags, bytes for the decoder; size, aspect, kind.
        for value in [0, SHIFT, 1 << 20, 0, 0, 0, width, height, wide.into(), high.into(), 0] {
            put(&mut stream, value);
        }
        let bytes = [FILE_ID, &packet(MAIN, main), &packet(STREAM, stream)].concat();
        writer.write_all(&bytes)?;
        Ok(writer)
    }

    /// Frames written so far.
    pub const fn frames(&self) -> u64 {
        self.frame
    }

    /// Writes a frame, the samples of its planes one after another, in as many pieces as they come, all of them `size` bytes.
    /// Timestamps are not below 0 and grow.
    ///
    /// # Errors
    /// [`NutError::Write`].
    pub fn write<'a>(
        &mut self,
        pts: u64,
        size: usize,
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(), NutError> {
        let mut point = Vec::new();
        put(&mut point, pts);
        // How far back the last point of use lies: every frame stands alone.
        put(&mut point, 0);
        let mut header = vec![CODE];
        put(&mut header, pts + (1 << SHIFT));
        put(&mut header, size as u64);
        header.extend(crc32(&header).to_be_bytes());
        self.write_all(&[packet(SYNCPOINT, point), header].concat())?;
        pieces.into_iter().try_for_each(|piece| self.write_all(piece))?;
        let flushed = self.output.flush();
        flushed.map_err(|source| NutError::Write { name: self.name.clone(), source })?;
        self.frame += 1;
        Ok(())
    }

    /// Gives the output back.
    pub fn into_inner(self) -> W {
        self.output
    }

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), NutError> {
        let written = self.output.write_all(bytes);
        written.map_err(|source| NutError::Write { name: self.name.clone(), source })
    }
}

/// A number, 7 bits a byte, the highest first.
fn put(bytes: &mut Vec<u8>, value: u64) {
    let digits = (64 - value.leading_zeros()).div_ceil(7).max(1);
    for digit in (0..digits).rev() {
        let more = if digit > 0 { 0x80 } else { 0 };
        bytes.push((value >> (7 * digit)) as u8 & 0x7F | more);
    }
}

/// Start code, length, contents, checksum. Contents are short: longer ones would need a checksum of their length.
fn packet(code: u64, mut contents: Vec<u8>) -> Vec<u8> {
    contents.extend(crc32(&contents).to_be_bytes());
    let mut packet = code.to_be_bytes().to_vec();
    put(&mut packet, contents.len() as u64);
    packet.extend(contents);
    packet
}
