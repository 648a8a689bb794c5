//! What need not happen during an execution: making ready beforehand, giving back afterwards.

use mip_core::ImageDesc;

use super::Pipeline;
use super::outputs::Results;
use crate::Error;

impl Pipeline {
    /// Plans for inputs of these shapes (in declared order) and this many frames at once, compiles and loads the
    /// kernels and allocates what stays, so that the first execution is like the others.
    ///
    /// # Errors
    /// As for the first execution: when the graph does not fit the shapes, a kernel cannot be built, or there is no
    /// memory.
    pub fn warm_up(&mut self, inputs: &[ImageDesc], batch: usize) -> Result<(), Error> {
        self.config.check()?;
        self.graph.validate()?;
        if self.config.has_one_device() {
            self.ready(inputs, batch).map(drop)
        } else {
            self.warm_up_spread(inputs, batch)
        }
    }

    /// Gives back memory that nobody uses: what is kept between executions, and what the device's pools cache for
    /// all pipelines with these settings. Plans and kernels stay; the next execution takes new memory. Returns how
    /// many bytes went back to the driver.
    ///
    /// # Errors
    /// When the device cannot be opened.
    pub fn trim(&mut self) -> Result<usize, Error> {
        if self.config.has_several() {
            return Ok(self.trim_spread());
        }
        self.sessions.trim();
        Ok(self.memory()?.trim())
    }

    /// As [`Pipeline::trim`], with the results of the last execution forgotten; those that the caller holds stay valid.
    ///
    /// # Errors
    /// When the device cannot be opened.
    pub fn release(&mut self) -> Result<usize, Error> {
        self.results = Results::default();
        self.trim()
    }
}
