//! Inputs that are YUV video.

use mip_core::ImageBuffer;
use mip_core::video::{Matrix, Range, VideoFormat, VideoFrame};
use mip_graph::VideoInput;

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
    /// # fn main() -> Result<(), Error> {
    /// let mut pipeline = Pipeline::new(PipelineConfig::default());
    /// let small = pipeline.add_operator("small", Resize::to(32, 24))?;
    /// pipeline.read_video("input", VideoFormat::NV12, Some((Matrix::Bt709, Range::Limited)))?;
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
        color: Option<(Matrix, Range)>,
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
        let mut bound: Vec<Option<ImageBuffer>> = vec![None; self.graph.inputs().len()];
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
            self.bound.resize(self.graph.inputs().len(), None);
            self.bound[index] = Some(image);
        }
        Ok(())
    }
}

/// The images of a frame for the inputs that read its planes.
pub(super) fn planes_for(video: &VideoInput, frame: &VideoFrame) -> Result<Vec<(usize, ImageBuffer)>, Error> {
    if *frame.format() != video.format {
        let (name, format, given) = (&video.name, video.format, frame.format());
        return Err(Error::Usage(format!("'@{name}' is {format} video, but the frame is {given}")));
    }
    let planes = frame.planes();
    Ok(video.planes.iter().map(|&(plane, input)| (input, planes[plane].clone())).collect())
}
