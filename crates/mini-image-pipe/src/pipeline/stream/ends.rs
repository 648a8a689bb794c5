//! The ends of a stream: where frames go in, where results come out.

use std::panic::resume_unwind;

use mip_core::video::VideoFrame;
use mip_core::{ImageBuffer, ImageDesc, ImageViewMut};
use mip_runtime::DeviceImage;
use mip_runtime::frames::Finished;
use mip_runtime::profiling::Kind;

use super::{
    Ends, FrameError, FrameResult, FrameResults, FrameSource, FrameStream, Given, Source, StreamedFrame,
    UnderWay,
};
use crate::Error;
use crate::pipeline::{DeviceFrame, Pipeline};
use crate::spread::Done;

impl FrameSource<'_> {
    /// Starts a frame. Where [`crate::StreamOptions::frames_in_flight`] are under way already, first waits until the oldest has
    /// come out at the other end. `false` when that end is gone: then there is no use in further frames.
    ///
    /// What is wrong with a frame comes out in its place as a [`FrameError`].
    pub fn push(&mut self, frame: ImageBuffer) -> bool {
        self.push_given(Given::Image(frame.into()))
    }

    /// As [`FrameSource::push`], into an input that is video: see [`Pipeline::read_video`].
    pub fn push_video(&mut self, frame: VideoFrame) -> bool {
        self.push_given(Given::Video(frame))
    }

    /// As [`FrameSource::push`], of an image in the device's own memory, which is read in place.
    pub fn push_device(&mut self, image: DeviceImage) -> bool {
        self.push_given(Given::Image(image.into()))
    }

    /// As [`FrameSource::push_video`], of a frame in the device's own memory, which is read in place.
    pub fn push_device_video(&mut self, frame: DeviceFrame) -> bool {
        self.push_given(Given::Device(frame))
    }

    fn push_given(&mut self, frame: Given) -> bool {
        let Self { ends, pipeline, way } = self;
        let ends = match ends {
            Source::One(ends) => ends,
            Source::Spread(begins) => return pipeline.start_spread(frame, *way, begins),
        };
        let number = ends.pushed();
        ends.push(|| {
            let _span = pipeline.scheduler.probe().span(Kind::Execute, || format!("frame {number}"));
            let mut names = Vec::new();
            let started = pipeline.start(frame, *way, &mut names);
            (names, started)
        })
    }
}

impl Iterator for FrameResults {
    type Item = FrameResult;

    /// Waits for the oldest frame under way, or for one to be pushed; `None` when the stream has ended.
    fn next(&mut self) -> Option<FrameResult> {
        match &mut self.0 {
            Ends::One(ends) => ends.next().map(|(names, finished)| result(finished, names)),
            Ends::Spread(results) => results.next().map(spread_result),
        }
    }
}

impl FrameStream<'_> {
    /// Starts a frame. Where [`crate::StreamOptions::frames_in_flight`] are under way already, first waits for the oldest and
    /// hands out its result; `None` until then.
    ///
    /// Parameters and images set before count for this frame and those after it. A frame of another size gets a plan
    /// for it. What is wrong with a frame comes out in its place as a [`FrameError`].
    pub fn push(&mut self, frame: ImageBuffer) -> Option<FrameResult> {
        self.push_given(Given::Image(frame.into()))
    }

    /// As [`FrameStream::push`], into an input that is video: see [`Pipeline::read_video`].
    pub fn push_video(&mut self, frame: VideoFrame) -> Option<FrameResult> {
        self.push_given(Given::Video(frame))
    }

    /// As [`FrameStream::push`], of an image in the device's own memory, which is read in place.
    pub fn push_device(&mut self, image: DeviceImage) -> Option<FrameResult> {
        self.push_given(Given::Image(image.into()))
    }

    /// As [`FrameStream::push_video`], of a frame in the device's own memory, which is read in place.
    pub fn push_device_video(&mut self, frame: DeviceFrame) -> Option<FrameResult> {
        self.push_given(Given::Device(frame))
    }

    fn push_given(&mut self, frame: Given) -> Option<FrameResult> {
        let Self { under_way, pipeline, way } = self;
        let (in_flight, names) = match under_way {
            UnderWay::One { in_flight, names } => (in_flight, names),
            UnderWay::Spread(begins, results) => {
                let oldest = if begins.is_full() { results.next_under_way() } else { None };
                pipeline.start_spread(frame, *way, begins);
                return oldest.map(spread_result);
            }
        };
        let number = in_flight.pushed();
        let mut started = Vec::new();
        // The oldest may be handed out by this very call; its names come first in the queue.
        let finished = in_flight.push(|| {
            let _span = pipeline.scheduler.probe().span(Kind::Execute, || format!("frame {number}"));
            pipeline.start(frame, *way, &mut started)
        });
        names.push_back(started);
        finished.map(|finished| result(finished, names.pop_front().unwrap_or_default()))
    }

    /// Frames under way now.
    pub fn in_flight(&self) -> usize {
        match &self.under_way {
            UnderWay::One { in_flight, .. } => in_flight.len(),
            UnderWay::Spread(begins, _) => begins.under_way(),
        }
    }

    /// Frames pushed so far.
    pub fn pushed(&self) -> u64 {
        match &self.under_way {
            UnderWay::One { in_flight, .. } => in_flight.pushed(),
            UnderWay::Spread(begins, _) => begins.begun(),
        }
    }

    /// Waits for all frames under way; their results in order.
    pub fn finish(self) -> Vec<FrameResult> {
        self.collect()
    }

    /// The pipeline, to set parameters or the images of other inputs between frames.
    pub const fn pipeline(&mut self) -> &mut Pipeline {
        self.pipeline
    }

    /// As [`Pipeline::pooled_image`].
    ///
    /// # Errors
    /// As for [`Pipeline::pooled_image`].
    pub fn frame(
        &self,
        desc: ImageDesc,
        fill: impl FnOnce(&mut ImageViewMut<'_>),
    ) -> Result<ImageBuffer, Error> {
        self.pipeline.pooled_image(desc, fill)
    }
}

impl Iterator for FrameStream<'_> {
    type Item = FrameResult;

    /// Waits for the oldest frame under way; `None` when there is none (until another is pushed).
    fn next(&mut self) -> Option<FrameResult> {
        match &mut self.under_way {
            UnderWay::One { in_flight, names } => {
                let finished = in_flight.pop()?;
                Some(result(finished, names.pop_front().unwrap_or_default()))
            }
            UnderWay::Spread(_, results) => results.next_under_way().map(spread_result),
        }
    }
}

/// What several devices made of a frame.
fn spread_result((number, Done { names, result: done }): (u64, Done)) -> FrameResult {
    let done = done.unwrap_or_else(|panic| resume_unwind(panic));
    result(Finished { number, result: done }, names)
}

fn result(finished: Finished<Error>, names: Vec<String>) -> FrameResult {
    let number = finished.number;
    let refused =
        |error| FrameError { number, error: Box::new(error), outputs: Vec::new(), tasks: Vec::new() };
    let report = finished.result.map_err(refused)?;
    let kept = names.iter().cloned().zip(report.device_outputs);
    let device_outputs = kept.filter_map(|(name, image)| Some((name, image?))).collect();
    let outputs = names.into_iter().zip(report.outputs).filter_map(|(name, image)| Some((name, image?)));
    let (outputs, tasks) = (outputs.collect(), report.tasks);
    match report.error {
        None => Ok(StreamedFrame { number, outputs, device_outputs, tasks }),
        Some(error) => Err(FrameError { number, error: Box::new(error.into()), outputs, tasks }),
    }
}
