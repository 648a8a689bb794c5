use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};

use crossbeam_channel::Receiver;
use mip_core::text::quoted_path;
use mip_core::video::{Matrix, Range};
use mip_io::WholeFile;
use mip_io::nut::{NutError, NutTag, NutVideo, NutWriter};
use mip_io::y4m::Y4mHeader;

use super::carry::Carried;
use super::child::{Child, ending};
use super::decode::margin;
use super::pixels::ffmpeg_name;
use super::probe::{Probe, Tags};
use super::program::Program;
use super::{Container, MARGIN, file, seconds};
use crate::failure::Failure;
use crate::video::FrameWriter;

/// How frames are encoded.
#[derive(Debug, Clone)]
pub(crate) struct Encoding {
    pub(crate) path: PathBuf,
    pub(crate) container: Container,
    pub(crate) crf: Option<u8>,
    /// Options of the user, behind ours.
    pub(crate) options: Vec<String>,
    pub(crate) tags: Tags,
    /// Seconds of a unit of the times that frames come with.
    pub(crate) time_base: (u32, u32),
    /// The same for the file that is written.
    pub(crate) file_time_base: (u32, u32),
    pub(crate) aspect: Option<(u32, u32)>,
    /// The file whose sound and the like go on.
    pub(crate) original: Option<Original>,
    /// Units that a frame lasts where no other follows.
    pub(crate) last: i64,
}

/// The file that the frames come from.
#[derive(Debug, Clone)]
pub(crate) struct Original {
    pub(crate) path: PathBuf,
    pub(crate) probe: Probe,
    /// Whether only a part of it is written, with the sound of that part.
    pub(crate) part: bool,
}

/// A video file being encoded.
pub(crate) struct Encoder {
    encoding: Encoding,
    carried: Carried,
    /// `None` when all frames are written.
    writer: Option<NutWriter<ChildStdin>>,
    child: Child,
    /// What ffmpeg writes into.
    part: WholeFile,
    times: Receiver<i64>,
    bytes: usize,
    frames: u64,
    /// Times of the first frame and of the last two.
    seen: Option<(i64, i64, i64)>,
}

impl Encoding {
    /// What samples mean that were made of pictures.
    pub(crate) fn tags_of_pictures(matrix: Matrix) -> Tags {
        Tags { siting: Some("center".to_owned()), ..Tags::default() }.made(matrix, Range::Limited)
    }

    /// What of the original gets lost.
    pub(crate) fn lost(&self) -> Vec<String> {
        self.carried().lost
    }

    fn carried(&self) -> Carried {
        let own_audio =
            self.options.iter().any(|word| matches!(word.as_str(), "-c:a" | "-codec:a" | "-acodec"));
        let carried = |original: &Original| Carried::of(&original.probe, self.container, own_audio);
        self.original.as_ref().map(carried).unwrap_or_default()
    }

    /// Whether frames and the rest are written in two steps: which sound belongs to them is known when all are there.
    fn in_two_steps(&self) -> bool {
        self.original.as_ref().is_some_and(|original| original.part)
    }

    /// Options for the frames, which come as the first input.
    fn video(&self, frames: &Y4mHeader, command: &mut Command) -> Result<(), Failure> {
        let Tags { range, space, transfer, primaries, siting } = &self.tags;
        let tags = [
            ("range", "-color_range", range),
            ("colorspace", "-colorspace", space),
            ("color_trc", "-color_trc", transfer),
            ("color_primaries", "-color_primaries", primaries),
        ];
        // Encoders take them from the frames or, in older versions, from their options.
        let said: Vec<_> =
            tags.into_iter().filter_map(|(name, option, tag)| Some((name, option, tag.as_ref()?))).collect();
        if !said.is_empty() {
            let filter: Vec<String> = said.iter().map(|(name, _, tag)| format!("{name}={tag}")).collect();
            command.args(["-vf", &format!("setparams={}", filter.join(":"))]);
        }
        let encoder = self.container.encoder(frames, self.crf, &self.path)?;
        let is_h264 = encoder.iter().any(|word| word == "libx264");
        command.args(encoder);
        for (_, option, tag) in said {
            command.args([option, tag]);
        }
        let siting = match siting.as_deref() {
            Some("center") => Some(1),
            Some("topleft") => Some(2),
            _ => None,
        };
        if let Some(siting) = siting.filter(|_| is_h264 && self.options.is_empty()) {
            command.args(["-bsf:v", &format!("h264_metadata=chroma_sample_loc_type={siting}")]);
        }
        // Nothing is converted behind our back.
        command.args(["-pix_fmt", &format!("+{}", ffmpeg_name(&frames.format()))]);
        let (numerator, denominator) = self.file_time_base;
        let old = self.original.as_ref().is_some_and(|original| original.probe.old);
        command.args([if old { "-vsync" } else { "-fps_mode" }, "passthrough"]);
        command.args(["-enc_time_base", &format!("{numerator}/{denominator}")]);
        Ok(())
    }

    /// Streams, texts and chapters of the original, which is the second input.
    fn rest(carried: &Carried, original: &Original, command: &mut Command) {
        for (index, _) in &carried.streams {
            command.args(["-map", &format!("1:{index}")]);
        }
        command.args(["-map_metadata", "1", "-map_chapters", "1"]);
        command.args(["-map_metadata:s:v:0", &format!("1:s:{}", original.probe.video.index)]);
        // Frames are upright; older versions take this for the way to turn them.
        command.args(["-metadata:s:v:0", "rotate="]);
        for (place, (_, written)) in carried.streams.iter().enumerate() {
            command.args([&format!("-c:{}", place + 1), *written]);
        }
    }
}

impl Encoder {
    /// Starts ffmpeg. The time of each frame comes from `times`.
    pub(crate) fn start(
        encoding: Encoding,
        frames: &Y4mHeader,
        part: WholeFile,
        times: Receiver<i64>,
    ) -> Result<Self, Failure> {
        let carried = encoding.carried();
        let place = place(&part, &encoding.path)?;
        let mut command = Program::Ffmpeg.command()?;
        command.args(["-hide_banner", "-loglevel", "error", "-nostdin"]);
        let whole = encoding.original.as_ref().filter(|_| !encoding.in_two_steps());
        if let Some(original) = whole {
            let Original { path, probe, .. } = original;
            // Both inputs on the clock of the original: what ffmpeg would take off each differs.
            command.args(["-copyts", "-itsoffset", &seconds(probe.start - MARGIN * 1_000_000)]);
            command.args(["-f", "nut", "-i", "pipe:0", "-i"]).arg(file(path)).args(["-map", "0:v:0"]);
            Encoding::rest(&carried, original, &mut command);
            command.args(["-output_ts_offset", &seconds(-probe.start)]);
        } else {
            command.args(["-f", "nut", "-i", "pipe:0", "-map", "0:v:0"]);
        }
        encoding.video(frames, &mut command)?;
        command.args(&encoding.options).args(["-f", encoding.container.muxer(), "-y"]).arg(file(&place));
        command.stdin(Stdio::piped());
        let Some(tag) = NutTag::of(frames) else {
            let text = format!("ffmpeg has no format for frames of {} bits", frames.bits);
            return Err(Failure::Request(text));
        };
        let (child, (stdin, _)) = Child::start(Program::Ffmpeg, &mut command)?;
        let stdin = stdin.ok_or_else(|| Failure::Running("ffmpeg has no stdin".to_owned()))?;
        let Encoding { time_base, aspect, .. } = encoding;
        let video = NutVideo { width: frames.width, height: frames.height, time_base, aspect };
        let bytes = frames.frame_bytes();
        let writer = NutWriter::new(stdin, "the pipe to ffmpeg", &video, tag);
        let mut encoder =
            Self { encoding, carried, writer: None, child, part, times, bytes, frames: 0, seen: None };
        match writer {
            Ok(writer) => encoder.writer = Some(writer),
            Err(error) => return Err(encoder.failed(&error)),
        }
        Ok(encoder)
    }

    /// The time of the next frame as it is written. Two frames never share one, nor go back.
    fn time(&mut self) -> Result<u64, Failure> {
        let gone = |_| Failure::Running("the time of a frame is gone (internal error)".to_owned());
        let time = self.times.recv().map_err(gone)?;
        let (first, time) = match self.seen {
            None => {
                self.seen = Some((time, time, time.saturating_sub(self.encoding.last)));
                (time, time)
            }
            Some((first, last, _)) => {
                let time = time.max(last + 1);
                self.seen = Some((first, time, last));
                (first, time)
            }
        };
        let shifted = match &self.encoding.original {
            Some(original) if !original.part => time + margin(self.encoding.time_base),
            _ => time - first,
        };
        u64::try_from(shifted)
            .map_err(|_| Failure::Running(format!("frame {} has an impossible time", self.frames)))
    }

    fn write_frame(&mut self, pieces: &mut dyn Iterator<Item = &[u8]>) -> Result<(), Failure> {
        let (time, bytes) = (self.time()?, self.bytes);
        let writer = self.writer.as_mut().expect("frames come before the end");
        match writer.write(time, bytes, pieces) {
            Ok(()) => self.frames += 1,
            Err(error) => return Err(self.failed(&error)),
        }
        Ok(())
    }

    /// Why ffmpeg takes no more.
    fn failed(&mut self, error: &NutError) -> Failure {
        self.writer = None;
        let (name, frames) = (quoted_path(&self.encoding.path), self.frames);
        match self.child.wait() {
            Err(failure) => failure,
            Ok(status) if status.success() => Failure::Running(format!(
                "ffmpeg ended before all frames of {name} were there, at frame {frames}: {error}"
            )),
            Ok(status) => {
                let ending = ending(status, &self.child.said());
                Failure::Running(format!("ffmpeg cannot write {name}, at frame {frames} {ending}"))
            }
        }
    }

    /// Lets ffmpeg finish the file.
    fn finish(&mut self) -> Result<(), Failure> {
        // The end of its input.
        self.writer = None;
        let status = self.child.wait()?;
        if !status.success() {
            let (name, ending) = (quoted_path(&self.encoding.path), ending(status, &self.child.said()));
            return Err(Failure::Running(format!("ffmpeg cannot write {name} {ending}")));
        }
        Ok(())
    }

    /// The file with the sound of the frames in it, copied from the original.
    fn with_rest(self) -> Result<WholeFile, Failure> {
        let Self { encoding, carried, part, seen, .. } = self;
        let (Some(original), Some((first, last, before))) = (&encoding.original, seen) else {
            return Ok(part);
        };
        if !original.part && carried.streams.is_empty() {
            return Ok(part);
        }
        let micros = |units: i64| {
            let (numerator, denominator) = encoding.time_base;
            let micros = i128::from(units) * 1_000_000 * i128::from(numerator) / i128::from(denominator);
            i64::try_from(micros).unwrap_or(i64::MAX)
        };
        let begin = if original.part { first } else { 0 };
        let end = last + (last - before).max(1);
        let whole = WholeFile::create(&encoding.path)?;
        let to = place(&whole, &encoding.path)?;
        let mut command = Program::Ffmpeg.command()?;
        command.args(["-hide_banner", "-loglevel", "error", "-nostdin", "-i"]);
        command.arg(file(&place(&part, &encoding.path)?));
        // A begin above 0: only then ffmpeg takes the beginning of the file for 0 whichever of its streams are read.
        command.args(["-ss", &seconds(micros(begin).max(1)), "-t", &seconds(micros(end - begin)), "-i"]);
        command.arg(file(&original.path)).args(["-map", "0:v:0"]);
        Encoding::rest(&carried, original, &mut command);
        command
            .args(["-c:v:0", "copy", "-copypriorss", "0", "-f", encoding.container.muxer(), "-y"])
            .arg(file(&to));
        let (child, _) = Child::start(Program::Ffmpeg, &mut command)?;
        let status = child.wait()?;
        if !status.success() {
            let (name, ending) = (quoted_path(&encoding.path), ending(status, &child.said()));
            return Err(Failure::Running(format!("ffmpeg cannot put sound into {name} {ending}")));
        }
        Ok(whole)
    }
}

impl FrameWriter for Encoder {
    fn write(&mut self, pieces: &mut dyn Iterator<Item = &[u8]>) -> Result<(), Failure> {
        self.write_frame(pieces)
    }

    fn frames(&self) -> u64 {
        self.frames
    }

    fn keep(mut self: Box<Self>) -> Result<(), Failure> {
        if self.frames == 0 {
            return Err(Failure::Running("there was not one frame".to_owned()));
        }
        self.finish()?;
        let file = if self.encoding.in_two_steps() { self.with_rest()? } else { self.part };
        Ok(file.keep()?)
    }

    fn keep_part(mut self: Box<Self>) -> Result<Option<PathBuf>, Failure> {
        if self.frames == 0 {
            return Ok(None);
        }
        self.finish()?;
        let file = self.with_rest()?;
        if file.replaces() {
            return Ok(Some(file.keep_beside()?));
        }
        file.keep()?;
        Ok(None)
    }
}

/// Where ffmpeg writes.
fn place(part: &WholeFile, path: &Path) -> Result<PathBuf, Failure> {
    part.temporary().map(Path::to_owned).ok_or_else(|| {
        Failure::Request(format!(
            "{} is a pipe or device, or in a folder that takes no new files, where a video file cannot grow; name another file \
             with -o (`mip stream` writes into pipes)",
            quoted_path(path)
        ))
    })
}
