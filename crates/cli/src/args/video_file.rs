use std::str::FromStr;

use clap::Args;

use crate::ffmpeg::Pick;

const HEADING: &str = "Video files (through ffmpeg)";

/// What is read of a video file, and how one is written.
#[derive(Debug, Args)]
pub(crate) struct VideoFileArgs {
    /// Read only these frames of the video: from the first, counted from 0, to before the second; `A..` and `..B` leave one open
    #[arg(long, value_name = "A..B", help_heading = HEADING)]
    frames: Option<FrameRange>,
    /// Read only every Nth frame; the video lasts as long as before
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = HEADING)]
    every: Option<u32>,
    /// Frames a second of a video that is made of pictures: 25, 29.97, 30000/1001
    #[arg(long, value_name = "RATE", help_heading = HEADING)]
    pub(crate) rate: Option<Rate>,
    /// Constant quality of a video: 0 is the best, 63 the least (H.264: 51) [default: 18; .webm: 24]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=63), help_heading = HEADING)]
    pub(crate) crf: Option<u8>,
    /// Make frames of interlaced video whole (bwdif) before the pipeline sees them
    #[arg(long, help_heading = HEADING)]
    pub(crate) deinterlace: bool,
    /// Options for the ffmpeg that writes the video, behind ours and parted by blanks: `-c:v libx265 -preset slow`
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, help_heading = HEADING)]
    ffmpeg_args: Option<String>,
    /// Frames of a video under way at once; each takes memory of its own [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64), help_heading = HEADING)]
    frames_in_flight: Option<u16>,
}

/// `--frames`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FrameRange {
    from: u64,
    to: Option<u64>,
}

/// `--rate`: frames a second, as numerator and denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate(pub(crate) u32, pub(crate) u32);

impl VideoFileArgs {
    /// An option that is set.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let options = [
            ("--frames", self.frames.is_some()),
            ("--every", self.every.is_some()),
            ("--rate", self.rate.is_some()),
            ("--deinterlace", self.deinterlace),
            ("--frames-in-flight", self.frames_in_flight.is_some()),
        ];
        options
            .into_iter()
            .find(|(_, given)| *given)
            .map(|(name, _)| name)
            .or_else(|| self.given_for_writing())
    }

    /// An option that is set for how a video is written.
    pub(crate) fn given_for_writing(&self) -> Option<&'static str> {
        let options = [("--crf", self.crf.is_some()), ("--ffmpeg-args", self.ffmpeg_args.is_some())];
        options.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    pub(crate) fn pick(&self) -> Pick {
        let FrameRange { from, to } = self.frames.unwrap_or(FrameRange { from: 0, to: None });
        Pick { from, to, every: self.every.unwrap_or(1).into() }
    }

    pub(crate) fn options(&self) -> Vec<String> {
        self.ffmpeg_args.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
    }

    pub(crate) fn in_flight(&self) -> u16 {
        self.frames_in_flight.unwrap_or(3)
    }
}

impl FromStr for FrameRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not A..B, A.. or ..B with whole numbers, such as 10..20");
        let (from, to) = text.split_once("..").ok_or_else(wrong)?;
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
        if from.is_empty() && to.is_empty() {
            return Err(wrong());
        }
        let from = if from.is_empty() { 0 } else { number(from)? };
        let to = if to.is_empty() { None } else { Some(number(to)?) };
        match to {
            Some(to) if to <= from => Err(format!("'{text}' is no frame: the end is not among them")),
            _ => Ok(Self { from, to }),
        }
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is no rate above 0, such as 25, 29.97 or 30000/1001");
        let positive = |rate: Self| Some(rate).filter(|rate| rate.0 > 0 && rate.1 > 0).ok_or_else(wrong);
        let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
        if let Some((numerator, denominator)) = text.split_once(['/', ':']) {
            return positive(Self(number(numerator)?, number(denominator)?));
        }
        let (whole, parts) = text.split_once('.').unwrap_or((text, ""));
        let scale = 10_u32.checked_pow(parts.len() as u32).filter(|_| parts.len() <= 6).ok_or_else(wrong)?;
        let rate = number(whole)?.checked_mul(scale).zip(if parts.is_empty() {
            Some(0)
        } else {
            Some(number(parts)?)
        });
        let numerator = rate.and_then(|(whole, parts)| whole.checked_add(parts)).ok_or_else(wrong)?;
        positive(Self(numerator, scale))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_rates() {
        assert_eq!("10..20".parse(), Ok(FrameRange { from: 10, to: Some(20) }));
        assert_eq!("..7".parse(), Ok(FrameRange { from: 0, to: Some(7) }));
        assert_eq!("3..".parse(), Ok(FrameRange { from: 3, to: None }));
        for wrong in ["", "..", "5", "a..b", "5..5", "7..3", "-1..2", "1...3"] {
            assert!(wrong.parse::<FrameRange>().is_err(), "{wrong}");
        }
        assert_eq!("25".parse(), Ok(Rate(25, 1)));
        assert_eq!("29.97".parse(), Ok(Rate(2997, 100)));
        assert_eq!("30000/1001".parse(), Ok(Rate(30_000, 1001)));
        for wrong in ["", "0", "x", "25/0", "1.x", "-1", "1e3", "9999999999", "0.0000001"] {
            assert!(wrong.parse::<Rate>().is_err(), "{wrong}");
        }
    }
}
