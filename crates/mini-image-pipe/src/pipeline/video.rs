//! Inputs that are YUV video.

use mip_core::BatchLayout;
use mip_core::video::{ChromaSampling, Matrix, Range, VideoColor, VideoFormat, VideoFrame};
use mip_graph::{TaskHandle, VideoInput, VideoOutput};
use mip_runtime::{DeviceImage, RunInput};

use super::Pipeline;
use crate::Error;

impl Pipeline {
    /// Makes a pipeline input one of YUV video, whose frames are given by [`Pipeline::set_video_frame`] or pushed into a
    /// stream. Tasks that read the input get rgb of full range (gray without chroma), which is computed on the device as
    /// a part of what reads it: planes are uploaded, not colours. A pipeline may also read the planes
    /// themselves: see [`mip_graph::TaskGraph::read_video`].
    ///
    /// ```
    /// # use mini_image_pipe::prelude::*;
    /// use mini_image_pipe::video::{Matrix, Range, VideoColor, VideoFormat, VideoFrame};
    /// # fn main() -> mini_image_pipe::Result<()> {
    /// let mut pipeline = Pipeline::new(PipelineConfig::default());
    /// let small = pipeline.add_operator("small", Resize::to(32, 24))?;
    /// pipeline.read_video("input", VideoFormat::NV12, Some(VideoColor::new(Matrix::Bt709, Range::Limited)))?;
    /// // As a camera or a decoder hands it over: planes with strides of their own, owned or borrowed.
    /// let gray = |width, height| ImageDesc::new(width, height, PixelFormat::Gray, DType::U8);
    /// let planes = vec![ImageBuffer::new(gray(64, 48)?)?, ImageBuffer::new(gray(64, 24)?)?];
    /// let frame = VideoFrame::new(VideoFormat::NV12, 64, 48, planes)?;
    /// pipeline.set_video_frame("input", &frame)?;
    /// pipeline.execute()?;
    /// assert_eq!(pipeline.output(small)?.desc().to_string(), "32x24 rgb u8");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such input, it is video already, or its colours are read and `color` does not say what they are.
    pub fn read_video(
        &mut self,
        input: &str,
        format: VideoFormat,
        color: Option<VideoColor>,
    ) -> Result<(), Error> {
        if self.video.iter().any(|video| video.name == input) {
            return Err(Error::Usage(format!("'@{input}' is video already")));
        }
        if self.graph.inputs().is_empty() {
            self.declare_only_input()?;
        }
        let before = self.graph.inputs().to_vec();
        let video = self.graph.read_video(input, format, color)?;
        // The images of other inputs stay with their names.
        let mut bound: Vec<Option<RunInput>> = vec![None; self.graph.inputs().len()];
        for (name, image) in before.iter().zip(std::mem::take(&mut self.bound)) {
            if let Some(place) = self.graph.inputs().iter().position(|input| input == name) {
                bound[place] = image;
            }
        }
        self.bound = bound;
        for other in &mut self.video {
            for (_, index) in &mut other.planes {
                let place = self.graph.inputs().iter().position(|input| *input == before[*index]);
                *index = place.unwrap_or(*index);
            }
        }
        self.video.push(video);
        Ok(())
    }

    /// Makes a task's result one of planar YUV video: what the pipeline gives are then the planes of it, gray images, made on the
    /// device as a part of what computes the colours. `samples` says how many pixels share chroma, and bits of a sample.
    ///
    /// ```
    /// # use mini_image_pipe::prelude::*;
    /// use mini_image_pipe::video::{ChromaSampling, Matrix, Range};
    /// # fn main() -> mini_image_pipe::Result<()> {
    /// let mut pipeline = Pipeline::new(PipelineConfig::default());
    /// let small = pipeline.add_operator("small", Resize::to(32, 24))?;
    /// let video = pipeline.write_video(small, (ChromaSampling::C420, 8), (Matrix::Bt709, Range::Limited))?;
    /// let photo = ImageBuffer::new(ImageDesc::new(64, 48, PixelFormat::Rgb, DType::U8)?)?;
    /// pipeline.set_input(small, &photo)?;
    /// pipeline.execute()?;
    /// let frame = pipeline.video_frame(&video)?;
    /// assert_eq!((frame.format().to_string(), frame.planes()[1].desc().to_string()), ("i420".into(), "16x12 gray u8".into()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the task is unknown.
    pub fn write_video(
        &mut self,
        task: TaskHandle,
        samples: (ChromaSampling, u32),
        color: (Matrix, Range),
    ) -> Result<VideoOutput, Error> {
        Ok(self.graph.write_video(task, samples, color)?)
    }

    /// The frame of the last execution that a video output of it has.
    ///
    /// # Errors
    /// As [`Pipeline::output`].
    pub fn video_frame(&self, video: &VideoOutput) -> Result<VideoFrame, Error> {
        let planes = video.planes.iter().map(|&plane| self.output(plane));
        let planes = planes.collect::<Result<Vec<_>, Error>>()?;
        let luma = *planes[0].desc();
        Ok(VideoFrame::new(video.format, luma.width(), luma.height(), planes)?)
    }

    /// For each input that is a plane of video, in the inputs' order where all are of one: the plane's number in its frame,
    /// and the input's.
    pub fn video_inputs(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut planes: Vec<(usize, usize)> =
            self.video.iter().flat_map(|video| video.planes.clone()).collect();
        planes.sort_by_key(|(_, input)| *input);
        planes.into_iter()
    }

    /// Gives an input that is video the frame for the executions to come. Its planes are shared, not copied.
    ///
    /// # Errors
    /// When there is no such input, or the frame has another format.
    pub fn set_video_frame(&mut self, input: &str, frame: &VideoFrame) -> Result<(), Error> {
        let found = self.video.iter().find(|video| video.name == input);
        let video = found.ok_or_else(|| Error::Usage(format!("'@{input}' is no video: see read_video")))?;
        for (index, image) in planes_for(video, frame)? {
            self.bind(index, image);
        }
        Ok(())
    }

    /// As [`Pipeline::set_video_frame`], with planes in the device's own memory, which are read in place.
    ///
    /// # Errors
    /// When there is no such input, or the frame has another format.
    pub fn set_device_frame(&mut self, input: &str, frame: &DeviceFrame) -> Result<(), Error> {
        let found = self.video.iter().find(|video| video.name == input);
        let video = found.ok_or_else(|| Error::Usage(format!("'@{input}' is no video: see read_video")))?;
        for (index, image) in device_planes_for(video, frame)? {
            self.bind(index, image);
        }
        Ok(())
    }
}

/// A frame of video in device memory, such as a decoder's surface: its planes, each with strides of its own.
#[derive(Debug, Clone)]
pub struct DeviceFrame {
    format: VideoFormat,
    planes: Vec<DeviceImage>,
}

impl DeviceFrame {
    /// A frame of planes that lie anywhere on the device, in the order of [`VideoFormat::planes`].
    ///
    /// # Errors
    /// When they are not the planes of such a frame.
    pub fn new(
        format: VideoFormat,
        width: u32,
        height: u32,
        planes: Vec<DeviceImage>,
    ) -> Result<Self, Error> {
        let layouts: Vec<BatchLayout> = planes.iter().map(|image| *image.layout()).collect();
        format.check_planes(width, height, &layouts)?;
        Ok(Self { format, planes })
    }

    /// How its samples are arranged.
    pub const fn format(&self) -> &VideoFormat {
        &self.format
    }

    /// Its planes, in the order of [`VideoFormat::planes`].
    pub fn planes(&self) -> &[DeviceImage] {
        &self.planes
    }
}

/// As [`planes_for`], of a frame on the device.
pub(super) fn device_planes_for(
    video: &VideoInput,
    frame: &DeviceFrame,
) -> Result<Vec<(usize, RunInput)>, Error> {
    check_format(video, frame.format)?;
    let plane = |&(plane, input): &(usize, usize)| (input, frame.planes[plane].clone().into());
    Ok(video.planes.iter().map(plane).collect())
}

fn check_format(video: &VideoInput, given: VideoFormat) -> Result<(), Error> {
    let (name, format) = (&video.name, video.format);
    if given == format {
        return Ok(());
    }
    Err(Error::Usage(format!("'@{name}' is {format} video, but the frame is {given}")))
}

/// The images of a frame for the inputs that read its planes.
pub(super) fn planes_for(video: &VideoInput, frame: &VideoFrame) -> Result<Vec<(usize, RunInput)>, Error> {
    check_format(video, *frame.format())?;
    let planes = frame.planes();
    Ok(video.planes.iter().map(|&(plane, input)| (input, planes[plane].clone().into())).collect())
}
