use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::block::Home;
use super::{Block, Resource, SpaceStats};
use crate::device::{DeviceError, Space};

/// Bytes that may be held at once, whoever takes them.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    held: AtomicUsize,
}

impl Budget {
    /// At most `limit` bytes.
    pub const fn new(limit: usize) -> Self {
        Self { limit, held: AtomicUsize::new(0) }
    }

    /// Counts `bytes` as held, before they are asked for, so that two threads together cannot pass the limit.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] in `space` beyond the limit.
    pub(super) fn claim(&self, space: Space, bytes: usize) -> Result<(), DeviceError> {
        let claim = |now: usize| now.checked_add(bytes).filter(|&total| total <= self.limit);
        let claimed = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim);
        claimed.map(drop).map_err(|now| DeviceError::OutOfMemory {
            space: space.name(),
            requested: bytes,
            in_use: now,
            reserved: now,
            limit: Some(self.limit),
        })
    }

    pub(super) fn release(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The limit.
    pub const fn limit(&self) -> usize {
        self.limit
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
    budget: Arc<Budget>,
}

impl LimitResource {
    /// At most `limit` bytes from `upstream` at once.
    pub fn new(upstream: Arc<dyn Resource>, limit: usize) -> Self {
        Self::within(upstream, Arc::new(Budget::new(limit)))
    }

    /// What `budget` leaves, from `upstream`.
    pub fn within(upstream: Arc<dyn Resource>, budget: Arc<Budget>) -> Self {
        Self { shared: Arc::new(Shared { upstream, budget }) }
    }
}

impl Resource for LimitResource {
    fn space(&self) -> Space {
        self.shared.upstream.space()
    }

    fn allocate(&self, bytes: usize) -> Result<Block, DeviceError> {
        let Shared { upstream, budget } = &*self.shared;
        budget.claim(self.space(), bytes)?;
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
