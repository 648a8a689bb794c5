use std::path::Path;

use mini_image_pipe::Pipeline;
use mini_image_pipe::profiling::{Kind, Summary};
use mip_core::{ImageBuffer, text};
use serde::Serialize;

use super::{FileRow, Measured, Mode};
use crate::failure::Failure;

/// What `mip profile` prints; times are microseconds. Keys may be added, never changed.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// As `--device` takes it.
    device: String,
    pub(crate) device_name: String,
    /// Shape of each input.
    pub(crate) inputs: Vec<Input>,
    pub(crate) graph: bool,
    pub(crate) fuse: bool,
    pub(crate) batch: usize,
    pub(crate) warm_up: usize,
    /// Runs that were profiled.
    pub(crate) repeat: usize,
    /// Host time of a run, on average.
    pub(crate) us_per_run: f64,
    /// The same without a profile.
    pub(crate) unprofiled_us_per_run: f64,
    /// What came before: planning, loading, capturing.
    pub(crate) preparation: Summary,
    pub(crate) summary: Summary,
    pub(crate) stream: Option<Stream>,
    /// Reading and decoding of the inputs, encoding of the results.
    pub(crate) files: Vec<FileRow>,
    pub(crate) trace: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) shape: String,
}

/// How a stream of frames did against its slowest stage.
#[derive(Debug, Serialize)]
pub(crate) struct Stream {
    pub(crate) frames_in_flight: usize,
    pub(crate) us_per_frame: f64,
    /// Each stage of a frame while no other frame was under way.
    pub(crate) alone: Vec<Alone>,
    /// The slowest of them.
    pub(crate) slowest: Option<Alone>,
    /// Time of a frame over that of the slowest stage.
    pub(crate) ratio: Option<f64>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Alone {
    pub(crate) stage: Kind,
    pub(crate) median_us: f64,
}

impl Report {
    pub(crate) fn new(
        pipeline: &Pipeline,
        inputs: &[(String, ImageBuffer)],
        mode: Mode,
        measured: Measured,
        trace: Option<&Path>,
    ) -> Result<Self, Failure> {
        let config = pipeline.config();
        let info = config.device.info()?;
        let per_run = |time: std::time::Duration| time.as_secs_f64() * 1e6 / measured.repeat as f64;
        let us_per_run = per_run(measured.elapsed);
        let (batch, frames_in_flight) = match mode {
            Mode::Batch(frames) => (frames, None),
            Mode::Stream(frames) => (1, Some(frames)),
        };
        let shape = |(name, image): &(String, ImageBuffer)| Input {
            name: name.clone(),
            shape: image.desc().to_string(),
        };
        let summary = measured.profile.summary();
        let unprofiled_us_per_run = per_run(measured.unprofiled);
        let stream = frames_in_flight.map(|frames| {
            Stream::new(frames, unprofiled_us_per_run, measured.alone.as_ref().unwrap_or(&summary))
        });
        Ok(Self {
            device: info.id(),
            device_name: info.name,
            inputs: inputs.iter().map(shape).collect(),
            graph: config.enable_graph_replay,
            fuse: config.fuse,
            batch,
            warm_up: measured.warm_up,
            repeat: measured.repeat,
            us_per_run,
            unprofiled_us_per_run,
            preparation: measured.preparation,
            summary,
            stream,
            files: measured.files,
            trace: trace.map(|path| text::path(path).into_owned()),
        })
    }
}

impl Stream {
    fn new(frames_in_flight: usize, us_per_frame: f64, alone: &Summary) -> Self {
        let stage = |row: &mini_image_pipe::profiling::StageRow| Alone {
            stage: row.kind,
            median_us: row.median_us_per_run,
        };
        let alone: Vec<Alone> = alone.stages.iter().map(stage).collect();
        let slowest = alone.iter().max_by(|a, b| a.median_us.total_cmp(&b.median_us)).cloned();
        let ratio = slowest.as_ref().map(|slowest| us_per_frame / slowest.median_us.max(1e-3));
        Self { frames_in_flight, us_per_frame, alone, slowest, ratio }
    }
}
