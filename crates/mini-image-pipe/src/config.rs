use std::sync::Arc;

use mip_core::MemoryBudget;
use mip_runtime::memory::{AllocatorMode, HostMemory, ManagerOptions};
use mip_runtime::profiling::Probe;

use crate::{Device, Error};

/// How a [`crate::Pipeline`] runs. The defaults are the plain path: pooled allocator, direct submission, one
/// frame at a time; what is switched on here never changes a result.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "independent switches, named as the design names them")]
pub struct PipelineConfig {
    /// Where it runs; [`Device::default`], which is the CPU, if left out.
    pub device: Device,
    /// Further devices: batches (by [`PipelineConfig::max_batch_size`]) and frames of streams go to whichever of all is free,
    /// and results come out in order, with the same bytes. A device that is lost hands what it had to the others.
    /// Images have to be in host memory, and results come back to it. The settings below hold for each device.
    pub more_devices: Vec<Device>,
    /// Where there are several devices: one more, which does nothing until all others are lost and then takes over. A fault
    /// on one NVIDIA GPU may cost a process all of them; the CPU stays.
    pub standby: Option<Device>,
    /// Open the devices, and compile for them, in the background: until one of them is ready for a pipeline and its shapes, the
    /// standby device does the work, so that nothing waits for a compiler. Without a standby device it does nothing. A device
    /// that cannot be opened or used then costs nothing but speed; [`crate::DeviceReport::unusable`] says why.
    ///
    /// A pipeline that is dropped meanwhile leaves a thread behind that ends when its device is ready
    /// ([`crate::devices_starting`] counts them).
    pub start_in_background: bool,
    /// Streams that independent tasks may use at once, at least 1.
    pub num_streams: u32,
    /// Bytes of pinned host memory kept for reuse; on the CPU at least as many as were ever in use at once.
    pub pinned_pool_size: usize,
    /// Record what the host and each stream did, with the device's own times: [`crate::Pipeline::take_profile`] hands it
    /// out. Set when the pipeline is made. Needs the `profiling` feature, which is on by default.
    pub enable_profiling: bool,
    /// Most frames one execution handles; larger batches run in chunks.
    pub max_batch_size: usize,
    /// Capture stable workloads once and replay them.
    pub enable_graph_replay: bool,
    /// Ask for stream-ordered allocation; the effective mode is reported.
    pub prefer_async_allocator: bool,
    /// Let the planner fuse tasks into one kernel.
    pub fuse: bool,
    /// Refuse plans, and fail allocations, beyond this many bytes of device memory.
    pub memory_limit: Option<usize>,
    /// The machine's own memory, shared with whoever else counts in it (decoders, say): pinned memory, and on the CPU
    /// everything. Plans that are larger are refused, allocations beyond it fail.
    pub memory_budget: Option<Arc<MemoryBudget>>,
    /// Fill device memory with a pattern before each run, so that reading what nobody wrote shows. For tests.
    pub poison: bool,
}

impl Default for PipelineConfig {
    fn default() -> Self {
        Self {
            device: Device::default(),
            more_devices: Vec::new(),
            standby: None,
            start_in_background: false,
            num_streams: 4,
            pinned_pool_size: 64 << 20,
            enable_profiling: false,
            max_batch_size: 8,
            enable_graph_replay: false,
            prefer_async_allocator: false,
            fuse: true,
            memory_limit: None,
            memory_budget: None,
            poison: false,
        }
    }
}

impl PipelineConfig {
    /// The same settings on these devices: see [`PipelineConfig::more_devices`].
    ///
    /// ```
    /// use mini_image_pipe::{Backends, PipelineConfig};
    /// # #[cfg(feature = "cpu")] {
    /// let config = PipelineConfig::default().on_devices(Backends::default().devices("all")?)?;
    /// assert!(config.devices().count() >= 1);
    /// # }
    /// # Ok::<(), mini_image_pipe::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is none.
    pub fn on_devices(self, devices: impl IntoIterator<Item = Device>) -> Result<Self, Error> {
        let mut devices = devices.into_iter();
        let device = devices.next().ok_or_else(|| Error::Config {
            setting: "devices",
            given: "none".to_owned(),
            allowed: "at least one".into(),
        })?;
        Ok(Self { device, more_devices: devices.collect(), ..self })
    }

    /// Whether runs are shared out.
    pub(crate) fn has_several(&self) -> bool {
        !self.more_devices.is_empty() || self.starts_in_background()
    }

    pub(crate) fn has_one_device(&self) -> bool {
        !self.has_several()
    }

    pub(crate) fn starts_in_background(&self) -> bool {
        self.start_in_background && self.standby.is_some()
    }

    /// All devices but the one that stands by.
    pub fn devices(&self) -> impl Iterator<Item = &Device> {
        std::iter::once(&self.device).chain(&self.more_devices)
    }

    pub(crate) fn manager_options(&self) -> ManagerOptions {
        let allocator =
            if self.prefer_async_allocator { AllocatorMode::StreamOrdered } else { AllocatorMode::Pooled };
        ManagerOptions {
            allocator,
            pinned_pool_size: self.pinned_pool_size,
            memory_limit: self.memory_limit,
            host_memory: self.memory_budget.clone().map(HostMemory),
        }
    }

    /// Most bytes that a plan for such a device may take.
    pub(crate) fn plan_limit(&self, unified_memory: bool) -> Option<usize> {
        let host = self.memory_budget.as_ref().filter(|_| unified_memory).map(|budget| budget.limit());
        self.memory_limit.into_iter().chain(host).min()
    }

    /// What records profiles, if anything does.
    pub(crate) fn probe(&self) -> Probe {
        let recording = if self.enable_profiling { Probe::recording() } else { None };
        recording.unwrap_or_default()
    }

    /// Refuses settings out of range, and those that this build does not have.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let refuse = |setting, given: String, allowed: &'static str| {
            Err(Error::Config { setting, given, allowed: allowed.into() })
        };
        match self {
            Self { num_streams: 0, .. } => refuse("num_streams", "0".to_owned(), "at least 1"),
            Self { max_batch_size: 0, .. } => refuse("max_batch_size", "0".to_owned(), "at least 1"),
            Self { enable_profiling: true, .. } if !cfg!(feature = "profiling") => refuse(
                "enable_profiling",
                "true".to_owned(),
                "false: this was built without the `profiling` feature",
            ),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_defaults() {
        let c = PipelineConfig::default();
        assert_eq!((c.num_streams, c.pinned_pool_size, c.max_batch_size), (4, 64 << 20, 8));
        assert!(!c.enable_profiling && !c.enable_graph_replay && !c.prefer_async_allocator && c.fuse);
    }
}
