//! Giving images to a pipeline.

use mip_core::ImageBuffer;
use mip_graph::{Source, TaskHandle};
use mip_runtime::{DeviceImage, RunInput};

use super::Pipeline;
use crate::Error;

impl Pipeline {
    /// Gives `task` its input image for the executions to come. Pixels are shared, not copied.
    ///
    /// The first call makes a pipeline input and wires it to the task's next free slot; later calls exchange
    /// the image. For a task that reads several pipeline inputs use [`Pipeline::set_input_slot`].
    ///
    /// # Errors
    /// When all slots of the task are fed by other tasks, or the handle is another pipeline's.
    pub fn set_input(&mut self, task: TaskHandle, image: &ImageBuffer) -> Result<(), Error> {
        let sources = self.graph.sources(task)?;
        let bound = sources.iter().find_map(|s| match s {
            Some(Source::Input(index)) => Some(*index),
            _ => None,
        });
        let index = if let Some(index) = bound {
            index
        } else {
            let name = self.new_input_name(task, None)?;
            // Declared only for a slot that is free; otherwise the graph says what feeds them all.
            if sources.contains(&None) {
                self.graph.declare_input(&name)?;
            }
            self.graph.connect_input(&name, task)?;
            self.graph.inputs().len() - 1
        };
        self.bind(index, image.clone());
        Ok(())
    }

    /// Gives the named input slot of `task` an image, as [`Pipeline::set_input`] does.
    ///
    /// # Errors
    /// When there is no such slot, or another task feeds it.
    pub fn set_input_slot(&mut self, task: TaskHandle, slot: &str, image: &ImageBuffer) -> Result<(), Error> {
        let spec = self.graph.operator(task)?.spec();
        let sources = self.graph.sources(task)?;
        let source = spec.inputs.iter().position(|s| *s == slot).map(|i| sources[i]);
        let index = if let Some(Some(Source::Input(index))) = source {
            index
        } else {
            let name = self.new_input_name(task, Some(slot))?;
            // Declared only for a slot that is there and free; otherwise the graph says what is wrong.
            if source == Some(None) {
                self.graph.declare_input(&name)?;
            }
            self.graph.connect_input_slot(&name, task, slot)?;
            self.graph.inputs().len() - 1
        };
        self.bind(index, image.clone());
        Ok(())
    }

    /// Gives the pipeline input of that name (without `@`) an image; for pipelines from files.
    ///
    /// # Errors
    /// When there is no such input.
    pub fn set_named_input(&mut self, name: &str, image: &ImageBuffer) -> Result<(), Error> {
        let index = self.input_index(name)?;
        self.bind(index, image.clone());
        Ok(())
    }

    /// As [`Pipeline::set_named_input`], with an image in the device's own memory, which is read in place: the result of a
    /// stream that keeps them there ([`crate::StreamOptions::keep_on_device`]), or memory of another library
    /// ([`crate::Device::borrow_cuda`]).
    ///
    /// # Errors
    /// When there is no such input.
    pub fn set_device_input(&mut self, name: &str, image: &DeviceImage) -> Result<(), Error> {
        let index = self.input_index(name)?;
        self.bind(index, image.clone());
        Ok(())
    }

    pub(super) fn input_index(&self, name: &str) -> Result<usize, Error> {
        let names = self.graph.inputs();
        names.iter().position(|n| n == name).ok_or_else(|| {
            Error::Usage(format!(
                "there is no pipeline input '@{name}'; inputs: {}",
                names.iter().map(|n| format!("@{n}")).collect::<Vec<_>>().join(", ")
            ))
        })
    }

    pub(super) fn bind(&mut self, index: usize, image: impl Into<RunInput>) {
        self.bound.resize(self.graph.inputs().len(), None);
        self.bound[index] = Some(image.into());
    }

    fn new_input_name(&self, task: TaskHandle, slot: Option<&str>) -> Result<String, Error> {
        let taken = |name: &str| self.graph.inputs().iter().any(|i| i == name);
        if self.graph.inputs().is_empty() {
            return Ok("input".to_owned());
        }
        let task = self.graph.name(task)?;
        let base = slot.map_or_else(|| task.to_owned(), |s| format!("{task}-{s}"));
        let numbered = (2..).map(|n| format!("{base}-{n}"));
        Ok(std::iter::once(base.clone()).chain(numbered).find(|n| !taken(n)).unwrap_or(base))
    }

    /// Makes the pipeline input of a graph that was built by hand and got no image yet: where a single task still
    /// needs an input, it is clear which.
    pub(super) fn declare_only_input(&mut self) -> Result<(), Error> {
        let open = |task: &TaskHandle| self.graph.sources(*task).is_ok_and(|s| s.contains(&None));
        let open: Vec<TaskHandle> = self.graph.tasks().filter(open).collect();
        if let [task] = open[..] {
            let name = self.new_input_name(task, None)?;
            self.graph.declare_input(&name)?;
            self.graph.connect_input(&name, task)?;
        }
        Ok(())
    }

    /// The images of all inputs in declared order.
    pub(super) fn bound_inputs(&self) -> Result<Vec<RunInput>, Error> {
        (0..self.graph.inputs().len()).map(|i| self.bound_input(i)).collect()
    }

    /// As [`Pipeline::bound_inputs`], with the images given for some of them.
    pub(super) fn inputs_with(&self, given: &[(usize, RunInput)]) -> Result<Vec<RunInput>, Error> {
        let image = |index| match given.iter().find(|(own, _)| *own == index) {
            Some((_, image)) => Ok(image.clone()),
            None => self.bound_input(index),
        };
        (0..self.graph.inputs().len()).map(image).collect()
    }

    fn bound_input(&self, index: usize) -> Result<RunInput, Error> {
        let missing = || {
            let name = self.graph.inputs()[index].clone();
            Error::MissingInput { name, task: self.reader_of(index) }
        };
        self.bound.get(index).cloned().flatten().ok_or_else(missing)
    }

    fn reader_of(&self, input: usize) -> String {
        let reads = |task: &TaskHandle| {
            self.graph.sources(*task).is_ok_and(|s| s.contains(&Some(Source::Input(input))))
        };
        let reader = self.graph.tasks().find(reads);
        reader.and_then(|t| self.graph.name(t).ok().map(str::to_owned)).unwrap_or_default()
    }
}
