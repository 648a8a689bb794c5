//! Profiles.

use mip_runtime::profiling::{Probe, Profile};

use super::Pipeline;

impl Pipeline {
    /// What records the pipeline's profile, for what happens around it to be recorded as well (reading and decoding files, say);
    /// records nothing without [`crate::PipelineConfig::enable_profiling`].
    pub fn probe(&self) -> &Probe {
        self.scheduler.probe()
    }

    /// What was recorded since the pipeline was made, or since this was called last; `None` without
    /// [`crate::PipelineConfig::enable_profiling`]. Runs still under way come with the next one. Where a pipeline is
    /// profiled that never calls this, what comes after about a million spans is only counted.
    ///
    /// ```
    /// # use mini_image_pipe::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let config = PipelineConfig { enable_profiling: true, ..PipelineConfig::default() };
    /// let mut pipeline = Pipeline::new(config);
    /// let soft = pipeline.add_operator("soft", GaussianBlur::new(5))?;
    /// let frame = ImageBuffer::new(ImageDesc::new(640, 480, PixelFormat::Gray, DType::U8)?)?;
    /// pipeline.set_input(soft, &frame)?;
    /// pipeline.execute()?;
    /// let profile = pipeline.take_profile().expect("it was asked for");
    /// let summary = profile.summary();
    /// assert_eq!((summary.tasks[0].name.as_str(), summary.tasks[0].count), ("soft", 1));
    /// profile.write_chrome_trace(std::io::sink())?; // a file for https://ui.perfetto.dev
    /// # Ok(())
    /// # }
    /// ```
    pub fn take_profile(&self) -> Option<Profile> {
        self.scheduler.probe().take()
    }
}
