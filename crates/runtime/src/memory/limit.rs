use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::block::Home;
use super::{Block, Resource, SpaceStats};
use crate::device::{DeviceError, Space};

/// Refuses what would take more than a limit from its upstream.
#[derive(Debug)]
pub struct LimitResource {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    upstream: Arc<dyn Resource>,
    limit: usize,
    held: AtomicUsize,
}

impl LimitResource {
    /// At most `limit` bytes from `upstream` at once.
    pub fn new(upstream: Arc<dyn Resource>, limit: usize) -> Self {
        Self { shared: Arc::new(Shared { upstream, limit, held: AtomicUsize::new(0) }) }
    }
}

impl Resource for LimitResource {
    fn space(&self) -> Space {
        self.shared.upstream.space()
    }

    fn allocate(&self, bytes: usize) -> Result<Block, DeviceError> {
        let Shared { upstream, limit, held } = &*self.shared;
        // Claimed before asking, so that two threads together cannot pass the limit.
        let claim = |now: usize| now.checked_add(bytes).filter(|total| total <= limit);
        if let Err(now) = held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim) {
            return Err(DeviceError::OutOfMemory {
                space: self.space().name(),
                requested: bytes,
                in_use: now,
                reserved: now,
                limit: Some(*limit),
            });
        }
        let block = upstream.allocate(bytes).inspect_err(|_| {
            held.fetch_sub(bytes, Ordering::Relaxed);
        })?;
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
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}
