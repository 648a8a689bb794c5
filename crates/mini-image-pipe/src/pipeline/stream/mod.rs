//! Frame streams: several frames under way at once, results in order. Opening one here, its ends in `ends`.

mod ends;

use std::collections::VecDeque;
use std::num::NonZero;

use mip_core::video::VideoFrame;
use mip_core::{BatchLayout, ImageBuffer, ImageDesc, ImageViewMut};
use mip_runtime::frames::{Completions, Submissions, stream_ends};
use mip_runtime::{
    CancelToken, DeviceImage, InFlight, RunInput, RunRequest, TaskReport, Ticket, pooled_image_with,
};

use super::Pipeline;
use super::video::{DeviceFrame, device_planes_for, planes_for};
use crate::Error;
use crate::spread::{Begins, Done, Results, reorder};

/// How a [`FrameStream`] runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamOptions {
    /// Frames under way at once, at least 1; 3 by default, so that the upload of one, the kernels of another and the
    /// download of a third overlap. Each takes memory of its own. Of several devices each may have so many under way, and
    /// as many more that are done wait for their turn to come out.
    pub frames_in_flight: usize,
    /// The pipeline input that frames go to; may be left out where there is one. Other inputs keep the images that
    /// were set.
    pub input: Option<String>,
    /// Whether results stay in the device's memory: they are in [`StreamedFrame::device_outputs`] then, and nothing is copied
    /// back.
    pub keep_on_device: bool,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self { frames_in_flight: 3, input: None, keep_on_device: false }
    }
}

/// Frames going through a pipeline: see [`Pipeline::stream`]. Iterating waits for what is under way, oldest first.
#[derive(Debug)]
pub struct FrameStream<'a> {
    // Declared first: dropping it waits for the frames, which use the pipeline's sessions.
    under_way: UnderWay,
    pipeline: &'a mut Pipeline,
    way: Way,
}

/// The frames of a stream that are under way.
#[derive(Debug)]
enum UnderWay {
    /// On one device.
    One {
        in_flight: InFlight<Error>,
        /// Names of their outputs, oldest first.
        names: VecDeque<Vec<String>>,
    },
    /// On several.
    Spread(Begins<Done>, Results<Done>),
}

/// The end of a stream that takes frames: see [`Pipeline::stream_ends`]. Dropping it ends the stream.
#[derive(Debug)]
pub struct FrameSource<'a> {
    ends: Source,
    pipeline: &'a mut Pipeline,
    way: Way,
}

/// Where frames are started.
#[derive(Debug)]
enum Source {
    /// On one device.
    One(Submissions<Vec<String>, Error>),
    /// On several.
    Spread(Begins<Done>),
}

/// What a stream feeds.
#[derive(Debug, Clone, Copy)]
enum Fed {
    /// The input of that index.
    Image(usize),
    /// The video of that index.
    Video(usize),
}

/// How a stream's frames run.
#[derive(Debug, Clone, Copy)]
struct Way {
    fed: Fed,
    keep_on_device: bool,
    /// Frames under way at once.
    max: NonZero<usize>,
}

/// What a stream is fed with.
enum Given {
    Image(RunInput),
    Video(VideoFrame),
    Device(DeviceFrame),
}

/// The end of a stream that gives results: see [`Pipeline::stream_ends`]. Dropping it waits for what is under way.
#[derive(Debug)]
pub struct FrameResults(Ends);

/// Where results come out.
#[derive(Debug)]
enum Ends {
    /// Of one device.
    One(Completions<Vec<String>, Error>),
    /// Of several.
    Spread(Results<Done>),
}

/// A frame's results.
#[derive(Debug, Clone)]
pub struct StreamedFrame {
    /// Its number in the stream, counted from 0.
    pub number: u64,
    /// Task names and results, in the pipeline's order. Each owns its memory.
    pub outputs: Vec<(String, ImageBuffer)>,
    /// Those that stay on the device, where [`StreamOptions::keep_on_device`] says so.
    pub device_outputs: Vec<(String, DeviceImage)>,
    /// All tasks, in topological order.
    pub tasks: Vec<TaskReport>,
}

/// A frame that did not get through. The frames after it go on.
#[derive(Debug, Clone, thiserror::Error)]
#[error("frame {number}: {error}")]
pub struct FrameError {
    /// Its number in the stream, counted from 0.
    pub number: u64,
    /// What happened, naming the task.
    pub error: Box<Error>,
    /// Results of the branches that completed.
    pub outputs: Vec<(String, ImageBuffer)>,
    /// All tasks, in topological order; empty where the frame was refused before it started.
    pub tasks: Vec<TaskReport>,
}

impl From<FrameError> for Error {
    fn from(FrameError { number, error, .. }: FrameError) -> Self {
        Self::Frame { number, error }
    }
}

/// What became of a frame.
pub type FrameResult = Result<StreamedFrame, FrameError>;

impl Pipeline {
    /// Opens a stream of frames: [`FrameStream::push`] starts each without waiting for it, and hands out results in
    /// order once [`StreamOptions::frames_in_flight`] are under way. Results are those of [`Pipeline::execute`].
    ///
    /// ```
    /// # use mini_image_pipe::prelude::*;
    /// # fn main() -> mini_image_pipe::Result<()> {
    /// let mut pipeline = Pipeline::new(PipelineConfig::default());
    /// pipeline.add_operator("flipped", Flip::horizontal())?;
    /// let desc = ImageDesc::new(64, 48, PixelFormat::Rgb, DType::U8)?;
    /// let mut stream = pipeline.stream(&StreamOptions::default())?;
    /// let mut done = Vec::new();
    /// for _ in 0..10 {
    ///     let frame = stream.frame(desc, |pixels| pixels.data_mut().fill(7))?;
    ///     done.extend(stream.push(frame)); // the result of the frame before the three under way
    /// }
    /// done.extend(stream); // waits for the rest
    /// assert!(done.iter().zip(0..).all(|(frame, n)| frame.as_ref().is_ok_and(|f| f.number == n)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the graph is incomplete, the settings are out of range, there is no such input, or it is not said which
    /// of several.
    pub fn stream(&mut self, options: &StreamOptions) -> Result<FrameStream<'_>, Error> {
        self.config.check()?;
        let max = NonZero::new(options.frames_in_flight).ok_or_else(|| Error::Config {
            setting: "frames_in_flight",
            given: "0".to_owned(),
            allowed: "at least 1".into(),
        })?;
        let fed = self.stream_input(options.input.as_deref())?;
        let way = Way { fed, keep_on_device: options.keep_on_device, max };
        let under_way = if self.config.has_one_device() {
            UnderWay::One { in_flight: InFlight::new(max), names: VecDeque::new() }
        } else {
            if options.keep_on_device {
                let text =
                    "results of several devices come back to the host; keep_on_device takes one device";
                return Err(Error::Usage(text.to_owned()));
            }
            let (begins, results) = reorder(self.spread()?.window(max));
            UnderWay::Spread(begins, results)
        };
        Ok(FrameStream { under_way, pipeline: self, way })
    }

    /// A stream with two ends, for sources that give frames slowly: the one takes frames, the other, usually on a thread of
    /// its own, gives each result as soon as it is done and does not wait for further frames.
    ///
    /// ```
    /// # use mini_image_pipe::prelude::*;
    /// # fn main() -> mini_image_pipe::Result<()> {
    /// let mut pipeline = Pipeline::new(PipelineConfig::default());
    /// pipeline.add_operator("flipped", Flip::horizontal())?;
    /// let desc = ImageDesc::new(64, 48, PixelFormat::Rgb, DType::U8)?;
    /// let (mut source, results) = pipeline.stream_ends(&StreamOptions::default())?;
    /// let counting = std::thread::spawn(move || results.filter(Result::is_ok).count());
    /// for _ in 0..10 {
    ///     assert!(source.push(ImageBuffer::new(desc)?)); // waits while three are under way
    /// }
    /// drop(source); // the end of the stream
    /// assert_eq!(counting.join().unwrap(), 10);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Pipeline::stream`].
    pub fn stream_ends(&mut self, options: &StreamOptions) -> Result<(FrameSource<'_>, FrameResults), Error> {
        let FrameStream { pipeline, way, under_way } = self.stream(options)?;
        let (ends, results) = match under_way {
            UnderWay::One { .. } => {
                let (ends, results) = stream_ends(way.max);
                (Source::One(ends), Ends::One(results))
            }
            UnderWay::Spread(begins, results) => (Source::Spread(begins), Ends::Spread(results)),
        };
        Ok((FrameSource { ends, pipeline, way }, FrameResults(results)))
    }

    /// [`Pipeline::stream`] over all frames of an iterator: gives a result for each, in order, and takes frames
    /// only as results are asked for.
    ///
    /// # Errors
    /// As for [`Pipeline::stream`].
    pub fn stream_frames<I: IntoIterator<Item = ImageBuffer>>(
        &mut self,
        frames: I,
        options: &StreamOptions,
    ) -> Result<impl Iterator<Item = FrameResult> + use<'_, I>, Error> {
        let mut stream = self.stream(options)?;
        let mut frames = frames.into_iter().fuse();
        Ok(std::iter::from_fn(move || {
            frames.by_ref().find_map(|frame| stream.push(frame)).or_else(|| stream.next())
        }))
    }

    fn stream_input(&mut self, name: Option<&str>) -> Result<Fed, Error> {
        if self.graph.inputs().is_empty() {
            self.declare_only_input()?;
        }
        self.graph.validate()?;
        let names = self.graph.inputs();
        let planes: usize = self.video.iter().map(|video| video.planes.len()).sum();
        match name {
            None if self.video.len() == 1 && planes == names.len() => return Ok(Fed::Video(0)),
            None => {}
            Some(name) => {
                if let Some(video) = self.video.iter().position(|video| video.name == name) {
                    return Ok(Fed::Video(video));
                }
            }
        }
        let listed = || names.iter().map(|n| format!("@{n}")).collect::<Vec<_>>().join(", ");
        match (name, names.len()) {
            (None, 1) => Ok(Fed::Image(0)),
            (None, several) => Err(Error::Usage(format!(
                "a stream feeds one pipeline input, but this pipeline has {several}: {}; name one in \
                 StreamOptions::input and set the others",
                listed()
            ))),
            (Some(name), _) => names.iter().position(|n| n == name).map(Fed::Image).ok_or_else(|| {
                Error::Usage(format!("there is no pipeline input '@{name}'; inputs: {}", listed()))
            }),
        }
    }
}

impl Pipeline {
    /// Starts a frame; notes the names of its outputs.
    fn start(
        &mut self,
        frame: Given,
        Way { fed, keep_on_device, max }: Way,
        names: &mut Vec<String>,
    ) -> Result<Ticket, Error> {
        let images = self.frame_images(frame, fed)?;
        let descs: Vec<ImageDesc> = images.iter().map(|image| *image.desc()).collect();
        let ready = self.ready_in_turn(&descs, max)?;
        let plan = ready.session.plan();
        *names = plan.outputs.iter().map(|output| plan.tasks[output.task].name.to_string()).collect();
        let request = RunRequest { uniforms: ready.uniforms, keep_on_device, ..RunRequest::of(images) };
        Ok(ready.session.submit(request)?)
    }

    /// Starts a frame on whichever device is free. `false` when nobody wants its result.
    fn start_spread(&mut self, frame: Given, way: Way, begins: &Begins<Done>) -> bool {
        let Some(number) = begins.begin() else { return false };
        let images = self.frame_images(frame, way.fed);
        self.submit_spread(images, &CancelToken::new(), way.max, (begins, number));
        true
    }

    /// The images of all inputs for a frame.
    fn frame_images(&self, frame: Given, fed: Fed) -> Result<Vec<RunInput>, Error> {
        let images = match (fed, frame) {
            (Fed::Image(index), Given::Image(image)) => vec![(index, image)],
            (Fed::Video(index), Given::Video(frame)) => planes_for(&self.video[index], &frame)?,
            (Fed::Video(index), Given::Device(frame)) => device_planes_for(&self.video[index], &frame)?,
            (Fed::Image(_), Given::Video(_) | Given::Device(_)) => {
                return Err(Error::Usage("this stream takes images; see read_video".to_owned()));
            }
            (Fed::Video(_), Given::Image(_)) => {
                return Err(Error::Usage("this stream takes video: use push_video".to_owned()));
            }
        };
        if let Some((_, batch)) = images.iter().find(|(_, image)| image.batch_size() != 1) {
            let text = format!("a stream takes single images, but one holds {}", batch.batch_size());
            return Err(Error::Usage(text));
        }
        self.config.check()?;
        self.graph.validate()?;
        self.inputs_with(&images)
    }

    /// An image in pooled memory that the device copies from at full speed: filled once, then handed to
    /// [`FrameStream::push`] or [`Pipeline::set_input`], and back in its pool when the last clone is dropped.
    /// What is in it before it is filled is unspecified.
    ///
    /// # Errors
    /// When there is no memory, or the device cannot be opened.
    pub fn pooled_image(
        &self,
        desc: ImageDesc,
        fill: impl FnOnce(&mut ImageViewMut<'_>),
    ) -> Result<ImageBuffer, Error> {
        Ok(pooled_image_with(&*self.memory()?, BatchLayout::tight(desc, 1)?, fill)?)
    }
}
