use std::time::Duration;

use mip_runtime::memory::{AllocatorMode, MemoryStats};
use mip_runtime::{GraphStats, RuntimeError, TaskReport};

/// What an execution did.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ExecutionReport {
    /// Name of the device.
    pub device: String,
    /// Frames executed.
    pub frames: usize,
    /// Host time from submission to completed outputs.
    pub elapsed: Duration,
    /// State and invocations of each task, in topological order.
    pub tasks: Vec<TaskReport>,
    /// Counters of the device's memory manager after the execution.
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
