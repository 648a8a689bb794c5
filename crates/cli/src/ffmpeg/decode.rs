use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Stdio};
use std::sync::Arc;

use crossbeam_channel::Sender;
use mip_core::text::quoted_path;
use mip_cuda::video::VideoCodec;
use mip_io::nut::{NutError, NutReader, NutVideo};

use super::child::{Child, ending};
use super::program::Program;
use super::{MARGIN, Pixels, Probe, file, seconds};
use crate::console;
use crate::failure::Failure;

/// Which frames are read: those from `from` on, before `to`, every `every`th of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pick {
    pub(crate) from: u64,
    pub(crate) to: Option<u64>,
    pub(crate) every: u64,
}

impl Pick {
    /// Whether the beginning or the end of the video is left out.
    pub(crate) const fn is_part(&self) -> bool {
        self.from > 0 || self.to.is_some()
    }

    /// The number in the file of the `n`th frame that is read.
    pub(crate) const fn number(&self, n: u64) -> u64 {
        self.from.saturating_add(n.saturating_mul(self.every))
    }

    /// How many of `all` frames are read; without `all` as many as there are at most.
    pub(crate) fn count(&self, all: Option<u64>) -> Option<u64> {
        let end = match (self.to, all) {
            (Some(to), Some(all)) => Some(to.min(all)),
            (to, all) => to.or(all),
        };
        Some(end?.saturating_sub(self.from).div_ceil(self.every))
    }

    /// Whether frame `number` of the file is one of them.
    pub(crate) const fn has(&self, number: u64) -> bool {
        number >= self.from && !self.is_behind(number) && (number - self.from).is_multiple_of(self.every)
    }

    /// Whether there is none from frame `number` of the file on.
    pub(crate) const fn is_behind(&self, number: u64) -> bool {
        matches!(self.to, Some(to) if number >= to)
    }

    /// Frames a second of those that are picked, of a file with so many; as numerator and denominator.
    pub(crate) fn rate(&self, (frames, second): (u32, u32)) -> String {
        format!("{frames}:{}", u64::from(second) * self.every)
    }

    /// The filter that picks them.
    fn filter(&self) -> Option<String> {
        let Self { from, every, .. } = self;
        // Where they end ffmpeg is told by their number: it need not decode what follows.
        match (from, every) {
            (0, 1) => None,
            (_, 1) => Some(format!("select='gte(n,{from})'")),
            _ => Some(format!("select='gte(n,{from})*not(mod(n-{from},{every}))'")),
        }
    }
}

/// A video file being decoded.
pub(crate) struct Decoder {
    path: PathBuf,
    /// `None` when there was not one frame.
    reader: Option<NutReader<ChildStdout>>,
    child: Arc<Child>,
    clock: Clock,
    /// Whether what ffmpeg complains of is an error.
    strict: bool,
    pick: Pick,
}

/// Says when frames are shown that are read.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    /// In units from the beginning of the file.
    times: Sender<i64>,
    /// [`MARGIN`] in those units.
    margin: i64,
}

impl Clock {
    /// Of a frame with that time in what ffmpeg wrote.
    pub(crate) fn shown(&self, pts: i64) {
        // Nobody may want to know.
        let _ = self.times.send(pts - self.margin);
    }

    /// Whether a frame lies before the beginning of the file: an edit list hides it, and frames behind it may need it.
    pub(crate) const fn is_hidden(&self, pts: i64) -> bool {
        pts < self.margin
    }
}

/// Ends the decoding when dropped.
pub(crate) struct Decoding(Arc<Child>);

impl Drop for Decoding {
    fn drop(&mut self) {
        self.0.kill();
    }
}

/// How a file is decoded.
pub(crate) struct Request<'a> {
    pub(crate) path: &'a Path,
    pub(crate) probe: &'a Probe,
    pub(crate) pixels: &'a Pixels,
    pub(crate) pick: Pick,
    pub(crate) deinterlace: bool,
    pub(crate) strict: bool,
    /// Packets are handed over as they are, for a decoder elsewhere.
    pub(crate) coded: Option<VideoCodec>,
}

/// Bytes of a packet at most: many times a frame that is not compressed at all.
const LARGEST_PACKET: u64 = 1 << 30;

/// What makes packets of a container those of a stream, which has its headers in it.
const fn stream_filter(codec: VideoCodec) -> Option<&'static str> {
    match codec {
        VideoCodec::H264 => Some("h264_mp4toannexb"),
        VideoCodec::Hevc => Some("hevc_mp4toannexb"),
        VideoCodec::Av1 => Some("av1_metadata=td=insert"),
        _ => None,
    }
}

impl Decoder {
    /// Starts ffmpeg and waits for its first frame. The time of each frame that is read goes to `times`.
    pub(crate) fn start(request: &Request<'_>, times: Sender<i64>) -> Result<(Self, Decoding), Failure> {
        let Request { path, probe, pick, strict, .. } = *request;
        let mut command = Program::Ffmpeg.command()?;
        // Times are those of the file, moved so that it begins at 0 (not its first frame: sound may begin before that).
        command.args(["-hide_banner", "-loglevel", "error", "-nostdin", "-copyts", "-i"]).arg(file(path));
        command.args(["-map", &format!("0:{}", probe.video.index), "-map_metadata", "-1"]);
        match request.coded {
            Some(codec) => {
                command.args(["-c:v", "copy"]);
                if let Some(filter) = stream_filter(codec) {
                    command.args(["-bsf:v", filter]);
                }
            }
            None => {
                command.args(request.frames());
            }
        }
        command.args(["-output_ts_offset", &seconds(MARGIN * 1_000_000 - probe.start)]);
        command.args(["-f", "nut", "pipe:1"]).stdout(Stdio::piped());
        let (child, (_, stdout)) = Child::start(Program::Ffmpeg, &mut command)?;
        let child = Arc::new(child);
        let decoding = Decoding(child.clone());
        let stdout = stdout.ok_or_else(|| Failure::Running("ffmpeg has no stdout".to_owned()))?;
        let clock = Clock { times, margin: 0 };
        let mut decoder = Self { path: path.to_owned(), reader: None, child, clock, strict, pick };
        match NutReader::new(stdout, "what ffmpeg writes") {
            Ok(reader) => decoder.reader = reader,
            Err(error) => return Err(decoder.broken(&error)),
        }
        match &decoder.reader {
            Some(reader) => decoder.clock.margin = margin(reader.video().time_base),
            None => decoder.ended()?,
        }
        Ok((decoder, decoding))
    }

    /// Reads the next packet of a request for these, with its time; `None` when there are no more.
    pub(crate) fn read_packet(&mut self, packet: &mut Vec<u8>) -> Result<Option<i64>, Failure> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        match reader.read_packet(packet, LARGEST_PACKET) {
            Ok(Some(pts)) => Ok(Some(pts)),
            Ok(None) => self.ended().map(|()| None),
            Err(error) => Err(self.broken(&error)),
        }
    }

    /// Ends ffmpeg when it is dropped, as what [`Decoder::start`] gives does.
    pub(crate) fn ender(&self) -> Decoding {
        Decoding(self.child.clone())
    }

    /// What says when frames are shown.
    pub(crate) fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// What the frames have in common; `None` when there are none.
    pub(crate) fn video(&self) -> Option<&NutVideo> {
        self.reader.as_ref().map(NutReader::video)
    }

    /// Reads the next frame; `false` when there are no more.
    pub(crate) fn read(&mut self, frame: &mut [u8]) -> Result<bool, Failure> {
        let Some(reader) = &mut self.reader else { return Ok(false) };
        match reader.read(frame) {
            Ok(Some(pts)) => {
                self.clock.shown(pts);
                Ok(true)
            }
            Ok(None) => self.ended().map(|()| false),
            Err(error) => Err(self.broken(&error)),
        }
    }

    /// Checks that the end of the stream is one that ffmpeg meant.
    fn ended(&self) -> Result<(), Failure> {
        let status = self.child.wait()?;
        let (name, said) = (quoted_path(&self.path), self.child.said());
        if !status.success() {
            return Err(self.failed(&ending(status, &said)));
        }
        if self.reader.as_ref().is_none_or(|reader| reader.frames() == 0) {
            return Err(self.empty());
        }
        if said.is_empty() {
            return Ok(());
        }
        let said = said.join("\n  ");
        if self.strict {
            let text = format!("strict reading refuses {name}, of which ffmpeg says: {said}");
            return Err(Failure::Running(text));
        }
        console::note(format_args!("warning: ffmpeg says of {name}: {said}"));
        Ok(())
    }

    /// That there is not one frame.
    pub(crate) fn empty(&self) -> Failure {
        let name = quoted_path(&self.path);
        let (Pick { from, .. }, said) = (self.pick, self.child.said().join("\n  "));
        let said = if said.is_empty() { said } else { format!("; ffmpeg says: {said}") };
        Failure::Running(match from {
            0 => format!("{name} has no frames{said}"),
            from => format!("{name} has no frame {from}: --frames picks none{said}"),
        })
    }

    fn failed(&self, ending: &str) -> Failure {
        let name = quoted_path(&self.path);
        Failure::Running(match self.reader.as_ref().map_or(0, NutReader::frames) {
            0 => format!("ffmpeg cannot read {name} {ending}"),
            frames => format!("ffmpeg stopped reading {name} after {frames} frames {ending}"),
        })
    }

    /// Why the stream broke off: what ffmpeg says, where it failed.
    fn broken(&self, error: &NutError) -> Failure {
        if !matches!(error, NutError::Truncated { .. }) {
            self.child.kill();
        }
        match self.child.wait() {
            Err(failure) => failure,
            Ok(status) => match ending(status, &self.child.said()) {
                _ if status.success() => self.failed(&format!("({error})")),
                ending => self.failed(&format!("{ending} ({error})")),
            },
        }
    }
}

impl Request<'_> {
    /// Arguments for frames as samples.
    fn frames(&self) -> Vec<String> {
        let Self { probe, pixels, pick, deinterlace, .. } = *self;
        let mut arguments: Vec<String> = Vec::new();
        let mut add = |texts: &[&str]| arguments.extend(texts.iter().map(|text| (*text).to_owned()));
        let mut filters = Vec::new();
        filters.extend(deinterlace.then(|| "bwdif=mode=send_frame".to_owned()));
        filters.extend(pick.filter());
        if pixels.from_rgb {
            filters.push("scale=out_color_matrix=bt709:out_range=tv".to_owned());
        }
        if !filters.is_empty() {
            add(&["-vf", &filters.join(",")]);
        }
        if let Some(count) = pick.to.and_then(|_| pick.count(None)) {
            add(&["-frames:v", &count.to_string()]);
        }
        let (numerator, denominator) = probe.video.time_base;
        add(&["-c:v", "rawvideo", "-pix_fmt", &pixels.name]);
        add(&[if probe.old { "-vsync" } else { "-fps_mode" }, "passthrough"]);
        add(&["-enc_time_base", &format!("{numerator}/{denominator}")]);
        arguments
    }
}

/// [`MARGIN`] in units of a time base.
pub(super) const fn margin(time_base: (u32, u32)) -> i64 {
    MARGIN * time_base.1 as i64 / time_base.0 as i64
}

#[test]
fn picked_frames_are_counted() {
    let pick = |from, to, every| Pick { from, to, every };
    assert_eq!(pick(0, None, 1).filter(), None);
    assert_eq!(pick(0, None, 5).count(Some(11)), Some(3));
    assert_eq!(pick(10, Some(20), 3).count(None), Some(4));
    assert_eq!(pick(10, Some(20), 3).count(Some(12)), Some(1));
    assert_eq!(pick(10, Some(20), 3).number(2), 16);
    assert_eq!(pick(30, None, 1).count(Some(12)), Some(0));
    assert_eq!(pick(0, None, 2).count(None), None);
    let picked: Vec<u64> = (0..30).filter(|&number| pick(10, Some(20), 3).has(number)).collect();
    assert_eq!(picked, [10, 13, 16, 19]);
    assert!(pick(10, Some(20), 3).is_behind(20) && !pick(10, None, 3).is_behind(20));
}
