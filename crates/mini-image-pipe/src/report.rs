use std::time::Duration;

use mip_runtime::device::DeviceInfo;
use mip_runtime::memory::{AllocatorMode, MemoryStats};
use mip_runtime::{GraphStats, RuntimeError, TaskReport};

/// What an execution did.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ExecutionReport {
    /// Name of the device, or of all devices.
    pub device: String,
    /// What each device has done since the pipeline was made or reset, where there are several
    /// ([`crate::PipelineConfig::more_devices`]).
    pub devices: Vec<DeviceReport>,
    /// Frames executed.
    pub frames: usize,
    /// Host time from submission to completed outputs.
    pub elapsed: Duration,
    /// State and invocations of each task, in topological order.
    pub tasks: Vec<TaskReport>,
    /// Counters of the device's memory manager after the execution; of several devices, the first one's.
    pub memory: MemoryStats,
    /// Allocator mode.
    pub allocator: AllocatorReport,
    /// Graph replay counters of this pipeline since it was made or reset.
    pub graph: GraphStats,
    /// The first failure, if any.
    pub error: Option<RuntimeError>,
}

/// Allocator mode asked for and in effect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AllocatorReport {
    /// Mode asked for.
    pub requested: AllocatorMode,
    /// Mode in effect.
    pub effective: AllocatorMode,
    /// Why they differ.
    pub reason: Option<String>,
}

/// What one of several devices has done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceReport {
    /// What names it on a command line: `cpu`, `cuda:0`.
    pub device: String,
    /// Its own name.
    pub name: String,
    /// Frames that it ran.
    pub frames: u64,
    /// Each time it was lost, why. Its frames went to the others.
    pub losses: Vec<String>,
    /// Why it could not be used at all, where devices start in the background
    /// ([`crate::PipelineConfig::start_in_background`]). The others did its work.
    pub unusable: Option<String>,
    /// Whether it is being opened, or compiled for, in the background at the moment of the report.
    pub starting: bool,
    /// Whether it is not used any more, because it could not be opened again or was lost too often.
    pub left: bool,
    /// Whether it only takes over when all others are lost.
    pub standby: bool,
}

impl DeviceReport {
    /// Of a device that nobody has opened yet.
    pub(crate) fn unopened(id: String) -> Self {
        Self {
            name: id.clone(),
            device: id,
            frames: 0,
            losses: Vec::new(),
            unusable: None,
            starting: false,
            left: false,
            standby: false,
        }
    }

    pub(crate) fn new(info: &DeviceInfo) -> Self {
        Self { name: info.name.clone(), ..Self::unopened(info.id()) }
    }
}
