use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops a run from another thread: groups that have not begun yet are left out. All clones are one token;
/// a cancelled token stays cancelled, so each run takes its own.
#[derive(Debug, Clone, Default)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
}

impl CancelToken {
    /// A token nobody has cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels every run with this token.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
    }

    /// Whether somebody has cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }
}
