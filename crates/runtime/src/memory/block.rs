use std::fmt;
use std::sync::{Arc, Weak};

use crate::device::Memory;

/// Owned memory. Dropping it, on any thread, gives it back to where it came from; when that is gone already,
/// the memory is freed.
#[derive(Debug)]
pub struct Block {
    len: usize,
    source: Source,
}

/// Where leased blocks go when they are dropped.
pub(super) trait Home: Send + Sync {
    /// Takes back the upstream's block that a lease was made from.
    fn give_back(&self, upstream: Block);
}

enum Source {
    /// Straight from the driver.
    Memory(Arc<dyn Memory>),
    /// Lent by a resource that wants it back. `upstream` is `None` only during drop.
    Lease { upstream: Option<Box<Block>>, home: Weak<dyn Home> },
}

impl Block {
    /// Memory that is simply freed on drop.
    pub(crate) fn own(memory: Arc<dyn Memory>, len: usize) -> Self {
        Self { len, source: Source::Memory(memory) }
    }

    /// An upstream's block that returns to `home` on drop.
    pub(super) fn lease(upstream: Self, len: usize, home: Weak<dyn Home>) -> Self {
        Self { len, source: Source::Lease { upstream: Some(Box::new(upstream)), home } }
    }

    /// Bytes asked for. The memory may be larger.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether 0 bytes were asked for.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The memory. Clones of the handle keep it from being handed out again while they live.
    pub fn memory(&self) -> &Arc<dyn Memory> {
        match &self.source {
            Source::Memory(memory) => memory,
            Source::Lease { upstream, .. } => upstream.as_ref().expect("present until drop").memory(),
        }
    }

    /// Whether no other handle to the memory exists, such as one in a command still queued. Nobody can make
    /// one while this block is borrowed mutably.
    pub(super) fn is_idle(&mut self) -> bool {
        match &mut self.source {
            // `get_mut` rather than a count: it also makes the last user's writes visible here.
            Source::Memory(memory) => Arc::get_mut(memory).is_some(),
            Source::Lease { upstream, .. } => upstream.as_mut().expect("present until drop").is_idle(),
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Source::Lease { upstream, home } = &mut self.source
            && let (Some(upstream), Some(home)) = (upstream.take(), home.upgrade())
        {
            home.give_back(*upstream);
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(memory) => memory.fmt(f),
            Self::Lease { upstream, .. } => upstream.fmt(f),
        }
    }
}
