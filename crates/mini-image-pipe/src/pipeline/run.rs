//! The short way: a pipeline from text, one image in and one out.

use std::path::Path;

use mip_core::ImageBuffer;
use mip_graph::PipelineSpec;
use mip_runtime::{CancelToken, RunInput};

use super::Pipeline;
use crate::{Device, Error, PipelineConfig, StreamOptions};

impl Pipeline {
    /// A pipeline from its one-line form, on the CPU; [`Pipeline::on`] chooses another device.
    ///
    /// ```
    /// # use mini_image_pipe::prelude::*;
    /// # fn main() -> mini_image_pipe::Result<()> {
    /// let photo = ImageBuffer::new(ImageDesc::new(1280, 720, PixelFormat::Rgb, DType::U8)?)?;
    /// let edges = Pipeline::parse("resize width=640 ! sobel")?.run(&photo)?;
    /// assert_eq!(edges.desc().to_string(), "640x360 gray u8");
    ///
    /// let refused = Pipeline::parse("resize width=640 ! gausian_blur").unwrap_err();
    /// assert!(refused.to_string().contains("did you mean 'gaussian_blur'?"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What is wrong in the text, with line and column: see [`PipelineSpec::parse_line`].
    pub fn parse(line: &str) -> Result<Self, Error> {
        Self::from_spec(&PipelineSpec::parse_line(line)?, PipelineConfig::default())
    }

    /// A pipeline from the text of a pipeline file, on the CPU.
    ///
    /// # Errors
    /// What is wrong in the text, with line and column.
    pub fn parse_toml(text: &str) -> Result<Self, Error> {
        Self::from_spec(&PipelineSpec::parse_toml(text, "pipeline")?, PipelineConfig::default())
    }

    /// A pipeline from a file in TOML, on the CPU.
    ///
    /// # Errors
    /// When the file cannot be read, or what is wrong in it, with line and column.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let name = mip_core::text::path(path);
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::PipelineFile { path: name.to_string(), reason: error.to_string() })?;
        Self::from_spec(&PipelineSpec::parse_toml(&text, &name)?, PipelineConfig::default())
    }

    /// The same graph on another device. Plans, results and counters so far are forgotten.
    #[must_use]
    pub fn on(self, device: Device) -> Self {
        let config = PipelineConfig { device, ..self.config.clone() };
        self.with_config(config)
    }

    /// The same graph, run in another way. Plans, results and counters so far are forgotten.
    #[must_use]
    pub fn with_config(self, config: PipelineConfig) -> Self {
        let Self { graph, bound, video, .. } = self;
        Self { bound, video, ..Self::from_graph(graph, config) }
    }

    /// Runs the pipeline, which has one input and one output, over an image. Pixels of the input are shared, not copied, and
    /// let go of; the result is handed over, so that [`Pipeline::output`] does not have it.
    ///
    /// [`Pipeline::report`] tells what the run did. [`Pipeline::run_named`] takes several inputs and gives several outputs.
    ///
    /// # Errors
    /// When the pipeline has several inputs or outputs, and as [`Pipeline::execute`].
    pub fn run(&mut self, image: &ImageBuffer) -> Result<ImageBuffer, Error> {
        self.only_way("run")?;
        let mut outputs = self.run_images(vec![RunInput::Host(image.clone())])?;
        // A run without an error has all outputs, and there is one.
        Ok(outputs.remove(0).1)
    }

    /// Runs a pipeline of any number of inputs and outputs: images by the names of inputs (without `@`), results by the names
    /// of tasks, in the pipeline's order. Inputs left out keep the image that [`Pipeline::set_named_input`] gave them.
    ///
    /// ```
    /// # use mini_image_pipe::prelude::*;
    /// # fn main() -> mini_image_pipe::Result<()> {
    /// let photo = ImageBuffer::new(ImageDesc::new(64, 48, PixelFormat::Gray, DType::U8)?)?;
    /// let line = "inputs=left,right ! absdiff inputs=@left,@right ! mask:threshold threshold=9 ! edges:sobel inputs=absdiff";
    /// let mut pipeline = Pipeline::parse(line)?;
    /// let results = pipeline.run_named(&[("left", &photo), ("right", &photo)])?;
    /// assert_eq!(results.iter().map(|(task, _)| task.as_str()).collect::<Vec<_>>(), ["mask", "edges"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such input, one has no image, and as [`Pipeline::execute`].
    pub fn run_named(
        &mut self,
        images: &[(&str, &ImageBuffer)],
    ) -> Result<Vec<(String, ImageBuffer)>, Error> {
        if self.graph.inputs().is_empty() {
            self.declare_only_input()?;
        }
        self.graph.validate()?;
        let mut given = Vec::with_capacity(images.len());
        for (name, image) in images {
            given.push((self.input_index(name)?, RunInput::Host((*image).clone())));
        }
        let images = self.inputs_with(&given)?;
        self.run_images(images)
    }

    /// Runs single images, one for each input, and hands the results over.
    fn run_images(&mut self, images: Vec<RunInput>) -> Result<Vec<(String, ImageBuffer)>, Error> {
        self.config.check()?;
        if let Some(batch) = images.iter().find(|image| image.batch_size() != 1) {
            return Err(Error::Usage(format!(
                "run takes single images, but one holds {}; use run_batch",
                batch.batch_size()
            )));
        }
        self.run_chunks(vec![images], 1, &CancelToken::new())?;
        Ok(self.results.hand_over().collect())
    }

    /// Runs the pipeline, which has one input and one output, over frames of one shape; results are in their order, and handed
    /// over as by [`Pipeline::run`]. See [`Pipeline::execute_batch`].
    ///
    /// # Errors
    /// When the pipeline has several inputs or outputs, and as [`Pipeline::execute_batch`].
    pub fn run_batch(&mut self, frames: &[ImageBuffer]) -> Result<Vec<ImageBuffer>, Error> {
        self.only_way("run_batch")?;
        self.execute_batch(frames)?;
        Ok(self.results.hand_over().map(|(_, image)| image).collect())
    }

    /// Runs the pipeline, which has one input and one output, over all frames that an iterator gives: results come out in
    /// their order, three frames are under way at once, and frames are taken only as results are asked for. A frame that
    /// fails is an error in its place; those after it go on.
    ///
    /// ```
    /// # use mini_image_pipe::prelude::*;
    /// # fn main() -> mini_image_pipe::Result<()> {
    /// let desc = ImageDesc::new(64, 48, PixelFormat::Rgb, DType::U8)?;
    /// let camera = (0..10).map(|_| ImageBuffer::new(desc).expect("memory for a small image"));
    /// let mut pipeline = Pipeline::parse("resize width=32 ! sobel")?;
    /// for edges in pipeline.run_stream(camera)? {
    ///     assert_eq!(edges?.desc().width(), 32);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the pipeline has several inputs or outputs.
    pub fn run_stream<I: IntoIterator<Item = ImageBuffer>>(
        &mut self,
        frames: I,
    ) -> Result<impl Iterator<Item = Result<ImageBuffer, Error>> + use<'_, I>, Error> {
        self.only_way("run_stream")?;
        let results = self.stream_frames(frames, &StreamOptions::default())?;
        Ok(results.map(|frame| {
            let mut outputs = frame?.outputs;
            // A frame without an error has all outputs, and there is one.
            Ok(outputs.remove(0).1)
        }))
    }

    /// Refuses a pipeline of several inputs or outputs; `method` is what needs it to have one of each.
    fn only_way(&mut self, method: &str) -> Result<(), Error> {
        if self.graph.inputs().is_empty() {
            self.declare_only_input()?;
        }
        self.graph.validate()?;
        let inputs = self.graph.inputs();
        if inputs.len() != 1 {
            let names = inputs.iter().map(|name| format!("@{name}")).collect::<Vec<_>>().join(", ");
            return Err(Error::Usage(format!(
                "{method} feeds one pipeline input, but this pipeline has {} ({names}); use run_named",
                inputs.len()
            )));
        }
        let outputs = self.graph.outputs();
        if outputs.len() == 1 {
            return Ok(());
        }
        let names = outputs.iter().map(|task| self.graph.name(*task)).collect::<Result<Vec<_>, _>>()?;
        Err(Error::Usage(format!(
            "{method} gives one output, but this pipeline has {} ({}); name one (outputs=NAME in text, mark_output in \
             Rust), or use run_named",
            names.len(),
            names.join(", ")
        )))
    }
}
