//! Frames of a video into pictures, and pictures into frames of one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use mini_image_pipe::profiling::{Kind, Profile};
use mini_image_pipe::{FrameResults, FrameSource, Pipeline, StreamOptions};
use mip_core::{ImageBuffer, ImageDesc, MemoryBudget, text::quoted_path, threads};
use mip_io::{Carried, FileFormat, WriteOptions};
use mip_runtime::TaskReport;

use super::output::{add, progress};
use super::run::{push_all, through};
use super::{Numbered, Outcome, Output, Source, Target};
use crate::args::warning_line;
use crate::console;
use crate::failure::Failure;
use crate::ffmpeg::Pick;
use crate::interrupt::Stop;
use crate::stages::{Meter, Stages, StreamTimes, Watch};
use crate::work::{Feed, Job, Limits, Next, Sink};

/// Where the pictures of a video go.
pub(crate) struct Pictures {
    pub(crate) names: Numbered,
    pub(crate) format: FileFormat,
    pub(crate) options: WriteOptions,
    /// Which frames they are of.
    pub(crate) pick: Pick,
    /// Frames that there will be, where that is known.
    pub(crate) total: Option<u64>,
}

/// What was written.
#[derive(Default)]
struct Written {
    frames: u64,
    tasks: Vec<TaskReport>,
    files: Vec<PathBuf>,
    ended: Option<Failure>,
}

/// Pictures that are encoded at once.
const AT_ONCE: usize = 8;

/// Takes every frame of a video through the pipeline and writes each result as a picture. Also the names of these, in order.
pub(crate) fn write_pictures(
    pipeline: &mut Pipeline,
    source: Source,
    pictures: &Pictures,
    frames_in_flight: usize,
    limits: &Limits,
    stop: &Stop,
) -> Result<(Outcome, Vec<PathBuf>), Failure> {
    let start = Instant::now();
    let reading = Meter::recording(pipeline.probe(), Kind::Read);
    let watch = Watch::recording(pipeline.probe());
    let frames = source.start(pipeline.frame_memory(), reading.clone())?;
    let options = StreamOptions { frames_in_flight, ..StreamOptions::default() };
    let budget: Arc<MemoryBudget> = limits.budget.clone();
    let (read, written) = std::thread::scope(|scope| -> Result<_, Failure> {
        let sink = Sink::start(scope, AT_ONCE, pictures.format, &pictures.options, &budget, &watch)?;
        let (mut ends, results) = pipeline.stream_ends(&options)?;
        let work = move || pictures_of(results, sink, pictures);
        let writer = threads::spawn_scoped(scope, "mip-write", "write pictures", work)
            .map_err(|none| Failure::Running(none.to_string()))?;
        let read = push_all(&frames, &mut ends, None, stop);
        drop(ends);
        let panicked = |_| Failure::Running("the writing thread panicked".to_owned());
        Ok((read, writer.join().map_err(panicked)?))
    })?;
    let Written { frames, tasks, files, ended } = written;
    if let Some(failure) = ended {
        return Err(failure);
    }
    let interrupted = stop.signal();
    if interrupted.is_none() {
        read?;
    }
    let elapsed = start.elapsed();
    // Pictures are written by several threads.
    let times = StreamTimes { frames, steady: elapsed, read: Some(reading.total()), write: None };
    let profile = pipeline.take_profile();
    let stages = Stages::of_stream(&times, profile.as_ref().map(Profile::summary).as_ref());
    Ok((Outcome { frames, elapsed, tasks, interrupted, beside: None, stages, profile }, files))
}

/// Until the stream ends, or a frame or picture fails.
fn pictures_of(results: FrameResults, mut sink: Sink, pictures: &Pictures) -> Written {
    let mut all = Written::default();
    let progress = progress(pictures.total);
    for result in results {
        let frame = match result.map_err(mini_image_pipe::Error::from) {
            Ok(frame) => frame,
            Err(error) => {
                all.ended = Some(error.into());
                break;
            }
        };
        add(&mut all.tasks, frame.tasks);
        let number = pictures.pick.number(frame.number);
        let several = frame.outputs.len() > 1;
        for (task, image) in frame.outputs {
            let path = pictures.names.path(number, several.then_some(&*task));
            all.files.push(path.clone());
            sink.write(Job { input: 0, path, image, carried: Carried::default() });
        }
        all.ended = sink.finished().into_iter().find_map(|written| written.result.err());
        if all.ended.is_some() {
            break;
        }
        all.frames += 1;
        progress.inc(1);
    }
    let late = sink.close().find_map(|written| written.result.err());
    all.ended = all.ended.or(late);
    progress.finish_and_clear();
    all
}

/// Takes every picture through the pipeline and makes a frame of each result. The first has been read already. `times` gets
/// a number for each.
#[allow(clippy::too_many_arguments, reason = "what a run is made of")]
pub(crate) fn from_pictures(
    pipeline: &mut Pipeline,
    (files, mut feed, first): (&[PathBuf], Feed<ImageBuffer>, ImageBuffer),
    times: &Sender<i64>,
    target: &Target,
    output: Output,
    frames_in_flight: usize,
    limits: &Limits,
    stop: &Stop,
) -> Result<Outcome, Failure> {
    let desc = *first.desc();
    let push = |ends: &mut FrameSource<'_>| {
        let mut next = Some(first);
        let mut number = 0;
        while let Some(image) = next {
            let _ = times.send(number);
            number += 1;
            if !ends.push(image) {
                return Ok(());
            }
            next = next_picture(&mut feed, files, Some(&desc), limits)?;
        }
        Ok(())
    };
    let (_, nothing) = crossbeam_channel::bounded(0);
    through(pipeline, push, (target, output, nothing), frames_in_flight, None, stop)
}

/// How often memory is waited for, a hundredth of a second each time: frames under way give theirs back.
const WAITS: u32 = 1000;

/// The next picture, of the shape of those before; `None` at the end, and after a signal.
pub(crate) fn next_picture(
    feed: &mut Feed<ImageBuffer>,
    files: &[PathBuf],
    like: Option<&ImageDesc>,
    limits: &Limits,
) -> Result<Option<ImageBuffer>, Failure> {
    let mut waits = 0;
    loop {
        let next = feed.next();
        feed.take_warnings().iter().for_each(|warning| console::note(warning_line(warning)));
        match next {
            Next::End => return Ok(None),
            Next::Starved if waits < WAITS => {
                waits += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
            Next::Starved => limits.budget.refuse_waiting(),
            Next::Picture(index, picture) => {
                let picture = picture?;
                let desc = picture.desc();
                return match like {
                    Some(first) if first != desc => Err(Failure::Running(format!(
                        "{} is {desc}, but the pictures before it are {first}; frames of a video are alike",
                        quoted_path(&files[index])
                    ))),
                    _ => Ok(Some(picture)),
                };
            }
        }
    }
}
