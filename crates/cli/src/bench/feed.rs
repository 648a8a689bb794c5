//! The suite `feed`: video from memory through a pipeline and away, as `mip stream` runs it.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use mini_image_pipe::{Device, Pipeline, PipelineConfig};
use mip_core::video::{ChromaFilter, Matrix, Range};
use mip_graph::PipelineSpec;
use mip_io::{RawVideo, WholeFile};
use mip_testkit::images::SplitMix64;
use serde::Serialize;

use super::document::{Environment, FailedCase};
use super::environment::environment;
use crate::commands::FormatArg;
use crate::failure::Failure;
use crate::interrupt::Stop;
use crate::stages::Stages;
use crate::video::{self, Output, Said, Source, Target};
use crate::work::Limits;

/// Frames of one measurement of its whole: to warm up, and at least.
const FEW: u64 = 24;
/// Different frames that take turns: more than caches hold.
const DIFFERENT: u64 = 32;

/// A workload: name, video read, pipeline, and whether luma of another size is written, without chroma.
type Feed = (&'static str, &'static str, &'static str, bool);

const EDGES: &str =
    "resize width=1280 height=720 ! color_convert to=gray ! gaussian_blur kernel=5 sigma=1.1 ! sobel";

const FEEDS: [Feed; 6] = [
    ("w1 nv12", "nv12:1920x1080", EDGES, false),
    ("w1 i420", "i420:1920x1080", EDGES, false),
    (
        "w1 luma",
        "nv12:1920x1080",
        "resize width=1280 height=720 inputs=@input-y ! gaussian_blur kernel=5 sigma=1.1 ! sobel",
        true,
    ),
    ("w1 p010", "p010:1920x1080", EDGES, false),
    ("blur colours", "nv12:1920x1080", "gaussian_blur kernel=5", false),
    ("blur luma", "nv12:1920x1080", "gaussian_blur kernel=5 inputs=@input-y", false),
];

/// What was found. Keys may be added, never changed.
#[derive(Debug, Serialize)]
pub(crate) struct FeedDocument {
    #[serde(flatten)]
    environment: Environment,
    frames_in_flight: usize,
    pub(crate) results: Vec<Row>,
    pub(crate) failures: Vec<FailedCase>,
}

/// One workload.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    workload: String,
    /// What is read, as `--raw` takes it.
    video: String,
    /// Frames measured.
    frames: u64,
    /// Of all stages together, without a profile.
    frames_per_second: f64,
    #[serde(flatten)]
    stages: Stages,
}

/// How to measure.
#[derive(Debug)]
pub(crate) struct FeedRequest<'a> {
    pub(crate) device: Device,
    pub(crate) filter: &'a str,
    pub(crate) seconds: f64,
    pub(crate) frames_in_flight: usize,
}

/// The names of the workloads.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FEEDS.iter().map(|(name, ..)| *name)
}

/// Measures the workloads whose name contains the filter.
pub(crate) fn run(
    request: &FeedRequest<'_>,
    mut progress: impl FnMut(&str),
) -> Result<FeedDocument, Failure> {
    let chosen: Vec<&Feed> = FEEDS.iter().filter(|(name, ..)| name.contains(request.filter)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = names().collect();
        return Err(Failure::Request(format!(
            "no workload of suite feed has '{}' in its name; there are: {}",
            request.filter,
            names.join(", ")
        )));
    }
    let mut document = FeedDocument {
        environment: environment(&request.device)?,
        frames_in_flight: request.frames_in_flight,
        results: Vec::new(),
        failures: Vec::new(),
    };
    for feed in chosen {
        progress(feed.0);
        match measure(request, feed) {
            Ok(row) => document.results.push(row),
            Err(failure) => document.failures.push(FailedCase {
                workload: feed.0.to_owned(),
                batch: 1,
                error: failure.message().unwrap_or_default().to_owned(),
            }),
        }
    }
    Ok(document)
}

fn measure(request: &FeedRequest<'_>, &(name, video, line, mono): &Feed) -> Result<Row, Failure> {
    let raw: RawVideo = video.parse().map_err(Failure::Running)?;
    let frames = frames(&raw)?;
    // Planned and loaded, then as many frames as fill the time.
    let mut plain = Run::new(request, raw, (line, mono), false)?;
    plain.run(&frames, FEW)?;
    let few = plain.run(&frames, FEW)?;
    let rate = few.frames as f64 / few.elapsed.as_secs_f64().max(1e-9);
    let count = ((rate * request.seconds) as u64).clamp(FEW, 1_000_000);
    let whole = plain.run(&frames, count)?;
    drop(plain);
    let mut profiled = Run::new(request, raw, (line, mono), true)?;
    profiled.run(&frames, FEW)?;
    let stages = profiled.run(&frames, count.min(2000))?.stages;
    let frames_per_second = whole.frames as f64 / whole.elapsed.as_secs_f64().max(1e-9);
    Ok(Row { workload: name.to_owned(), video: video.to_owned(), frames: count, frames_per_second, stages })
}

/// A pipeline that video goes through.
struct Run<'a> {
    pipeline: Pipeline,
    format: Option<FormatArg>,
    target: Option<Target>,
    request: &'a FeedRequest<'a>,
    said: Said,
    limits: Limits,
}

impl<'a> Run<'a> {
    fn new(
        request: &'a FeedRequest<'a>,
        raw: RawVideo,
        (line, mono): (&str, bool),
        profile: bool,
    ) -> Result<Self, Failure> {
        let config = PipelineConfig {
            device: request.device.clone(),
            pinned_pool_size: 1 << 30,
            enable_profiling: profile,
            ..PipelineConfig::default()
        };
        let pipeline = Pipeline::from_spec(&PipelineSpec::parse_line(line)?, config)?;
        let (matrix, range) = (Some(Matrix::Bt709), Some(Range::Limited));
        let said = Said { raw: Some(raw), matrix, range, chroma: ChromaFilter::Nearest, siting: None };
        let limits = Limits::new(mip_io::ReadOptions::default(), None);
        let format = mono.then_some(FormatArg::Mono);
        Ok(Self { pipeline, format, target: None, request, said, limits })
    }

    fn run(&mut self, frames: &Arc<[u8]>, count: u64) -> Result<video::Outcome, Failure> {
        let whole = frames.len() as u64 / DIFFERENT;
        let input = Around { bytes: frames.clone(), at: 0, left: count * whole };
        let source = Source::of(Box::new(input), "frames in memory", self.said, &self.limits)?;
        if self.target.is_none() {
            let name = video::input_name(&self.pipeline)?;
            let sees_color = self.pipeline.task_graph().inputs().contains(&name);
            self.pipeline.read_video(&name, source.format, source.color())?;
            self.target = Some(Target::new(&mut self.pipeline, &source, sees_color, self.format, true)?);
        }
        let target = self.target.as_ref().expect("just made");
        let nowhere = Path::new(if cfg!(windows) { "NUL" } else { "/dev/null" });
        let output = Output::begin(WholeFile::create(nowhere)?, nowhere, target)?;
        let in_flight = self.request.frames_in_flight;
        let (_open, stop) = Stop::never();
        let outcome = video::run(&mut self.pipeline, source, target, output, in_flight, &stop)?;
        Ok(outcome)
    }
}

/// Frames of noise, one after another.
fn frames(raw: &RawVideo) -> Result<Arc<[u8]>, Failure> {
    let bytes = raw.frame_bytes().map_err(|error| Failure::Running(error.to_string()))?;
    let mut random = SplitMix64::new(1);
    let mask = match raw.format.shift {
        0 => u64::MAX,
        shift => 0x0001_0001_0001_0001_u64 * u64::from((0xFFFF_u32 << shift) as u16),
    };
    let mut frames = vec![0; bytes * DIFFERENT as usize];
    for word in frames.chunks_mut(8) {
        word.copy_from_slice(&(random.next_u64() & mask).to_ne_bytes()[..word.len()]);
    }
    Ok(frames.into())
}

/// Bytes that are read again and again, so many in all.
struct Around {
    bytes: Arc<[u8]>,
    at: usize,
    left: u64,
}

impl Read for Around {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count =
            to.len().min(self.bytes.len() - self.at).min(usize::try_from(self.left).unwrap_or(usize::MAX));
        to[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at = (self.at + count) % self.bytes.len();
        self.left -= count as u64;
        Ok(count)
    }
}

/// The table for people.
pub(crate) fn render(document: &FeedDocument) -> Vec<String> {
    let Environment { device_name, .. } = &document.environment;
    let mut lines = vec![
        format!(
            "{device_name}: video in memory through a pipeline, {} frames in flight; frames a second, of all and of each stage alone",
            document.frames_in_flight
        ),
        format!(
            "{:<14} {:>8}  {:>8} {:>8} {:>8} {:>8} {:>8}  bottleneck",
            "workload", "all", "read", "upload", "compute", "download", "write"
        ),
    ];
    for row in &document.results {
        let rate = |name: &str| {
            let stage = row.stages.all.iter().find(|stage| stage.name == name);
            stage.map_or_else(|| "-".to_owned(), |stage| format!("{:.0}", stage.frames_per_second))
        };
        let [read, upload, compute, download, write] =
            ["read", "upload", "compute", "download", "write"].map(rate);
        lines.push(format!(
            "{:<14} {:>8.0}  {read:>8} {upload:>8} {compute:>8} {download:>8} {write:>8}  {}",
            row.workload,
            row.frames_per_second,
            row.stages.bottleneck.unwrap_or("frames wait for each other")
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_runs_and_has_its_stages() {
        let request =
            FeedRequest { device: Device::cpu(), filter: "w1 luma", seconds: 0.01, frames_in_flight: 2 };
        let document = run(&request, |_| ()).unwrap();
        assert!(document.failures.is_empty(), "{:?}", document.failures);
        let row = &document.results[0];
        let stages: Vec<&str> = row.stages.all.iter().map(|stage| stage.name).collect();
        assert_eq!(stages, ["read", "compute", "write"]);
        assert!(row.frames >= FEW && row.frames_per_second > 0.0);
        assert!(render(&document)[2].starts_with("w1 luma"));
    }

    #[test]
    fn names_that_are_not_there_list_those_that_are() {
        let request = FeedRequest { device: Device::cpu(), filter: "w9", seconds: 0.1, frames_in_flight: 2 };
        let error = run(&request, |_| ()).unwrap_err();
        assert!(error.message().unwrap().contains("blur luma"), "{error:?}");
    }

    #[test]
    fn frames_come_around_as_often_as_asked_for() {
        let mut input = Around { bytes: [1, 2, 3].into(), at: 0, left: 7 };
        let mut all = Vec::new();
        input.read_to_end(&mut all).unwrap();
        assert_eq!(all, [1, 2, 3, 1, 2, 3, 1]);
    }
}
