use std::sync::Arc;

use mip_core::{MemoryBudget, OverBudget};

use super::block::Home;
use super::{Block, Resource, SpaceStats};
use crate::device::{DeviceError, Space};

/// A budget's refusal, as an error of a device's memory.
pub(super) fn refused(space: Space, over: &OverBudget) -> DeviceError {
    DeviceError::OutOfMemory {
        space: space.name(),
        requested: over.requested,
        in_use: over.held,
        reserved: over.held,
        limit: Some(over.limit),
    }
}

/// Refuses what would take more than a limit from its upstream.
#[derive(Debug)]
pub struct LimitResource {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    upstream: Arc<dyn Resource>,
    budget: Arc<MemoryBudget>,
}

impl LimitResource {
    /// At most `limit` bytes from `upstream` at once.
    pub fn new(upstream: Arc<dyn Resource>, limit: usize) -> Self {
        Self::within(upstream, Arc::new(MemoryBudget::new(limit)))
    }

    /// What `budget` leaves, from `upstream`.
    pub fn within(upstream: Arc<dyn Resource>, budget: Arc<MemoryBudget>) -> Self {
        Self { shared: Arc::new(Shared { upstream, budget }) }
    }
}

impl Resource for LimitResource {
    fn space(&self) -> Space {
        self.shared.upstream.space()
    }

    fn allocate(&self, bytes: usize) -> Result<Block, DeviceError> {
        let Shared { upstream, budget } = &*self.shared;
        budget.claim(bytes).map_err(|over| refused(self.space(), &over))?;
        let block = upstream.allocate(bytes).inspect_err(|_| budget.release(bytes))?;
        let home: Arc<dyn Home> = self.shared.clone();
        Ok(Block::lease(block, bytes, Arc::downgrade(&home)))
    }

    fn trim(&self) -> usize {
        self.shared.upstream.trim()
    }

    fn stats(&self) -> SpaceStats {
        self.shared.upstream.stats()
    }
}

impl Home for Shared {
    fn give_back(&self, upstream: Block) {
        let bytes = upstream.len();
        drop(upstream);
        self.budget.release(bytes);
    }
}
