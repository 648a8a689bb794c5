use std::fmt;

use mip_core::text::quoted;
use mip_core::video::VideoFormat;

use super::Y4mError;
use crate::yuv::{Range, Sampling};

/// The header of a stream: what all its frames have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Y4mHeader {
    /// Width in pixels, at least 1.
    pub width: u32,
    /// Height in pixels, at least 1.
    pub height: u32,
    /// Chroma sampling.
    pub sampling: Sampling,
    /// Bits of a sample: 8 in a byte, 9 to 16 in two, the lower one first.
    pub bits: u32,
    /// Range of the samples, where the header says it.
    pub range: Option<Range>,
    /// Frames a second as `numerator:denominator`, where the header says it.
    pub rate: Option<String>,
    /// Width to height of a pixel as `numerator:denominator`, where the header says it.
    pub aspect: Option<String>,
}

/// The word every stream begins with.
pub(super) const MAGIC: &str = "YUV4MPEG2";

impl Y4mHeader {
    /// A header without rate and aspect.
    pub const fn new(width: u32, height: u32, sampling: Sampling, range: Option<Range>) -> Self {
        Self { width, height, sampling, bits: 8, range, rate: None, aspect: None }
    }

    /// How the samples of a frame are arranged.
    pub const fn format(&self) -> VideoFormat {
        VideoFormat::planar(self.sampling.chroma(), self.bits)
    }

    /// Bytes of a frame; no memory holds `usize::MAX`.
    pub fn frame_bytes(&self) -> usize {
        self.format().bytes(self.width, self.height).unwrap_or(usize::MAX)
    }

    /// The range of the samples: what the header says, else full for luma alone (as FFmpeg writes it) and limited for
    /// everything else (as nearly all video is).
    pub fn effective_range(&self) -> Range {
        let usual = if self.sampling == Sampling::Mono { Range::Full } else { Range::Limited };
        self.range.unwrap_or(usual)
    }

    /// Reads a header line without its newline.
    pub(super) fn parse(line: &str, name: &str) -> Result<Self, Y4mError> {
        let damaged = |reason: String| Y4mError::Header { name: name.to_owned(), reason };
        let mut header = Self::new(0, 0, Sampling::C420Jpeg, None);
        let (mut tag_c, mut comment) = (None, None);
        for word in line.split(' ').skip(1).filter(|word| !word.is_empty()) {
            let (tag, value) = word.split_at_checked(1).unwrap_or((word, ""));
            match tag {
                "W" => header.width = side("width", value).map_err(damaged)?,
                "H" => header.height = side("height", value).map_err(damaged)?,
                "F" => header.rate = Some(ratio("frame rate", value).map_err(damaged)?),
                "A" => header.aspect = Some(ratio("pixel aspect", value).map_err(damaged)?),
                "I" => progressive(value, name)?,
                "C" => tag_c = Some(value),
                "X" => {
                    header.range = range(value).map_err(damaged)?.or(header.range);
                    comment = value.strip_prefix("YSCSS=").or(comment);
                }
                _ => return Err(damaged(format!("unknown parameter '{}'", quoted(word)))),
            }
        }
        // `C` came later than the comment XYSCSS, which mjpegtools wrote before, and goes before it, as in FFmpeg
        // (libavformat/yuv4mpegdec.c). A stream with neither is 4:2:0.
        (header.sampling, header.bits) = match (tag_c, comment) {
            (Some(value), _) => sampling(value, "C", name)?,
            (None, Some(value)) => sampling(&value.to_ascii_lowercase(), "XYSCSS=", name)?,
            (None, None) => (header.sampling, 8),
        };
        for (side, tag) in [(header.width, "W"), (header.height, "H")] {
            if side == 0 {
                return Err(damaged(format!("it gives no size ({tag} is missing)")));
            }
        }
        Ok(header)
    }
}

impl fmt::Display for Y4mHeader {
    /// The header line without its newline.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MAGIC} W{} H{}", self.width, self.height)?;
        if let Some(rate) = &self.rate {
            write!(f, " F{rate}")?;
        }
        f.write_str(" Ip")?;
        if let Some(aspect) = &self.aspect {
            write!(f, " A{aspect}")?;
        }
        write!(f, " C{}", self.sampling.name())?;
        match (self.bits, self.sampling) {
            (8, _) => {}
            (bits, Sampling::Mono) => write!(f, "{bits}")?,
            (bits, _) => write!(f, "p{bits}")?,
        }
        if let Some(range) = self.range {
            write!(f, " XCOLORRANGE={}", range.name().to_uppercase())?;
        }
        Ok(())
    }
}

fn side(what: &str, value: &str) -> Result<u32, String> {
    let wrong = || format!("the {what} is '{}', but must be a whole number of at least 1", quoted(value));
    value.parse().ok().filter(|&side| side > 0).ok_or_else(wrong)
}

fn ratio(what: &str, value: &str) -> Result<String, String> {
    let wrong =
        || format!("the {what} is '{}', but must be two whole numbers such as 30000:1001", quoted(value));
    let (numerator, denominator) = value.split_once(':').ok_or_else(wrong)?;
    match (numerator.parse::<u32>(), denominator.parse::<u32>()) {
        (Ok(_), Ok(_)) => Ok(value.to_owned()),
        _ => Err(wrong()),
    }
}

fn progressive(value: &str, name: &str) -> Result<(), Y4mError> {
    let what = match value {
        "p" | "?" => return Ok(()),
        "t" | "b" | "m" => format!("interlaced video (I{value})"),
        _ => {
            let reason = format!("unknown interlacing 'I{}'", quoted(value));
            return Err(Y4mError::Header { name: name.to_owned(), reason });
        }
    };
    let remedy = "make it progressive first, for example with `ffmpeg -i FILE -vf yadif -f yuv4mpegpipe -`";
    Err(Y4mError::Unsupported { name: name.to_owned(), what, remedy })
}

/// `given` is what stands before the value in the header: `C`, or `XYSCSS=`.
fn sampling(value: &str, given: &str, name: &str) -> Result<(Sampling, u32), Y4mError> {
    if let Some(known) = Sampling::ALL.into_iter().find(|s| s.name() == value) {
        return Ok((known, 8));
    }
    // `420p10`, `mono16`: a depth follows the sampling (libavformat/yuv4mpegenc.c).
    let deep = [
        ("420p", Sampling::C420),
        ("422p", Sampling::C422),
        ("444p", Sampling::C444),
        ("mono", Sampling::Mono),
    ];
    let depth = |(prefix, sampling)| Some((sampling, value.strip_prefix(prefix)?.parse::<u32>().ok()?));
    let deep = deep.into_iter().find_map(depth);
    if let Some((sampling, bits @ 9..=16)) = deep {
        return Ok((sampling, bits));
    }
    let what = match value {
        "444alpha" => format!("video with alpha ({given}444alpha)"),
        _ if deep.is_some() => format!("video of neither 8 nor 9 to 16 bits ({given}{})", quoted(value)),
        _ => format!("video of chroma sampling {given}{}", quoted(value)),
    };
    let remedy = "convert it first, for example with `ffmpeg -i FILE -pix_fmt yuv420p -f yuv4mpegpipe -`";
    Err(Y4mError::Unsupported { name: name.to_owned(), what, remedy })
}

/// The range that a comment says, if it speaks of that.
fn range(comment: &str) -> Result<Option<Range>, String> {
    match comment.strip_prefix("COLORRANGE=") {
        None => Ok(None),
        Some("FULL") => Ok(Some(Range::Full)),
        Some("LIMITED") => Ok(Some(Range::Limited)),
        Some(other) => Err(format!("XCOLORRANGE is '{}', but must be FULL or LIMITED", quoted(other))),
    }
}
