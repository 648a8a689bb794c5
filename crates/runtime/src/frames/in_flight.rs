use std::collections::VecDeque;
use std::num::NonZero;

use crate::{RunReport, Ticket};

/// The frames of a stream that are under way, oldest first; never more than a given number.
///
/// `E` is why a frame could not be started. Such a frame keeps its place, so that its error comes out where its
/// result would have. Dropping this waits for what is under way.
#[derive(Debug)]
pub struct InFlight<E> {
    max: NonZero<usize>,
    frames: VecDeque<Result<Ticket, E>>,
    /// Number of the next frame.
    pushed: u64,
}

/// A frame that has ended.
#[derive(Debug)]
pub struct Finished<E> {
    /// Its number in the stream, counted from 0.
    pub number: u64,
    /// What became of it: a run may still have failed, see [`RunReport::error`].
    pub result: Result<RunReport, E>,
}

impl<E> InFlight<E> {
    /// No frames yet, and at most `max` at once.
    pub const fn new(max: NonZero<usize>) -> Self {
        Self { max, frames: VecDeque::new(), pushed: 0 }
    }

    /// Most frames at once.
    pub const fn max(&self) -> NonZero<usize> {
        self.max
    }

    /// Frames under way now.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether no frame is under way.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Frames started so far, those that could not be included.
    pub const fn pushed(&self) -> u64 {
        self.pushed
    }

    /// Starts the next frame. Where as many as allowed are under way, first waits for the oldest, which is handed out.
    ///
    /// # Panics
    /// As for [`Ticket::wait`].
    pub fn push(&mut self, start: impl FnOnce() -> Result<Ticket, E>) -> Option<Finished<E>> {
        let oldest = if self.frames.len() < self.max.get() { None } else { self.pop() };
        self.frames.push_back(start());
        self.pushed += 1;
        oldest
    }

    /// Waits for the oldest frame; `None` when none is under way.
    ///
    /// # Panics
    /// As for [`Ticket::wait`].
    pub fn pop(&mut self) -> Option<Finished<E>> {
        let number = self.pushed - self.frames.len() as u64;
        let result = self.frames.pop_front()?.map(Ticket::wait);
        Some(Finished { number, result })
    }
}

impl<E> Drop for InFlight<E> {
    fn drop(&mut self) {
        for ticket in self.frames.drain(..).flatten() {
            ticket.discard();
        }
    }
}
