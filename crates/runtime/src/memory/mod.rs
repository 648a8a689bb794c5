//! Host blocks, memory resources stacked on each other, the memory manager.
//!
//! A [`Resource`] hands out [`Block`]s. `DriverResource` asks the device; `LimitResource` and `PoolResource`
//! stand on an upstream resource and add one policy each. A block finds its own way back on drop.

mod block;
mod driver;
#[allow(unsafe_code, reason = "the one place where raw host memory becomes borrow-checked ranges")]
mod host;
mod limit;
mod manager;
mod ordered;
mod pool;
mod resource;
#[cfg(test)]
mod tests;

pub use block::Block;
pub use driver::DriverResource;
pub use host::{HostBlock, ReadGuard, WriteGuard};
pub use limit::LimitResource;
pub use manager::{AllocatorMode, HostMemory, ManagerOptions, MemoryManager, MemoryStats};
pub use ordered::StreamOrderedResource;
pub use pool::{CacheBound, PoolResource};
pub use resource::{Resource, SpaceStats};
