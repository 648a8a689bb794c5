use std::sync::Arc;

use mip_runtime::memory::{ManagerOptions, MemoryManager};

use crate::{Device, Error, PipelineConfig};

/// Where frames for a pipeline come from: pinned memory of its device. See [`crate::Pipeline::frame_memory`].
///
/// Ask it for each frame: where devices start in the background, the memory is the standby device's until another one is open.
#[derive(Debug, Clone)]
pub struct FrameMemory {
    /// In the order in which they are asked.
    devices: Vec<Device>,
    options: ManagerOptions,
    /// Only those that are open already, but for the last one.
    open: bool,
}

impl FrameMemory {
    pub(super) fn of(config: &PipelineConfig) -> Self {
        let devices = config.devices().chain(&config.standby).cloned().collect();
        Self { devices, options: config.manager_options(), open: config.starts_in_background() }
    }

    /// The memory manager of the first device that can be used.
    ///
    /// # Errors
    /// When none can be opened.
    pub fn manager(&self) -> Result<Arc<MemoryManager>, Error> {
        let (last, before) = self.devices.split_last().expect("a pipeline has a device");
        let mut usable = before.iter().filter(|device| !self.open || device.opened().is_some());
        let Some(first) = usable.next() else { return last.memory(&self.options) };
        // One of several may be lost for good.
        let others = usable.chain([last]);
        let first = first.memory(&self.options);
        others
            .fold(first, |found, other| found.or_else(|error| other.memory(&self.options).map_err(|_| error)))
    }
}
