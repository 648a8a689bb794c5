//! Host blocks, pools, the memory manager.

mod host;

pub use host::{HostBlock, ReadGuard, WriteGuard};
