use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Instant;

use crossbeam_channel::Receiver;
use indicatif::{ProgressBar, ProgressStyle};
use mini_image_pipe::{FrameResult, FrameResults};
use mip_core::text::{quoted, quoted_path};
use mip_core::video::{Packing, VideoFormat, VideoFrame};
use mip_core::{ImageBuffer, faults, threads};
use mip_io::y4m::Y4mWriter;
use mip_io::{WholeFile, yuv};
use mip_runtime::TaskReport;

use super::Target;
use super::target::Made;
use crate::failure::Failure;
use crate::stages::Meter;

/// What takes the frames of a video.
pub(crate) trait FrameWriter: Send {
    /// Writes a frame, the samples of its planes one after another, in as many pieces as they come.
    fn write(&mut self, pieces: &mut dyn Iterator<Item = &[u8]>) -> Result<(), Failure>;
    /// Frames written so far.
    fn frames(&self) -> u64;
    /// Puts a file in its place.
    fn keep(self: Box<Self>) -> Result<(), Failure>;
    /// Keeps what there is of a video that was interrupted, and says where: under its name; beside it where another file
    /// stands there, which a part of the new one must not replace; nowhere without a frame.
    fn keep_part(self: Box<Self>) -> Result<Option<PathBuf>, Failure>;
}

/// Where video goes.
pub(crate) struct Output {
    writer: Box<dyn FrameWriter>,
    /// Frames that there will be, where that is known.
    total: Option<u64>,
}

/// What makes frames of results, and memory for it.
enum Making {
    Nothing,
    AsItIs,
    WithChroma {
        read: Receiver<VideoFrame>,
        target: Target,
        /// Chroma taken apart.
        planes: [Vec<u8>; 2],
    },
    /// Of planes that are results, and room for chroma that takes turns.
    Planes {
        format: VideoFormat,
        chroma: Vec<u8>,
    },
}

/// What was written.
pub(super) struct Written {
    output: Output,
    /// Invocations summed over all frames, and the latest states.
    pub(super) tasks: Vec<TaskReport>,
    /// When the first result was there.
    pub(super) first: Option<Instant>,
    /// What ended the stream, if it was not its end.
    pub(super) ended: Result<(), Failure>,
}

/// Refuses names that promise something other than Y4M; frames without a header may be called anything.
pub(crate) fn check_extension(path: &Path, raw: bool) -> Result<(), Failure> {
    match path.extension() {
        _ if raw => Ok(()),
        Some(extension) if !extension.eq_ignore_ascii_case("y4m") => Err(Failure::Request(format!(
            "{} has extension '.{}', but mip stream writes .y4m; for other formats pipe it into ffmpeg: \
             `mip stream ... | ffmpeg -f yuv4mpegpipe -i - {}`",
            quoted_path(path),
            quoted(&extension.to_string_lossy()),
            quoted_path(path)
        ))),
        _ => Ok(()),
    }
}

impl Output {
    /// Writes the header into a file, a pipe or stdout, which `name` stands for in errors.
    pub(crate) fn begin(file: WholeFile, name: &Path, target: &Target) -> Result<Self, Failure> {
        let name = mip_io::output_name(name);
        let header = (!target.raw).then_some(&target.header);
        Ok(Self { writer: Box::new(Y4mWriter::with_header(file, &name, header)?), total: None })
    }

    /// The same, of so many frames, where that is known.
    pub(crate) fn of(self, total: Option<u64>) -> Self {
        Self { total, ..self }
    }

    /// Writes into something else; as many frames as `total` says.
    pub(crate) fn into(writer: Box<dyn FrameWriter>, total: Option<u64>) -> Self {
        Self { writer, total }
    }

    /// Writes each result as soon as it is there, on a thread of its own. `read` gives the frame of each, where their chroma is
    /// kept. When writing fails, or a frame did not get through, the stream ends. The meter adds up how long it writes.
    ///
    /// # Errors
    /// When there is no thread.
    pub(super) fn start(
        self,
        results: FrameResults,
        target: &Target,
        read: Receiver<VideoFrame>,
        meter: Meter,
    ) -> Result<JoinHandle<Written>, Failure> {
        let making = match target.made {
            Made::Nothing => Making::Nothing,
            Made::AsItIs => Making::AsItIs,
            Made::WithChroma => {
                Making::WithChroma { read, target: target.clone(), planes: [Vec::new(), Vec::new()] }
            }
            Made::Planes(format, _) => Making::Planes { format, chroma: Vec::new() },
        };
        let written = Written { output: self, tasks: Vec::new(), first: None, ended: Ok(()) };
        let thread = threads::spawn("mip-write", "write video", move || written.all(results, making, &meter));
        thread.map_err(|none| Failure::Running(none.to_string()))
    }

    pub(super) fn frames(&self) -> u64 {
        self.writer.frames()
    }

    pub(super) fn keep(self) -> Result<(), Failure> {
        self.writer.keep()
    }

    pub(super) fn keep_part(self) -> Result<Option<PathBuf>, Failure> {
        self.writer.keep_part()
    }
}

/// Takes frames, and keeps none.
#[derive(Debug, Default)]
pub(crate) struct Nowhere(u64);

impl FrameWriter for Nowhere {
    fn write(&mut self, pieces: &mut dyn Iterator<Item = &[u8]>) -> Result<(), Failure> {
        for piece in pieces {
            std::hint::black_box(piece);
        }
        self.0 += 1;
        Ok(())
    }

    fn frames(&self) -> u64 {
        self.0
    }

    fn keep(self: Box<Self>) -> Result<(), Failure> {
        Ok(())
    }

    fn keep_part(self: Box<Self>) -> Result<Option<PathBuf>, Failure> {
        Ok(None)
    }
}

impl FrameWriter for Y4mWriter<WholeFile> {
    fn write(&mut self, pieces: &mut dyn Iterator<Item = &[u8]>) -> Result<(), Failure> {
        Ok(Self::write(self, pieces)?)
    }

    fn frames(&self) -> u64 {
        Self::frames(self)
    }

    fn keep(self: Box<Self>) -> Result<(), Failure> {
        Ok(self.into_inner().keep()?)
    }

    fn keep_part(self: Box<Self>) -> Result<Option<PathBuf>, Failure> {
        let none = Self::frames(&self) == 0;
        let file = self.into_inner();
        if file.is_direct() || !(none || file.replaces()) {
            file.keep()?;
            return Ok(None);
        }
        Ok(if none { None } else { Some(file.keep_beside()?) })
    }
}

impl Written {
    fn all(mut self, results: FrameResults, mut making: Making, meter: &Meter) -> Self {
        let progress = progress(self.output.total);
        for result in results {
            self.first.get_or_insert_with(Instant::now);
            self.ended = meter.time(|| self.one(result, &mut making));
            if self.ended.is_err() {
                break;
            }
            progress.inc(1);
        }
        progress.finish_and_clear();
        self
    }

    fn one(&mut self, result: FrameResult, making: &mut Making) -> Result<(), Failure> {
        let mut frame = result.map_err(mini_image_pipe::Error::from)?;
        add(&mut self.tasks, frame.tasks);
        let writer = &mut self.output.writer;
        if let Making::Planes { format, chroma } = making {
            let planes = frame.outputs.iter().map(|(_, plane)| plane);
            return write_planes(&mut **writer, *format, &planes.collect::<Vec<_>>(), chroma);
        }
        if matches!(making, Making::Nothing) {
            return writer.write(&mut std::iter::empty());
        }
        let (_, image) = frame.outputs.pop().expect("`Target` has checked that there is one result");
        match making {
            Making::Planes { .. } | Making::Nothing => {}
            Making::AsItIs => writer.write(&mut rows(&image))?,
            Making::WithChroma { read, target, planes } => {
                let gone = |_| Failure::Running("a frame of the video is gone (internal error)".to_owned());
                let video = read.recv().map_err(gone)?;
                let chroma = &video.planes()[1..];
                match target.taken_apart(video.format().packing) {
                    // Y4M has U before V.
                    None if video.format().v_first && !target.raw => {
                        writer.write(&mut rows(&image).chain(chroma.iter().rev().flat_map(rows)))?;
                    }
                    None => writer.write(&mut rows(&image).chain(chroma.iter().flat_map(rows)))?,
                    Some(order) => {
                        take_apart(&chroma[0], planes)?;
                        writer.write(&mut rows(&image).chain(order.map(|plane| &planes[plane][..])))?;
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn into_output(self) -> Output {
        self.output
    }
}

/// Writes luma, U and V as a format has them.
fn write_planes(
    writer: &mut dyn FrameWriter,
    format: VideoFormat,
    planes: &[&ImageBuffer],
    interleaved: &mut Vec<u8>,
) -> Result<(), Failure> {
    let (&luma, chroma) = planes.split_first().expect("a frame has luma");
    let order = |first: usize| [chroma[first], chroma[1 - first]];
    match format.packing {
        _ if chroma.is_empty() => writer.write(&mut rows(luma))?,
        Packing::Uv => {
            interleave(order(0), interleaved)?;
            writer.write(&mut rows(luma).chain([&interleaved[..]]))?;
        }
        Packing::Vu => {
            interleave(order(1), interleaved)?;
            writer.write(&mut rows(luma).chain([&interleaved[..]]))?;
        }
        // Nothing is written packed.
        Packing::Planar | Packing::Yuyv | Packing::Uyvy => {
            let chroma = order(usize::from(format.v_first));
            writer.write(&mut rows(luma).chain(chroma.into_iter().flat_map(rows)))?;
        }
    }
    Ok(())
}

/// Samples of two planes that take turns in one.
fn interleave(planes: [&ImageBuffer; 2], interleaved: &mut Vec<u8>) -> Result<(), Failure> {
    let (size, bytes) = (planes[0].desc().dtype().size(), 2 * planes[0].desc().bytes());
    interleaved.clear();
    let none = |_| Failure::Running(format!("no memory: {bytes} bytes for a plane of chroma"));
    faults::try_reserve_exact(interleaved, bytes).map_err(none)?;
    for (first, second) in rows(planes[0]).zip(rows(planes[1])) {
        yuv::interleave(first, second, size, interleaved);
    }
    Ok(())
}

/// The samples of a plane, in one piece where there is no padding.
fn rows(image: &ImageBuffer) -> impl Iterator<Item = &[u8]> {
    let layout = *image.layout();
    let view = image.view();
    let (count, whole) = if layout.is_tight() { (1, true) } else { (layout.desc.height() as usize, false) };
    (0..count).map(move |y| if whole { &view.data()[..layout.span()] } else { view.row(0, 0, y) })
}

/// Samples that take turns, in a plane each.
fn take_apart(chroma: &ImageBuffer, planes: &mut [Vec<u8>; 2]) -> Result<(), Failure> {
    let (size, bytes) = (chroma.desc().dtype().size(), chroma.desc().bytes() / 2);
    for plane in &mut *planes {
        plane.clear();
        let none = |_| Failure::Running(format!("no memory: {bytes} bytes for a plane of chroma"));
        faults::try_reserve_exact(plane, bytes).map_err(none)?;
    }
    rows(chroma).for_each(|row| yuv::take_apart(row, size, planes));
    Ok(())
}

pub(super) fn add(all: &mut Vec<TaskReport>, tasks: Vec<TaskReport>) {
    if all.is_empty() {
        *all = tasks;
        return;
    }
    for (sum, new) in all.iter_mut().zip(tasks) {
        sum.invocations += new.invocations;
        sum.state = new.state;
    }
}

/// On a terminal only: `indicatif` hides it elsewhere. How long a stream is nobody knows.
pub(super) fn progress(total: Option<u64>) -> ProgressBar {
    let (bar, style) = match total {
        Some(total) => (ProgressBar::new(total), "{bar:32} {pos}/{len} frames  {per_sec}  {eta} left"),
        None => (ProgressBar::no_length(), "{spinner} {pos} frames  {per_sec}"),
    };
    bar.with_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_spinner()))
}
