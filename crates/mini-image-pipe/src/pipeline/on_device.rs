//! Runs that the device orders, while the host goes on.

use std::sync::Arc;

use mip_runtime::device::Event;
use mip_runtime::{DeviceImage, RunInput, RunOrder, RunRequest, TaskReport, Ticket};

use super::Pipeline;
use super::outputs::Results;
use crate::Error;

/// A run under way on the device: see [`Pipeline::run_on_device`]. Dropping it waits for the run.
#[derive(Debug)]
pub struct DeviceRun {
    ticket: Ticket,
    outputs: Vec<(String, DeviceImage)>,
    done: Arc<dyn Event>,
}

impl DeviceRun {
    /// Task names and results, in the pipeline's order. Their memory is there at once; what is in it counts once
    /// [`DeviceRun::done`] is reached, and [`DeviceRun::wait`] says whether it does.
    pub fn outputs(&self) -> &[(String, DeviceImage)] {
        &self.outputs
    }

    /// The point at which the run has ended, for streams to wait for.
    pub const fn done(&self) -> &Arc<dyn Event> {
        &self.done
    }

    /// Whether [`DeviceRun::wait`] would return at once.
    pub fn is_done(&self) -> bool {
        self.ticket.is_done()
    }

    /// Waits for the run: all tasks, in topological order.
    ///
    /// # Errors
    /// The first failure. Results that were handed out are not to be used then.
    pub fn wait(self) -> Result<Vec<TaskReport>, Error> {
        let report = self.ticket.wait();
        report.error.map_or(Ok(report.tasks), |error| Err(error.into()))
    }
}

impl Pipeline {
    /// Runs over images in the device's own memory and leaves the results there, without waiting: images by the names of
    /// inputs (without `@`), of one shape or a batch each. Nothing begins before `after` has been reached, and
    /// [`DeviceRun::done`] says where everything has ended: streams, of other libraries too
    /// (`Device::borrow_cuda_stream`), are ordered by such events. Such runs of a pipeline follow each other on the
    /// device; results of one may be inputs of the next at once.
    ///
    /// Images must stay as they are until the run has ended; their memory and that of results is kept until then.
    /// There is no [`Pipeline::report`] of such a run.
    ///
    /// ```
    /// # #[cfg(feature = "cpu")] {
    /// # use mini_image_pipe::prelude::*;
    /// let desc = ImageDesc::new(64, 48, PixelFormat::Gray, DType::U8)?;
    /// let mut pipeline = Pipeline::parse("invert ! flip")?;
    /// // An image in the device's memory, here the result of a stream that keeps them there.
    /// let options = StreamOptions { keep_on_device: true, ..StreamOptions::default() };
    /// let mut stream = pipeline.stream(&options)?;
    /// stream.push(ImageBuffer::new(desc)?);
    /// let image = stream.finish().remove(0)?.device_outputs.remove(0).1;
    ///
    /// let first = pipeline.run_on_device(&[("input", &image)], &[])?;
    /// let second = pipeline.run_on_device(&[("input", &first.outputs()[0].1)], &[first.done().clone()])?;
    /// let result = second.outputs()[0].1.clone();
    /// first.wait()?;
    /// second.wait()?;
    /// assert_eq!(pipeline.config().device.download(&result)?.to_bytes()[0], 255);
    /// # }
    /// # Ok::<(), mini_image_pipe::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such input, one has no image, the graph does not fit the images, there is no memory, or a task cannot be
    /// queued. What fails later is said by [`DeviceRun::wait`].
    pub fn run_on_device(
        &mut self,
        images: &[(&str, &DeviceImage)],
        after: &[Arc<dyn Event>],
    ) -> Result<DeviceRun, Error> {
        self.config.check()?;
        if self.graph.inputs().is_empty() {
            self.declare_only_input()?;
        }
        self.graph.validate()?;
        let mut given = Vec::with_capacity(images.len());
        for (name, image) in images {
            given.push((self.input_index(name)?, RunInput::Device((*image).clone())));
        }
        let images = self.inputs_with(&given)?;
        let device = self.config.device.open()?;
        self.sessions.keep_only(&device);
        self.results = Results::default();
        let descs: Vec<_> = images.iter().map(|image| *image.desc()).collect();
        let batch = images.first().map_or(1, RunInput::batch_size);
        if batch > self.config.max_batch_size {
            let max = self.config.max_batch_size;
            return Err(Error::Usage(format!(
                "a batch of {batch} images, but max_batch_size is {max}; give parts of it ({})",
                "DeviceImage::frame"
            )));
        }
        let ready = self.ready(&descs, batch)?;
        let done = device.create_event()?;
        let request = RunRequest {
            inputs: images,
            uniforms: ready.uniforms,
            keep_on_device: true,
            order: Some(RunOrder { after: after.to_vec(), done: done.clone() }),
            ..RunRequest::default()
        };
        let ticket = ready.session.submit(request)?;
        if ticket.has_failed() {
            let report = ticket.wait();
            let unknown = || Error::Usage("a task failed while it was queued".to_owned());
            return Err(report.error.map_or_else(unknown, Into::into));
        }
        let names = self.graph.outputs().into_iter().map(|task| self.graph.name(task).map(str::to_owned));
        let names = names.collect::<Result<Vec<_>, _>>()?;
        let kept = names.into_iter().zip(ticket.device_outputs());
        let outputs = kept.filter_map(|(name, image)| Some((name, image?))).collect();
        Ok(DeviceRun { ticket, outputs, done })
    }
}
