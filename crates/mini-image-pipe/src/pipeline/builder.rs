//! Pipelines written as a chain of calls.

use mip_graph::TaskGraph;
use mip_ops::Operator;

use super::Pipeline;
use crate::{Device, Error, PipelineConfig};

/// A pipeline being written down: see [`Pipeline::builder`].
///
/// What is wrong is said by [`PipelineBuilder::build`], so that calls chain.
#[derive(Debug)]
#[must_use = "`build` makes the pipeline"]
pub struct PipelineBuilder {
    tasks: Vec<Task>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    config: PipelineConfig,
}

#[derive(Debug)]
struct Task {
    name: String,
    operator: Box<dyn Operator>,
    /// Producers in slot order; `None` for the task before.
    inputs: Option<Vec<String>>,
}

impl Pipeline {
    /// Begins a pipeline as a chain of calls.
    ///
    /// ```
    /// # use mini_image_pipe::prelude::*;
    /// # fn main() -> mini_image_pipe::Result<()> {
    /// let mut sketch = Pipeline::builder()
    ///     .then("gray", ColorConvert::to(PixelFormat::Gray))
    ///     .then("soft", GaussianBlur::new(5))
    ///     .join("edges", Sobel::new(), ["gray"])
    ///     .join("mix", Blend::new(0.5), ["soft", "edges"])
    ///     .build()?;
    /// let photo = ImageBuffer::new(ImageDesc::new(64, 48, PixelFormat::Rgb, DType::U8)?)?;
    /// assert_eq!(sketch.run(&photo)?.desc().to_string(), "64x48 gray u8");
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder() -> PipelineBuilder {
        let config = PipelineConfig::default();
        PipelineBuilder { tasks: Vec::new(), inputs: Vec::new(), outputs: Vec::new(), config }
    }
}

impl PipelineBuilder {
    /// Adds a task that takes the result of the task before it; the first takes the pipeline input.
    pub fn then(self, name: &str, operator: impl Operator + 'static) -> Self {
        self.task(name, Box::new(operator), None)
    }

    /// Adds a task that takes the results named, in the order of its input slots. `"@input"` is the pipeline input. Names may be
    /// used before they are given.
    pub fn join<N: Into<String>>(
        self,
        name: &str,
        operator: impl Operator + 'static,
        inputs: impl IntoIterator<Item = N>,
    ) -> Self {
        self.task(name, Box::new(operator), Some(inputs.into_iter().map(Into::into).collect()))
    }

    /// Names the pipeline inputs; without this there is one, `"@input"`.
    pub fn inputs<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.inputs = names.into_iter().map(Into::into).collect();
        self
    }

    /// Names the tasks whose results are given back; without this all that nothing takes are.
    pub fn outputs<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.outputs = names.into_iter().map(Into::into).collect();
        self
    }

    /// Where it runs; the CPU without this.
    pub fn on(mut self, device: Device) -> Self {
        self.config.device = device;
        self
    }

    /// How it runs, the device included.
    pub fn config(self, config: PipelineConfig) -> Self {
        Self { config, ..self }
    }

    /// The pipeline.
    ///
    /// # Errors
    /// The first thing that is wrong: a name, a reference, a cycle, an input slot left open.
    pub fn build(self) -> Result<Pipeline, Error> {
        let mut graph = TaskGraph::new();
        for input in &self.inputs {
            graph.declare_input(input)?;
        }
        let mut handles = Vec::with_capacity(self.tasks.len());
        let mut sources = Vec::with_capacity(self.tasks.len());
        let first = self.inputs.first().map_or("@input".to_owned(), |name| format!("@{name}"));
        let mut before = first;
        for Task { name, operator, inputs } in self.tasks {
            handles.push(graph.add_task(&name, operator)?);
            sources.push(inputs.unwrap_or_else(|| vec![before]));
            before = name;
        }
        for (&task, sources) in handles.iter().zip(&sources) {
            for source in sources {
                match source.strip_prefix('@') {
                    Some(input) => graph.connect_input(input, task)?,
                    None => graph.add_dependency(graph.task(source)?, task)?,
                }
            }
        }
        for output in &self.outputs {
            graph.mark_output(graph.task(output)?)?;
        }
        graph.validate()?;
        Ok(Pipeline::from_graph(graph, self.config))
    }

    fn task(mut self, name: &str, operator: Box<dyn Operator>, inputs: Option<Vec<String>>) -> Self {
        self.tasks.push(Task { name: name.to_owned(), operator, inputs });
        self
    }
}
