use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use indicatif::{ProgressBar, ProgressStyle};
use mini_image_pipe::{FrameResult, FrameResults};
use mip_core::text::{quoted, quoted_path};
use mip_core::threads;
use mip_io::WholeFile;
use mip_io::y4m::Y4mWriter;
use mip_io::yuv::{Planes, YuvConverter};
use mip_runtime::TaskReport;

use super::Target;
use crate::failure::Failure;
use crate::work::Limits;

/// Where video goes.
pub(crate) struct Output {
    writer: Y4mWriter<WholeFile>,
}

/// What was written.
pub(super) struct Written {
    output: Output,
    /// Invocations summed over all frames, and the latest states.
    pub(super) tasks: Vec<TaskReport>,
    /// What ended the stream, if it was not its end.
    pub(super) ended: Result<(), Failure>,
}

/// Refuses names that promise something other than Y4M.
pub(crate) fn check_extension(path: &Path) -> Result<(), Failure> {
    match path.extension() {
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
        Ok(Self { writer: Y4mWriter::new(file, &mip_io::output_name(name), &target.header)? })
    }

    /// Writes each result as soon as it is there, on a thread of its own. When writing fails, or a frame did not get
    /// through, the stream ends.
    ///
    /// # Errors
    /// When there is no memory for a frame, or no thread.
    pub(super) fn start(
        self,
        results: FrameResults,
        target: &Target,
        limits: &Limits,
    ) -> Result<JoinHandle<Written>, Failure> {
        let converter = target.converter();
        let held = limits.reserve("a frame as it is written", target.header.sizes().bytes())?;
        let planes = Planes::new(target.header.width, target.header.height, target.header.sampling);
        let planes = planes.map_err(|error| Failure::Running(error.to_string()))?;
        let written = Written { output: self, tasks: Vec::new(), ended: Ok(()) };
        let work = move || {
            let _held = held;
            written.all(results, &converter, planes)
        };
        let thread = threads::spawn("mip-write", "write video", work);
        thread.map_err(|none| Failure::Running(none.to_string()))
    }

    pub(super) const fn frames(&self) -> u64 {
        self.writer.frames()
    }

    /// Puts a file in its place.
    pub(super) fn keep(self) -> Result<(), Failure> {
        Ok(self.writer.into_inner().keep()?)
    }

    /// Keeps what there is of a stream that was interrupted, and says where: under its name; beside it where another file
    /// stands there, which a part of the new one must not replace; nowhere without a frame.
    pub(super) fn keep_part(self) -> Result<Option<PathBuf>, Failure> {
        let none = self.frames() == 0;
        let file = self.writer.into_inner();
        if file.is_direct() || !(none || file.replaces()) {
            file.keep()?;
            return Ok(None);
        }
        Ok(if none { None } else { Some(file.keep_beside()?) })
    }
}

impl Written {
    fn all(mut self, results: FrameResults, converter: &YuvConverter, mut planes: Planes) -> Self {
        let progress = progress();
        for result in results {
            self.ended = self.one(result, converter, &mut planes);
            if self.ended.is_err() {
                break;
            }
            progress.inc(1);
        }
        progress.finish_and_clear();
        self
    }

    fn one(
        &mut self,
        result: FrameResult,
        converter: &YuvConverter,
        planes: &mut Planes,
    ) -> Result<(), Failure> {
        let mut frame = result.map_err(mini_image_pipe::Error::from)?;
        add(&mut self.tasks, frame.tasks);
        let (_, image) = frame.outputs.pop().expect("`Target` has checked that there is one result");
        converter.write(&image.view(), planes);
        // Its memory serves the next frame, however slowly this one is taken from us.
        drop(image);
        Ok(self.output.writer.write(planes)?)
    }

    pub(super) fn into_output(self) -> Output {
        self.output
    }
}

fn add(all: &mut Vec<TaskReport>, tasks: Vec<TaskReport>) {
    if all.is_empty() {
        *all = tasks;
        return;
    }
    for (sum, new) in all.iter_mut().zip(tasks) {
        sum.invocations += new.invocations;
        sum.state = new.state;
    }
}

/// On a terminal only: `indicatif` hides it elsewhere. How long the stream is nobody knows.
fn progress() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {pos} frames  {per_sec}");
    ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}
