use std::io::{BufRead, BufReader, Read};

use super::header::MAGIC;
use super::{Y4mError, Y4mHeader};
use crate::ReadOptions;

/// Longest header line of a stream or a frame.
const LONGEST_LINE: usize = 4096;

/// Reads the frames of a Y4M stream one after another.
#[derive(Debug)]
pub struct Y4mReader<R> {
    input: BufReader<R>,
    name: String,
    header: Y4mHeader,
    frame: u64,
}

impl<R: Read> Y4mReader<R> {
    /// Reads the header. `name` stands for the stream in errors.
    ///
    /// # Errors
    /// [`Y4mError::NotY4m`], [`Y4mError::Header`], [`Y4mError::Read`], and [`Y4mError::Unsupported`] for interlaced
    /// video, alpha, more than 16 bits, and chroma sampling other than 4:2:0, 4:2:2, 4:4:4 and none.
    pub fn new(input: R, name: &str) -> Result<Self, Y4mError> {
        Self::with_limit(input, name, ReadOptions::default().max_pixels)
    }

    /// As [`Y4mReader::new`], for frames of at most `max_pixels`.
    ///
    /// # Errors
    /// As [`Y4mReader::new`].
    pub fn with_limit(input: R, name: &str, max_pixels: u64) -> Result<Self, Y4mError> {
        let mut input = BufReader::with_capacity(1 << 16, input);
        let not_y4m = |found: String| Y4mError::NotY4m { name: name.to_owned(), found };
        let mut magic = vec![0; MAGIC.len()];
        let read = fill(&mut input, &mut magic).map_err(|source| read_error(name, source))?;
        if read == 0 {
            return Err(not_y4m("is empty".to_owned()));
        }
        if magic[..read] != *MAGIC.as_bytes() {
            return Err(not_y4m(format!("begins with {}", quoted(&magic[..read]))));
        }
        let line = line(&mut input).map_err(|source| read_error(name, source))?;
        let damaged = |reason: String| Y4mError::Header { name: name.to_owned(), reason };
        let line = match line {
            Line::Whole(line) => line,
            Line::Ended(_) => return Err(damaged("it ends before its newline".to_owned())),
            Line::TooLong => return Err(damaged(format!("it is longer than {LONGEST_LINE} bytes"))),
        };
        if line.first().is_some_and(|&byte| byte != b' ') {
            return Err(not_y4m(format!("begins with {}", quoted(&[&magic, &line[..]].concat()))));
        }
        let text = std::str::from_utf8(&line).map_err(|_| damaged("it is not text".to_owned()))?;
        let header = Y4mHeader::parse(text, name)?;
        if u64::from(header.width) * u64::from(header.height) > max_pixels {
            let Y4mHeader { width, height, .. } = header;
            return Err(damaged(format!(
                "it claims {width}x{height} pixels, more than the {max_pixels} allowed; raise the limit (--max-pixels)"
            )));
        }
        Ok(Self { header, input, name: name.to_owned(), frame: 0 })
    }

    /// What all frames have in common.
    pub const fn header(&self) -> &Y4mHeader {
        &self.header
    }

    /// Frames read so far.
    pub const fn frames(&self) -> u64 {
        self.frame
    }

    /// Reads the next frame into memory of [`Y4mHeader::frame_bytes`]: its planes without padding. `false` at the end of the
    /// stream. Parameters of a frame are skipped: they speak of interlacing only.
    ///
    /// # Errors
    /// [`Y4mError::Frame`] for what is no frame, [`Y4mError::Truncated`], [`Y4mError::Read`].
    ///
    /// # Panics
    /// When `frame` has another size.
    pub fn read(&mut self, frame: &mut [u8]) -> Result<bool, Y4mError> {
        let needed = "FRAME\n".len() + frame.len();
        assert_eq!(frame.len(), self.header.frame_bytes(), "memory for a frame of another stream");
        let line = line(&mut self.input).map_err(|source| read_error(&self.name, source))?;
        let head = match line {
            Line::Ended(line) if line.is_empty() => return Ok(false),
            Line::Ended(line) if is_frame(&line) || b"FRAME".starts_with(&line) => {
                return Err(self.truncated(line.len(), needed));
            }
            Line::Whole(line) if is_frame(&line) => line.len() + 1,
            Line::Whole(line) | Line::Ended(line) => return Err(self.no_frame(&line)),
            Line::TooLong => {
                let found = format!("a line of more than {LONGEST_LINE} bytes");
                return Err(Y4mError::Frame { name: self.name.clone(), frame: self.frame, found });
            }
        };
        let got = fill(&mut self.input, frame);
        let got = got.map_err(|source| read_error(&self.name, source))?;
        if got < frame.len() {
            return Err(self.truncated(head + got, head + frame.len()));
        }
        self.frame += 1;
        Ok(true)
    }

    fn truncated(&self, got: usize, needed: usize) -> Y4mError {
        Y4mError::Truncated { name: self.name.clone(), frame: self.frame, got, needed }
    }

    fn no_frame(&self, line: &[u8]) -> Y4mError {
        let found = if line.starts_with(MAGIC.as_bytes()) {
            "the header of another stream; join streams with `ffmpeg -f concat` instead of `cat`".to_owned()
        } else {
            quoted(line)
        };
        Y4mError::Frame { name: self.name.clone(), frame: self.frame, found }
    }
}

enum Line {
    /// Without its newline.
    Whole(Vec<u8>),
    /// The stream ended before a newline.
    Ended(Vec<u8>),
    TooLong,
}

fn line(input: &mut impl BufRead) -> std::io::Result<Line> {
    let mut line = Vec::new();
    input.take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line)?;
    Ok(match line.last() {
        Some(b'\n') => {
            line.pop();
            Line::Whole(line)
        }
        _ if line.len() > LONGEST_LINE => Line::TooLong,
        _ => Line::Ended(line),
    })
}

fn is_frame(line: &[u8]) -> bool {
    line.strip_prefix(b"FRAME").is_some_and(|rest| rest.first().is_none_or(|&byte| byte == b' '))
}

/// Reads until `bytes` are full or the stream ends; says how many there were.
pub(crate) fn fill(input: &mut impl Read, bytes: &mut [u8]) -> std::io::Result<usize> {
    let mut got = 0;
    while got < bytes.len() {
        match input.read(&mut bytes[got..]) {
            Ok(0) => break,
            Ok(read) => got += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

fn read_error(name: &str, source: std::io::Error) -> Y4mError {
    Y4mError::Read { name: name.to_owned(), source }
}

/// The first bytes, printable.
fn quoted(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(24)];
    format!("\"{}\"{}", shown.escape_ascii(), if shown.len() < bytes.len() { "..." } else { "" })
}
