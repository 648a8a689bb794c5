//! Raw video: the samples of frames one after another, as `ffmpeg -f rawvideo` writes them. What they are has to be said.

use std::fmt;
use std::io::Read;
use std::str::FromStr;

use mip_core::ImageError;
use mip_core::video::VideoFormat;

use crate::y4m::{Y4mError, fill};

/// What frames of raw video are: `nv12:1920x1080`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawVideo {
    /// How samples are arranged.
    pub format: VideoFormat,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl RawVideo {
    /// Bytes of a frame.
    ///
    /// # Errors
    /// When the size is impossible.
    pub fn frame_bytes(&self) -> Result<usize, ImageError> {
        self.format.bytes(self.width, self.height)
    }
}

impl fmt::Display for RawVideo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}x{}", self.format, self.width, self.height)
    }
}

impl FromStr for RawVideo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not FORMAT:WIDTHxHEIGHT, such as nv12:1920x1080");
        let (format, size) = text.split_once(':').ok_or_else(wrong)?;
        let (width, height) = size.split_once('x').ok_or_else(wrong)?;
        let side = |side: &str| side.parse::<u32>().ok().filter(|&side| side > 0).ok_or_else(wrong);
        let video = Self { format: format.parse()?, width: side(width)?, height: side(height)? };
        video.frame_bytes().map(|_| video).map_err(|error| error.to_string())
    }
}

/// Reads the frames of raw video one after another.
#[derive(Debug)]
pub struct RawReader<R> {
    input: R,
    name: String,
    frame: u64,
}

impl<R: Read> RawReader<R> {
    /// `name` stands for the stream in errors.
    pub fn new(input: R, name: &str) -> Self {
        Self { input, name: name.to_owned(), frame: 0 }
    }

    /// Reads the next frame, as many bytes as there is room for; `false` at the end of the stream.
    ///
    /// # Errors
    /// [`Y4mError::Truncated`] when the stream ends inside a frame, [`Y4mError::Read`].
    pub fn read(&mut self, frame: &mut [u8]) -> Result<bool, Y4mError> {
        let got = fill(&mut self.input, frame)
            .map_err(|source| Y4mError::Read { name: self.name.clone(), source })?;
        match got {
            0 => Ok(false),
            got if got == frame.len() => {
                self.frame += 1;
                Ok(true)
            }
            got => {
                let (name, number, needed) = (self.name.clone(), self.frame, frame.len());
                Err(Y4mError::Truncated { name, frame: number, got, needed })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_follow_each_other_and_a_cut_one_is_told() {
        let mut reader = RawReader::new(&b"abcdefgh"[..], "raw");
        let mut frame = [0; 3];
        assert!(reader.read(&mut frame).unwrap() && reader.read(&mut frame).unwrap());
        assert_eq!(&frame, b"def");
        let error = reader.read(&mut frame).unwrap_err().to_string();
        assert_eq!(error, "raw is truncated: frame 2 ends after 2 of 3 bytes");
        assert!(!RawReader::new(&b""[..], "raw").read(&mut frame).unwrap());
    }

    #[test]
    fn what_frames_are_reads_back_and_mistakes_are_named() {
        let video: RawVideo = "p010:5x3".parse().unwrap();
        assert_eq!((video.to_string(), video.frame_bytes().unwrap()), ("p010:5x3".to_owned(), 54));
        for (text, says) in [
            ("nv12", "nv12:1920x1080"),
            ("nv12:0x4", "nv12:1920x1080"),
            ("nv12:4", "nv12:1920x1080"),
            ("nv13:4x4", "unknown video format 'nv13'"),
            ("nv12:4294967295x4294967295", "more bytes than"),
        ] {
            let error = text.parse::<RawVideo>().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
