use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, select, unbounded};
use mini_image_pipe::profiling::{Kind, Profile};
use mini_image_pipe::{Device, FrameSource, Pipeline, StreamOptions};
use mip_core::video::VideoFrame;
use mip_runtime::TaskReport;

use super::source::Frame;
use super::{Output, Source, Target};
use crate::failure::Failure;
use crate::interrupt::{Signal, Stop};
use crate::stages::{Meter, Stages, StreamTimes};

/// What came of a stream.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Frames written.
    pub(crate) frames: u64,
    /// From the first frame read to the last written.
    pub(crate) elapsed: Duration,
    /// Invocations summed over all frames, and the latest states.
    pub(crate) tasks: Vec<TaskReport>,
    /// What ended it early.
    pub(crate) interrupted: Option<Signal>,
    /// Where the frames of an interrupted stream are, if not where they should be.
    pub(crate) beside: Option<PathBuf>,
    /// What its stages took.
    pub(crate) stages: Stages,
    /// Where the pipeline was profiled.
    pub(crate) profile: Option<Profile>,
}

/// Takes every frame through the pipeline. Ends at the first failure, and at a signal; frames before it are written.
pub(crate) fn run(
    pipeline: &mut Pipeline,
    source: Source,
    target: &Target,
    output: Output,
    frames_in_flight: usize,
    stop: &Stop,
) -> Result<Outcome, Failure> {
    let reading = Meter::recording(pipeline.probe(), Kind::Read);
    let frames = source.start(pipeline.frame_memory(), reading.clone())?;
    // No more of them than frames are under way.
    let (send, kept) = unbounded();
    let send = target.keeps_chroma().then_some(send);
    let device = pipeline.config().device.clone();
    let kept_on = send.as_ref().map(|send| (send, &device));
    let push = |ends: &mut FrameSource<'_>| push_all(&frames, ends, kept_on, stop);
    through(pipeline, push, (target, output, kept), frames_in_flight, Some(&reading), stop)
}

/// [`run`] with frames that `push` gives, and what of them is kept for their chroma; `reading` adds up how long they are read,
/// where one thread does it.
pub(super) fn through(
    pipeline: &mut Pipeline,
    push: impl FnOnce(&mut FrameSource<'_>) -> Result<(), Failure>,
    (target, output, kept): (&Target, Output, Receiver<VideoFrame>),
    frames_in_flight: usize,
    reading: Option<&Meter>,
    stop: &Stop,
) -> Result<Outcome, Failure> {
    let start = Instant::now();
    let options = StreamOptions { frames_in_flight, ..StreamOptions::default() };
    let writing = Meter::recording(pipeline.probe(), Kind::Write);
    let (mut ends, results) = pipeline.stream_ends(&options)?;
    let writer = output.start(results, target, kept, writing.clone())?;
    let read = push(&mut ends);
    // The end of the stream: what is under way is written.
    drop(ends);
    let panicked = |_| Failure::Running("the writing thread panicked".to_owned());
    let mut written = writer.join().map_err(panicked)?;
    let interrupted = stop.signal();
    // What stopped the writer stopped everything else. A source that breaks off goes down with the same signal.
    std::mem::replace(&mut written.ended, Ok(()))?;
    if interrupted.is_none() {
        read?;
    }
    let tasks = std::mem::take(&mut written.tasks);
    let written_first = written.first;
    let output = written.into_output();
    let frames = output.frames();
    let steady = written_first.map_or(Duration::ZERO, |first| first.elapsed());
    let times = StreamTimes { frames, steady, read: reading.map(Meter::total), write: Some(writing.total()) };
    let profile = pipeline.take_profile();
    let stages = Stages::of_stream(&times, profile.as_ref().map(Profile::summary).as_ref());
    let beside = if interrupted.is_some() {
        output.keep_part()?
    } else {
        output.keep()?;
        None
    };
    Ok(Outcome { frames, elapsed: start.elapsed(), tasks, interrupted, beside, stages, profile })
}

impl Frame {
    /// The frame in the host's memory, where it is copied to from a device.
    fn on_host(&self, device: &Device) -> Result<VideoFrame, Failure> {
        match self {
            Self::Host(frame) => Ok(frame.clone()),
            Self::Device(frame) => {
                let planes = frame.planes().iter().map(|plane| device.download(plane));
                let planes = planes.collect::<Result<Vec<_>, mini_image_pipe::Error>>()?;
                let luma = *planes[0].desc();
                let frame = VideoFrame::new(*frame.format(), luma.width(), luma.height(), planes);
                frame.map_err(|error| mini_image_pipe::Error::from(error).into())
            }
        }
    }
}

/// Until the source ends or breaks off, the other end of the stream is gone, or a signal comes.
pub(super) fn push_all(
    frames: &Receiver<Result<Frame, Failure>>,
    ends: &mut FrameSource<'_>,
    kept: Option<(&Sender<VideoFrame>, &Device)>,
    stop: &Stop,
) -> Result<(), Failure> {
    loop {
        select! {
            recv(stop.receiver()) -> _ => return Ok(()),
            recv(frames) -> frame => {
                // Without a sender the source has ended.
                let Ok(frame) = frame else { return Ok(()) };
                let frame = frame?;
                if stop.signal().is_some() {
                    return Ok(());
                }
                if let Some((kept, device)) = kept && kept.send(frame.on_host(device)?).is_err() {
                    return Ok(());
                }
                let goes_on = match frame {
                    Frame::Host(frame) => ends.push_video(frame),
                    Frame::Device(frame) => ends.push_device_video(frame),
                };
                if !goes_on {
                    return Ok(());
                }
            }
        }
    }
}
