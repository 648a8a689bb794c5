use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use mini_image_pipe::{FrameResult, Pipeline, StreamOptions};
use mip_core::ImageBuffer;
use mip_runtime::TaskReport;

use super::{Output, Source, Target};
use crate::failure::Failure;
use crate::work::Limits;

/// What came of a stream.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Frames written.
    pub(crate) frames: u64,
    /// From the first frame read to the last written.
    pub(crate) elapsed: Duration,
    /// Invocations summed over all frames, and the latest states.
    pub(crate) tasks: Vec<TaskReport>,
}

/// Takes every frame through the pipeline. Ends at the first failure; frames before it are written.
pub(crate) fn run(
    pipeline: &mut Pipeline,
    source: Source,
    target: &Target,
    output: Output,
    frames_in_flight: usize,
    limits: &Limits,
) -> Result<Outcome, Failure> {
    let start = Instant::now();
    let frames = source.start(pipeline.memory()?, limits)?;
    let (results, writer) = output.start(target, limits)?;
    let mut collector = Collector { results, tasks: Vec::new(), progress: progress() };
    let options = StreamOptions { frames_in_flight, ..StreamOptions::default() };
    let mut stream = pipeline.stream(&options)?;
    let mut ended = Ok(());
    for frame in frames {
        ended = frame.and_then(|frame| stream.push(frame).map_or(Ok(()), |result| collector.take(result)));
        if ended.is_err() {
            break;
        }
    }
    // What came before a broken frame is complete, and is written.
    for result in stream {
        let taken = collector.take(result);
        ended = ended.and(taken);
    }
    let Collector { results, tasks, progress } = collector;
    drop(results);
    progress.finish_and_clear();
    let written = writer.join().map_err(|_| Failure::Running("the writing thread panicked".to_owned()))?;
    // What stopped the writer stopped everything else.
    let output = written?;
    ended?;
    Ok(Outcome { frames: output.keep()?, elapsed: start.elapsed(), tasks })
}

struct Collector {
    results: SyncSender<ImageBuffer>,
    tasks: Vec<TaskReport>,
    progress: ProgressBar,
}

impl Collector {
    fn take(&mut self, result: FrameResult) -> Result<(), Failure> {
        let mut frame = result.map_err(|error| Failure::from(mini_image_pipe::Error::from(error)))?;
        add(&mut self.tasks, frame.tasks);
        let image = frame.outputs.pop().map(|(_, image)| image);
        let sent = image.is_some_and(|image| self.results.send(image).is_ok());
        self.progress.inc(1);
        // The writer says why, and its word goes before this one.
        if sent { Ok(()) } else { Err(Failure::Running("the result could not be written".to_owned())) }
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
