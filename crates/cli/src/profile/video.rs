//! `mip profile` of a video: its frames through the pipeline, several under way at once, as in `mip stream` and `mip run`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mini_image_pipe::profiling::{Profile, Summary};
use mini_image_pipe::{Pipeline, PipelineConfig};
use mip_core::text;
use serde::Serialize;

use super::table::{Time, tables};
use crate::commands::{Decoded, Way};
use crate::failure::Failure;
use crate::ffmpeg::Pick;
use crate::interrupt::Stop;
use crate::stages::Stages;
use crate::video::{self, Nowhere, Outcome, Output, Said, Source, Target};
use crate::work::Limits;

/// What is measured.
#[derive(Debug)]
pub(crate) struct VideoRequest {
    pub(crate) path: PathBuf,
    pub(crate) said: Said,
    /// Frames of the video at most.
    pub(crate) frames: u64,
    /// Frames before that.
    pub(crate) warm_up: u64,
    pub(crate) in_flight: usize,
    pub(crate) strict: bool,
    pub(crate) limits: Limits,
}

/// What `mip profile` prints of a video; times are microseconds. Keys may be added, never changed.
#[derive(Debug, Serialize)]
pub(crate) struct VideoReport {
    /// As `--device` takes it.
    device: String,
    device_name: String,
    video: String,
    /// As `--raw` names it.
    format: String,
    width: u32,
    height: u32,
    graph: bool,
    fuse: bool,
    frames: u64,
    frames_in_flight: usize,
    /// Without a profile.
    us_per_frame: f64,
    frames_per_second: f64,
    profiled_us_per_frame: f64,
    /// Whether results are made into frames of video; they go nowhere in any case.
    written: bool,
    #[serde(flatten)]
    stages: Stages,
    summary: Summary,
    trace: Option<String>,
}

/// A pipeline that the video goes through.
struct Run<'a> {
    pipeline: &'a mut Pipeline,
    request: &'a VideoRequest,
    /// Known with the first frame.
    target: Option<Target>,
    /// Format and size, likewise.
    read: Option<(String, u32, u32)>,
}

impl Run<'_> {
    fn run(&mut self, frames: u64) -> Result<Outcome, Failure> {
        let VideoRequest { path, said, strict, limits, in_flight, .. } = self.request;
        // Kept until the last frame is there: it ends the program that decodes.
        let mut decoding = None;
        let source = if said.raw.is_some() || is_y4m(path) {
            Source::open(Some(path), *said, limits)?
        } else {
            let pick = Pick { from: 0, to: Some(frames), every: 1 };
            let way = Way { pick, deinterlace: false, strict: *strict, on_gpu: false };
            let decoded = Decoded::start(path, way, self.pipeline, limits)?;
            decoding = Some(decoded.decoding);
            decoded.source
        };
        if self.target.is_none() {
            let name = video::input_name(self.pipeline)?;
            let sees_color = self.pipeline.task_graph().inputs().contains(&name);
            self.pipeline.read_video(&name, source.format, source.color())?;
            // What is no video, a tensor say, is let go of.
            let target = Target::new(self.pipeline, &source, sees_color, None, true);
            self.target = Some(target.unwrap_or_else(|_| Target::nothing(&source)));
            self.read = Some((source.format.to_string(), source.width, source.height));
        }
        let target = self.target.as_ref().expect("made above");
        let output = Output::into(Box::new(Nowhere::default()), None);
        let (_open, stop) = Stop::never();
        let outcome = video::run(self.pipeline, source.take(frames), target, output, *in_flight, &stop)?;
        drop(decoding);
        if outcome.frames == 0 {
            return Err(Failure::Running(format!("{} has no frames", text::quoted_path(path))));
        }
        Ok(outcome)
    }
}

fn is_y4m(path: &Path) -> bool {
    let mut first = [0; 9];
    let read =
        std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut first));
    read.is_ok() && first == *b"YUV4MPEG2"
}

/// Warms up and profiles; the same is run once more without a profile, to say what that costs.
pub(crate) fn measure_video(
    pipeline: &mut Pipeline,
    request: &VideoRequest,
    trace: Option<&Path>,
) -> Result<(VideoReport, Profile), Failure> {
    let config = PipelineConfig { enable_profiling: false, ..pipeline.config().clone() };
    let mut plain = Pipeline::from_graph(pipeline.task_graph().clone(), config);
    let mut run = Run { pipeline: &mut plain, request, target: None, read: None };
    run.run(request.warm_up.max(1))?;
    let unprofiled = run.run(request.frames)?;
    let mut run = Run { pipeline, request, target: None, read: None };
    if request.warm_up > 0 {
        run.run(request.warm_up)?;
    }
    let outcome = run.run(request.frames)?;
    let written = run.target.as_ref().is_some_and(Target::is_written);
    let (format, width, height) = run.read.take().expect("known with the first frame");
    let profile = outcome.profile.ok_or_else(|| Failure::Running("nothing was recorded".to_owned()))?;
    let (config, info) = (pipeline.config(), pipeline.config().device.info()?);
    let us = |outcome: f64, frames: u64| outcome * 1e6 / frames as f64;
    let us_per_frame = us(unprofiled.elapsed.as_secs_f64(), unprofiled.frames);
    let report = VideoReport {
        device: info.id(),
        device_name: info.name,
        video: text::path(&request.path).into_owned(),
        format,
        width,
        height,
        graph: config.enable_graph_replay,
        fuse: config.fuse,
        frames: outcome.frames,
        frames_in_flight: request.in_flight,
        us_per_frame,
        frames_per_second: 1e6 / us_per_frame.max(1e-3),
        profiled_us_per_frame: us(outcome.elapsed.as_secs_f64(), outcome.frames),
        written,
        stages: outcome.stages,
        summary: profile.summary(),
        trace: trace.map(|path| text::path(path).into_owned()),
    };
    Ok((report, profile))
}

/// The report for people.
pub(crate) fn render_video(report: &VideoReport) -> String {
    let VideoReport { device_name, frames, video, format, width, height, frames_in_flight, .. } = report;
    let graph = if report.graph { ", replayed" } else { "" };
    let video = text::one_line(video);
    let (time, profiled) = (Time(report.us_per_frame), Time(report.profiled_us_per_frame));
    let mut to = format!(
        "{device_name}: {frames} frames of {video}, {format} {width}x{height}, {frames_in_flight} in flight{graph}\n\
         {time} a frame ({:.1} frames/s); {profiled} while profiled\n{}\n",
        report.frames_per_second, report.stages
    );
    if !report.written {
        to.push_str("results are no video that could be written, and are let go of\n");
    }
    // Writing to a string cannot fail.
    let _ = tables(&mut to, &report.summary);
    if report.summary.dropped > 0 {
        let _ = writeln!(to, "{} spans are missing: beyond what a profile holds", report.summary.dropped);
    }
    to
}
