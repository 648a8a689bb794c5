use std::sync::atomic::{AtomicU64, Ordering};

use super::TaskGraph;
use crate::GraphError;

/// A task of one certain graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskHandle {
    graph: GraphId,
    index: usize,
}

/// Tells graphs apart, so that a handle is never used in the wrong one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct GraphId(u64);

impl GraphId {
    /// An id no other graph of this process has. The counter carries no state besides uniqueness.
    pub(super) fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl TaskHandle {
    /// Position in insertion order: the index into what [`TaskGraph::infer`] returns.
    pub const fn index(self) -> usize {
        self.index
    }
}

impl TaskGraph {
    pub(super) const fn handle(&self, index: usize) -> TaskHandle {
        TaskHandle { graph: self.id, index }
    }

    /// The index of a handle, when this graph gave it out.
    pub(super) fn index(&self, handle: TaskHandle) -> Result<usize, GraphError> {
        if handle.graph == self.id { Ok(handle.index) } else { Err(GraphError::ForeignHandle) }
    }
}
