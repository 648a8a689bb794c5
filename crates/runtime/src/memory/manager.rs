use std::fmt;
use std::sync::Arc;

use mip_core::MemoryBudget;
use serde::Serialize;

use super::{
    Block, CacheBound, DriverResource, LimitResource, PoolResource, Resource, SpaceStats,
    StreamOrderedResource,
};
use crate::device::{Device, DeviceError, DeviceInfo, Space, Stream};

/// How device memory is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AllocatorMode {
    /// From a pool of cached blocks.
    #[default]
    Pooled,
    /// Through the driver's stream-ordered calls.
    StreamOrdered,
}

impl fmt::Display for AllocatorMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pooled => "pooled",
            Self::StreamOrdered => "stream-ordered",
        })
    }
}

/// Settings of a [`MemoryManager`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagerOptions {
    /// Mode asked for.
    pub allocator: AllocatorMode,
    /// Most bytes of unused pinned memory to keep; not a limit on what can be used. Where kernels work in the host's memory, what
    /// was ever in use at once is kept as well.
    pub pinned_pool_size: usize,
    /// Most bytes of device memory to take from the driver.
    pub memory_limit: Option<usize>,
    /// What pinned memory counts in, and device memory where it is the machine's own.
    pub host_memory: Option<HostMemory>,
}

/// A budget of the machine's own memory. Equal to no budget but itself.
#[derive(Debug, Clone)]
pub struct HostMemory(pub Arc<MemoryBudget>);

impl PartialEq for HostMemory {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for HostMemory {}

impl Default for ManagerOptions {
    /// Pooled, 64 MiB of unused pinned memory kept, no limit.
    fn default() -> Self {
        Self {
            allocator: AllocatorMode::Pooled,
            pinned_pool_size: 64 << 20,
            memory_limit: None,
            host_memory: None,
        }
    }
}

/// Counters of both memory spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct MemoryStats {
    /// Where kernels work.
    pub device: SpaceStats,
    /// Host memory for fast copies.
    pub pinned: SpaceStats,
}

/// Hands out memory of one device to all its sessions: from pools, or in stream order where that was asked for
/// and the device can.
#[derive(Debug)]
pub struct MemoryManager {
    device: Arc<dyn Device>,
    options: ManagerOptions,
    device_pool: PoolResource,
    pinned_pool: PoolResource,
    /// Present in stream-ordered mode.
    ordered: Option<StreamOrderedResource>,
}

/// Unused device memory that is kept whatever the workload.
const DEVICE_CACHE_FLOOR: usize = 64 << 20;

impl MemoryManager {
    /// A manager for `device`.
    pub fn new(device: Arc<dyn Device>, options: ManagerOptions) -> Arc<Self> {
        let driver: Arc<dyn Resource> = Arc::new(DriverResource::new(device.clone(), Space::Device));
        let budget = options.memory_limit.map(|limit| Arc::new(MemoryBudget::new(limit)));
        let within = |resource: Arc<dyn Resource>, budget: Option<Arc<MemoryBudget>>| match budget {
            Some(budget) => Arc::new(LimitResource::within(resource, budget)),
            None => resource,
        };
        let host = || options.host_memory.clone().map(|HostMemory(budget)| budget);
        let unified = device.info().unified_memory;
        let limited = within(within(driver, budget.clone()), host().filter(|_| unified));
        let bound = CacheBound::PeakInUse { floor: DEVICE_CACHE_FLOOR };
        let device_pool = PoolResource::of_device(device.clone(), limited, bound);
        let pinned = within(Arc::new(DriverResource::new(device.clone(), Space::Pinned)), host());
        // Where kernels work in the host's memory nothing is pinned, and what a workload cycles through is kept whole.
        let bound = match options.pinned_pool_size {
            floor if unified => CacheBound::PeakInUse { floor },
            bytes => CacheBound::Bytes(bytes),
        };
        let pinned_pool = PoolResource::of_device(device.clone(), pinned, bound);
        let can = device.info().stream_ordered.is_ok();
        let ordered = (options.allocator == AllocatorMode::StreamOrdered && can)
            .then(|| StreamOrderedResource::new(device.clone(), budget));
        Arc::new(Self { device, options, device_pool, pinned_pool, ordered })
    }

    /// The device whose memory this is.
    pub const fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// Memory where kernels work.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] when there is none even after giving back what was cached,
    /// [`DeviceError::Unsupported`] after [`MemoryManager::shutdown`], or what the driver says.
    pub fn allocate_device(&self, bytes: usize) -> Result<Block, DeviceError> {
        self.device_pool.allocate(bytes)
    }

    /// Memory where kernels work, for what is queued on `stream` from now on: in stream order in that mode, else
    /// from the pool, which is right for any stream.
    ///
    /// # Errors
    /// As for [`MemoryManager::allocate_device`].
    pub fn allocate_on(&self, stream: &dyn Stream, bytes: usize) -> Result<Block, DeviceError> {
        match &self.ordered {
            Some(ordered) => ordered.allocate_on(stream, bytes).or_else(|error| match error {
                // What the pool keeps unused counts too.
                DeviceError::OutOfMemory { limit: Some(_), .. } if self.device_pool.trim() > 0 => {
                    ordered.allocate_on(stream, bytes)
                }
                other => Err(other),
            }),
            None => self.device_pool.allocate(bytes),
        }
    }

    /// Host memory that the device copies from and to at full speed.
    ///
    /// # Errors
    /// As for [`MemoryManager::allocate_device`].
    pub fn allocate_pinned(&self, bytes: usize) -> Result<Block, DeviceError> {
        self.pinned_pool.allocate(bytes)
    }

    /// Device memory that holds intermediates and scratch while a plan runs.
    ///
    /// # Errors
    /// As for [`MemoryManager::allocate_device`].
    pub fn allocate_workspace(&self, bytes: usize) -> Result<Block, DeviceError> {
        self.device_pool.allocate(bytes)
    }

    /// The mode asked for.
    pub const fn requested_mode(&self) -> AllocatorMode {
        self.options.allocator
    }

    /// The mode in effect, with the reason when it is not the one asked for.
    pub fn effective_mode(&self) -> (AllocatorMode, Option<String>) {
        match (self.options.allocator, &self.device.info().stream_ordered) {
            (AllocatorMode::Pooled, _) => (AllocatorMode::Pooled, None),
            (AllocatorMode::StreamOrdered, Err(reason)) => (AllocatorMode::Pooled, Some(reason.clone())),
            (AllocatorMode::StreamOrdered, Ok(())) => (AllocatorMode::StreamOrdered, None),
        }
    }

    /// Counters since creation.
    pub fn stats(&self) -> MemoryStats {
        let ordered = self.ordered.as_ref().map_or_else(SpaceStats::default, StreamOrderedResource::stats);
        MemoryStats { device: self.device_pool.stats().plus(ordered), pinned: self.pinned_pool.stats() }
    }

    /// Gives all unused memory back to the driver; returns how many bytes.
    pub fn trim(&self) -> usize {
        let ordered = self.ordered.as_ref().map_or(0, StreamOrderedResource::trim);
        self.device_pool.trim() + self.pinned_pool.trim() + ordered
    }

    /// Gives unused memory back and refuses every later allocation. Blocks handed out stay valid and are freed
    /// when dropped.
    pub fn shutdown(&self) {
        let DeviceInfo { name, .. } = self.device.info();
        let reason = format!("the memory manager of '{name}' is shut down; make a new one to allocate again");
        self.device_pool.close(&reason);
        self.pinned_pool.close(&reason);
        if let Some(ordered) = &self.ordered {
            ordered.close(&reason);
        }
    }
}
