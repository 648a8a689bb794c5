use std::collections::BTreeMap;
use std::fmt;
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;

use mip_core::text::quoted_path;
use mip_core::video::{Matrix, Range};
use mip_io::yuv::Sampling;
use serde::Deserialize;
use serde_json::Value;

use super::child::{Child, ending};
use super::file;
use super::program::Program;
use crate::failure::Failure;

/// What ffprobe says of a video file.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    /// When the file begins, in microseconds of its own clock.
    pub(super) start: i64,
    /// Whether this FFmpeg is older than 5.1, where an option got another name.
    pub(super) old: bool,
    pub(crate) video: VideoStream,
    pub(super) others: Vec<Other>,
}

/// The video that is read.
#[derive(Debug, Clone)]
pub(crate) struct VideoStream {
    /// How it is coded, as ffmpeg calls that.
    pub(crate) codec: String,
    /// Its number in the file.
    pub(super) index: u32,
    /// What ffmpeg calls the format of its frames.
    pub(crate) pixels: String,
    pub(crate) tags: Tags,
    /// Seconds of a timestamp's unit.
    pub(crate) time_base: (u32, u32),
    /// Frames a second on average, as `numerator:denominator`.
    pub(crate) rate: Option<(u32, u32)>,
    /// Frames, as far as the file says.
    pub(crate) frames: Option<u64>,
    pub(crate) interlaced: bool,
    /// Degrees that frames are turned by when they are shown, which ffmpeg does where it decodes.
    pub(crate) turned: i64,
    /// Kinds of data beside its pixels that get lost.
    pub(super) lost: Vec<String>,
}

/// What the samples mean, in FFmpeg's words; where the file says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tags {
    pub(super) range: Option<String>,
    pub(super) space: Option<String>,
    pub(super) transfer: Option<String>,
    pub(super) primaries: Option<String>,
    pub(super) siting: Option<String>,
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream {} ({} {})", self.index, self.kind, self.codec)
    }
}

/// Another stream of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Other {
    pub(super) index: u32,
    /// `audio`, `subtitle`, `video`, `data`, `attachment`.
    pub(super) kind: String,
    pub(super) codec: String,
}

#[derive(Debug, Deserialize)]
struct Document {
    program_version: Option<Version>,
    #[serde(default)]
    streams: Vec<Stream>,
    format: Option<Format>,
}

#[derive(Debug, Deserialize)]
struct Version {
    version: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Format {
    start_time: Option<String>,
    duration: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Stream {
    index: u32,
    codec_name: Option<String>,
    codec_type: Option<String>,
    codec_tag_string: Option<String>,
    pix_fmt: Option<String>,
    color_range: Option<String>,
    color_space: Option<String>,
    color_transfer: Option<String>,
    color_primaries: Option<String>,
    chroma_location: Option<String>,
    field_order: Option<String>,
    avg_frame_rate: Option<String>,
    time_base: Option<String>,
    nb_frames: Option<String>,
    duration: Option<String>,
    #[serde(default)]
    disposition: BTreeMap<String, Value>,
    #[serde(default)]
    side_data_list: Vec<BTreeMap<String, Value>>,
}

impl Probe {
    /// What there is beside the pixels of its video, for files that hold nothing else.
    pub(crate) fn beside_video(&self) -> Vec<String> {
        let streams = self.others.iter().map(Other::to_string);
        streams.chain(self.video.lost.iter().cloned()).collect()
    }

    /// Asks ffprobe.
    ///
    /// # Errors
    /// No ffprobe, a file that it refuses, one without video.
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        let mut command = Program::Ffprobe.command()?;
        command.args(["-v", "error", "-show_program_version", "-show_format", "-show_streams"]);
        command.args(["-of", "json", "-i"]).arg(file(path)).stdout(Stdio::piped());
        let (child, ends) = Child::start(Program::Ffprobe, &mut command)?;
        let mut text = Vec::new();
        if let (_, Some(mut stdout)) = ends {
            let read = stdout.read_to_end(&mut text);
            read.map_err(|error| Failure::Running(format!("cannot read what ffprobe says: {error}")))?;
        }
        let status = child.wait()?;
        let name = quoted_path(path);
        if !status.success() {
            let ending = ending(status, &child.said());
            return Err(Failure::Running(format!("ffprobe cannot read {name} {ending}")));
        }
        let document: Document = serde_json::from_slice(&text).map_err(|error| {
            Failure::Running(format!("what ffprobe says of {name} is not understood: {error}"))
        })?;
        Self::from_document(document, &name)
    }

    fn from_document(document: Document, name: &str) -> Result<Self, Failure> {
        let Document { program_version, streams, format } = document;
        let is_video = |stream: &&Stream| {
            let cover = stream.disposition.get("attached_pic").and_then(Value::as_u64) == Some(1);
            stream.codec_type.as_deref() == Some("video") && !cover
        };
        let others = |but: Option<u32>| -> Vec<Other> {
            let others = streams.iter().filter(|stream| Some(stream.index) != but && !stream.is_chapters());
            others.map(Other::of).collect()
        };
        let Some(stream) = streams.iter().find(is_video) else {
            let kinds: Vec<String> =
                others(None).iter().map(|other| format!("{} {}", other.kind, other.codec)).collect();
            let held = if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") };
            return Err(Failure::Running(format!("{name} has no video stream, it holds {held}")));
        };
        let said = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let duration = said(&stream.duration).or_else(|| format.as_ref().and_then(|f| said(&f.duration)));
        let duration = duration.and_then(|text| text.parse::<f64>().ok());
        let start = format.and_then(|format| format.start_time).and_then(|text| micros(&text));
        let video = VideoStream::of(stream, duration).ok_or_else(|| {
            Failure::Running(format!(
                "ffprobe does not say what the frames of {name} are; is the file whole?"
            ))
        })?;
        Ok(Self {
            start: start.unwrap_or(0),
            old: program_version.and_then(|version| version.version).is_some_and(|text| is_old(&text)),
            others: others(Some(stream.index)),
            video,
        })
    }
}

impl Stream {
    /// The titles of chapters in MP4: they are read as chapters, too.
    fn is_chapters(&self) -> bool {
        self.codec_type.as_deref() == Some("data") && self.codec_tag_string.as_deref() == Some("text")
    }
}

impl Other {
    fn of(stream: &Stream) -> Self {
        let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
        let cover = stream.disposition.get("attached_pic").and_then(Value::as_u64) == Some(1);
        let kind = if cover { "picture".to_owned() } else { or_unknown(&stream.codec_type) };
        Self { index: stream.index, kind, codec: or_unknown(&stream.codec_name) }
    }
}

impl VideoStream {
    fn of(stream: &Stream, duration: Option<f64>) -> Option<Self> {
        let rate = stream.avg_frame_rate.as_deref().and_then(ratio);
        let estimated = || {
            let (numerator, denominator) = rate?;
            Some((duration? * f64::from(numerator) / f64::from(denominator)).round() as u64)
        };
        let known = |text: &Option<String>| {
            let harmless = |text: &&String| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            text.as_ref()
                .filter(|t| !matches!(t.as_str(), "" | "unknown" | "unspecified" | "reserved"))
                .filter(harmless)
                .cloned()
        };
        let kind = |data: &BTreeMap<String, Value>| {
            let kind = data.get("side_data_type")?.as_str()?;
            (kind != "Display Matrix" && kind != "CPB properties").then(|| kind.to_owned())
        };
        let field_order = stream.field_order.as_deref();
        Some(Self {
            codec: stream.codec_name.clone().unwrap_or_default(),
            index: stream.index,
            pixels: stream.pix_fmt.clone().filter(|name| !name.is_empty())?,
            tags: Tags {
                range: known(&stream.color_range),
                space: known(&stream.color_space),
                transfer: known(&stream.color_transfer),
                primaries: known(&stream.color_primaries),
                siting: known(&stream.chroma_location),
            },
            time_base: stream.time_base.as_deref().and_then(ratio)?,
            rate,
            frames: stream.nb_frames.as_ref().and_then(|text| text.parse().ok()).or_else(estimated),
            turned: stream
                .side_data_list
                .iter()
                .find_map(|data| data.get("rotation")?.as_f64())
                .unwrap_or(0.0) as i64,
            interlaced: matches!(field_order, Some("tt" | "bb" | "tb" | "bt")),
            lost: stream.side_data_list.iter().filter_map(kind).collect(),
        })
    }
}

impl VideoStream {
    /// How long a frame lasts on average, in units of this many seconds.
    pub(crate) fn frame_units(&self, (numerator, denominator): (u32, u32)) -> i64 {
        let (frames, second) = self.rate.unwrap_or((25, 1));
        let units =
            u64::from(denominator) * u64::from(second) / (u64::from(numerator) * u64::from(frames)).max(1);
        i64::try_from(units).unwrap_or(1).max(1)
    }
}

impl Tags {
    /// The weights of the samples, where they are some that we have.
    pub(crate) fn matrix(&self) -> Option<Matrix> {
        match self.space.as_deref()? {
            "bt709" => Some(Matrix::Bt709),
            "smpte170m" | "bt470bg" => Some(Matrix::Bt601),
            "bt2020nc" => Some(Matrix::Bt2020),
            _ => None,
        }
    }

    /// What the file says of the matrix, where that is none of ours.
    pub(crate) fn other_matrix(&self) -> Option<&str> {
        self.space.as_deref().filter(|_| self.matrix().is_none())
    }

    pub(crate) fn range(&self) -> Option<Range> {
        match self.range.as_deref()? {
            "pc" => Some(Range::Full),
            "tv" => Some(Range::Limited),
            _ => None,
        }
    }

    /// The name in Y4M for 4:2:0 of this siting.
    pub(crate) fn sampling(&self) -> Sampling {
        match self.siting.as_deref() {
            Some("left") => Sampling::C420Mpeg2,
            Some("center") => Sampling::C420Jpeg,
            Some("topleft") => Sampling::C420Paldv,
            _ => Sampling::C420,
        }
    }

    /// With the matrix and range that samples were made for, where they were.
    pub(crate) fn made(mut self, matrix: Matrix, range: Range) -> Self {
        if self.matrix() != Some(matrix) {
            let space = match matrix {
                Matrix::Bt601 => "smpte170m",
                Matrix::Bt709 => "bt709",
                Matrix::Bt2020 => "bt2020nc",
            };
            self.space = Some(space.to_owned());
        }
        self.range = Some(if range == Range::Full { "pc" } else { "tv" }.to_owned());
        self
    }
}

/// `30000/1001` with both parts above 0.
fn ratio(text: &str) -> Option<(u32, u32)> {
    let (numerator, denominator) = text.split_once('/')?;
    let ratio = (numerator.parse().ok()?, denominator.parse().ok()?);
    (ratio.0 > 0 && ratio.1 > 0).then_some(ratio)
}

/// `1.543611` as microseconds.
fn micros(text: &str) -> Option<i64> {
    let seconds: f64 = text.parse().ok()?;
    let micros = (seconds * 1e6).round();
    (micros.abs() < 1e18).then_some(micros as i64)
}

/// Whether a version is below 5.1; one built from a repository (`N-12345-g...`) is not.
fn is_old(version: &str) -> bool {
    let mut numbers =
        version.trim_start_matches('n').split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) < (5, 1),
        (Some(Ok(major)), _) => major < 5,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(streams: &str) -> Result<Probe, String> {
        let text = format!(
            r#"{{"program_version":{{"version":"4.4.2"}},"streams":[{streams}],"format":{{"start_time":"1.4"}}}}"#
        );
        let document = serde_json::from_str(&text).unwrap();
        Probe::from_document(document, "x").map_err(|failure| failure.message().unwrap().to_owned())
    }

    #[test]
    fn the_first_video_is_read_and_covers_are_none() {
        let cover = r#"{"index":0,"codec_name":"png","codec_type":"video","disposition":{"attached_pic":1}}"#;
        let audio = r#"{"index":1,"codec_name":"aac","codec_type":"audio"}"#;
        let video = r#"{"index":2,"codec_name":"h264","codec_type":"video","pix_fmt":"yuv420p","time_base":"1/90000",
            "avg_frame_rate":"25/1","duration":"2.0","color_space":"bt470bg","color_range":"tv","field_order":"tt",
            "color_primaries":"unknown","side_data_list":[{"side_data_type":"Display Matrix","rotation":90},
            {"side_data_type":"Mastering display metadata"}]}"#;
        let Probe { start, old, video, others } = probe(&[cover, audio, video].join(",")).unwrap();
        assert_eq!(
            (start, old, video.index, video.frames, video.interlaced),
            (1_400_000, true, 2, Some(50), true)
        );
        assert_eq!((video.tags.matrix(), video.tags.primaries.clone()), (Some(Matrix::Bt601), None));
        assert_eq!(video.tags.clone().made(Matrix::Bt601, Range::Limited), video.tags);
        assert_eq!(video.lost, ["Mastering display metadata"]);
        assert_eq!(others.iter().map(|other| other.kind.as_str()).collect::<Vec<_>>(), ["picture", "audio"]);
        let error = probe(&[cover, audio].join(",")).unwrap_err();
        assert!(error.contains("no video stream") && error.contains("audio aac"), "{error}");
    }

    #[test]
    fn versions() {
        assert!(is_old("4.4.2-0ubuntu0.22.04.1") && is_old("5.0") && is_old("n4.3"));
        assert!(!is_old("5.1.9-0+deb12u1") && !is_old("7.1") && !is_old("N-109542-g") && !is_old("n6.0"));
    }
}
