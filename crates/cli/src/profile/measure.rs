use std::time::{Duration, Instant};

use mini_image_pipe::profiling::{Profile, Summary};
use mini_image_pipe::{Pipeline, PipelineConfig, StreamOptions};
use mip_core::ImageBuffer;

use super::files::{FileRow, Files, results};
use crate::failure::Failure;
use crate::stages::Watch;

/// How a pipeline is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Executions of so many frames, one after the other.
    Batch(usize),
    /// Frames one by one with so many under way.
    Stream(usize),
}

/// What was measured.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) warm_up: usize,
    pub(crate) repeat: usize,
    /// Of all runs together.
    pub(crate) elapsed: Duration,
    /// The same without a profile.
    pub(crate) unprofiled: Duration,
    /// Of what came before.
    pub(crate) preparation: Summary,
    pub(crate) profile: Profile,
    /// A stream's frames one by one.
    pub(crate) alone: Option<Summary>,
    /// What files take around it.
    pub(crate) files: Vec<FileRow>,
}

/// Warms up and profiles. The same is run once more without a profile, to say what that costs.
pub(crate) fn measure(
    pipeline: &mut Pipeline,
    inputs: &[(String, ImageBuffer)],
    files: Files,
    mode: Mode,
    warm_up: usize,
    repeat: usize,
) -> Result<Measured, Failure> {
    let config = PipelineConfig { enable_profiling: false, ..pipeline.config().clone() };
    let mut plain = Pipeline::from_graph(pipeline.task_graph().clone(), config);
    run(&mut plain, inputs, mode, warm_up.max(1))?;
    let unprofiled = run(&mut plain, inputs, mode, repeat)?;
    if matches!(mode, Mode::Stream(_)) {
        run(&mut plain, inputs, Mode::Batch(1), 1)?;
    }
    let results = results(&plain)?;
    drop(plain);

    let alone = match mode {
        Mode::Stream(_) => {
            run(pipeline, inputs, Mode::Stream(1), warm_up.max(1))?;
            take(pipeline)?;
            run(pipeline, inputs, Mode::Stream(1), repeat)?;
            Some(take(pipeline)?.summary())
        }
        Mode::Batch(_) => None,
    };
    if warm_up > 0 {
        run(pipeline, inputs, mode, warm_up)?;
    }
    let preparation = if warm_up > 0 { take(pipeline)?.summary() } else { Profile::default().summary() };
    let elapsed = run(pipeline, inputs, mode, repeat)?;
    let files = files.measure(&results, &Watch::recording(pipeline.probe()))?;
    let profile = take(pipeline)?;
    Ok(Measured { warm_up, repeat, elapsed, unprofiled, preparation, profile, alone, files })
}

fn take(pipeline: &Pipeline) -> Result<Profile, Failure> {
    pipeline.take_profile().ok_or_else(|| Failure::Running("nothing was recorded".to_owned()))
}

/// From the first begin to the last end.
fn run(
    pipeline: &mut Pipeline,
    inputs: &[(String, ImageBuffer)],
    mode: Mode,
    times: usize,
) -> Result<Duration, Failure> {
    match mode {
        Mode::Batch(1) => {
            for (name, image) in inputs {
                pipeline.set_named_input(name, image)?;
            }
            let start = Instant::now();
            for _ in 0..times {
                pipeline.execute()?;
            }
            Ok(start.elapsed())
        }
        Mode::Batch(frames) => {
            let batch = vec![inputs[0].1.clone(); frames];
            let start = Instant::now();
            for _ in 0..times {
                pipeline.execute_batch(&batch)?;
            }
            Ok(start.elapsed())
        }
        Mode::Stream(frames_in_flight) => stream(pipeline, &inputs[0].1, frames_in_flight, times),
    }
}

fn stream(
    pipeline: &mut Pipeline,
    image: &ImageBuffer,
    frames_in_flight: usize,
    frames: usize,
) -> Result<Duration, Failure> {
    let from = image.view();
    let frame = pipeline.pooled_image(*image.desc(), |to| {
        for plane in 0..image.desc().planes() {
            for y in 0..image.desc().height() as usize {
                to.row_mut(0, plane, y).copy_from_slice(from.row(0, plane, y));
            }
        }
    })?;
    let options = StreamOptions { frames_in_flight, ..StreamOptions::default() };
    let start = Instant::now();
    for result in pipeline.stream_frames(std::iter::repeat_n(frame, frames), &options)? {
        result.map_err(mini_image_pipe::Error::from)?;
    }
    Ok(start.elapsed())
}
