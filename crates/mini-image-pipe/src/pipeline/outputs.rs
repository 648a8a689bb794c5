//! Reading results.

use mip_core::ImageBuffer;
use mip_graph::TaskHandle;
use mip_runtime::TaskState;

use super::Pipeline;
use crate::{Error, ExecutionReport};

/// What the last execution left.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// Task name and its images, one a frame; empty when the task did not complete.
    pub(super) outputs: Vec<(String, Vec<ImageBuffer>)>,
    pub(super) report: Option<ExecutionReport>,
    /// Whether the images went to the caller of `run`.
    pub(super) handed_over: bool,
}

impl Results {
    /// All images that there are, by task.
    pub(super) fn hand_over(&mut self) -> impl Iterator<Item = (String, ImageBuffer)> + use<> {
        self.handed_over = true;
        let outputs = std::mem::take(&mut self.outputs).into_iter();
        outputs.flat_map(|(name, images)| images.into_iter().map(move |image| (name.clone(), image)))
    }
}

impl Pipeline {
    /// The result of `task` from the last execution. Readable even when the execution returned an error, for
    /// every task that completed.
    ///
    /// # Errors
    /// When nothing was executed, the task failed, it is not an output, or the last execution was a batch.
    pub fn output(&self, task: TaskHandle) -> Result<ImageBuffer, Error> {
        match self.batch_outputs(task)? {
            [image] => Ok(image.clone()),
            images => {
                let reason = format!("the last execution had {} frames; use batch_outputs", images.len());
                Err(Error::NoOutput { task: self.graph.name(task)?.to_owned(), reason })
            }
        }
    }

    /// The results of `task` for all frames of the last execution, in order, each its own memory.
    ///
    /// # Errors
    /// When nothing was executed, the task failed, or it is not an output.
    pub fn batch_outputs(&self, task: TaskHandle) -> Result<&[ImageBuffer], Error> {
        let name = self.graph.name(task)?;
        let refuse = |reason: String| Err(Error::NoOutput { task: name.to_owned(), reason });
        let Some(report) = &self.results.report else {
            return refuse("nothing has been executed yet; call execute first".to_owned());
        };
        if self.results.handed_over {
            return refuse("the last run handed it over; execute keeps what output reads".to_owned());
        }
        let Some((_, images)) = self.results.outputs.iter().find(|(n, _)| n == name) else {
            return refuse(
                "its result is not an output of the pipeline; call mark_output before executing".to_owned(),
            );
        };
        let state = report.tasks.iter().find(|t| &*t.name == name).map(|t| &t.state);
        match state {
            Some(TaskState::Completed) | None => Ok(images),
            Some(state) => refuse(format!("it is {state}")),
        }
    }

    /// All outputs of the last execution that completed: task name and images, one a frame.
    pub fn outputs(&self) -> impl Iterator<Item = (&str, &[ImageBuffer])> {
        let complete = self.results.outputs.iter().filter(|(_, images)| !images.is_empty());
        complete.map(|(name, images)| (name.as_str(), images.as_slice()))
    }

    /// What the last execution did; also after one that returned an error.
    pub const fn report(&self) -> Option<&ExecutionReport> {
        self.results.report.as_ref()
    }
}
