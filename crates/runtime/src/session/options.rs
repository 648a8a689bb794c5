use std::sync::Arc;

use crate::DagScheduler;

/// Settings of a [`super::Session`].
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// Fills the arena and the outputs with the byte `0xA5` before each run, so that reading what nobody wrote
    /// shows. For tests.
    pub poison: bool,
    /// Captures a run once and replays it while nothing changes that a graph depends on.
    pub replay: bool,
    /// What launches the groups; sessions that share it share its error callback and counters.
    pub scheduler: Arc<DagScheduler>,
}
