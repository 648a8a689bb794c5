//! Memory is taken in the order of the files.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use mip_core::{MemoryBudget, OverBudget, Reservation};

/// Lets files take memory in their order.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The file whose turn it is.
    now: Mutex<usize>,
    moved: Condvar,
    /// Those that are done before their turn.
    done: Mutex<Vec<usize>>,
}

/// A file's turn, over when this is dropped.
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    index: usize,
}

impl Turns {
    pub(super) fn of(&self, index: usize) -> Turn<'_> {
        Turn { turns: self, index }
    }

    /// The file whose turn it is.
    pub(super) fn now(&self) -> usize {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody's turn any more.
    pub(super) fn end(&self) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = usize::MAX;
        self.moved.notify_all();
    }

    fn over(&self, index: usize) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.push(index);
        while let Some(place) = done.iter().position(|done| done == &*now) {
            done.swap_remove(place);
            *now += 1;
        }
        self.moved.notify_all();
    }
}

impl Turn<'_> {
    /// The memory, if it is this file's turn and there is room beside what is held for pictures in use; ends the turn then.
    pub(super) fn take_at_once(&self, budget: &Arc<MemoryBudget>, bytes: usize) -> Option<Reservation> {
        let room = budget.held().saturating_add(bytes) <= budget.limit() / 2;
        let reserved = if room && self.turns.now() == self.index { budget.reserve(bytes).ok() } else { None };
        if reserved.is_some() {
            self.turns.over(self.index);
        }
        reserved
    }

    /// Waits for the turn, then for the memory, and ends the turn.
    pub(super) fn take(&self, budget: &Arc<MemoryBudget>, bytes: usize) -> Result<Reservation, OverBudget> {
        let turns = self.turns;
        let now = turns.now.lock().unwrap_or_else(PoisonError::into_inner);
        drop(turns.moved.wait_while(now, |now| *now < self.index).unwrap_or_else(PoisonError::into_inner));
        // Asked before it is found out whether all is over, which is said before waiting is ended.
        let refusals = budget.refusals();
        if turns.now() > self.index {
            return Err(OverBudget { requested: bytes, held: 0, limit: budget.limit() });
        }
        let reserved = budget.reserve_ahead(bytes, refusals);
        turns.over(self.index);
        reserved
    }
}

impl Drop for Turn<'_> {
    /// For files that are refused by their first bytes; does nothing for the others.
    fn drop(&mut self) {
        if self.turns.now() <= self.index {
            self.turns.over(self.index);
        }
    }
}
