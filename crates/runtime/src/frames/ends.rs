use std::num::NonZero;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::Finished;
use crate::Ticket;

/// The end of a stream where frames are started. Dropping it ends the stream: what is under way still comes out at the
/// other end.
#[derive(Debug)]
pub struct Submissions<T, E> {
    /// A place for each frame that may be started now.
    free: Receiver<()>,
    started: Sender<Started<T, E>>,
    /// Number of the next frame.
    pushed: u64,
}

/// The end of a stream where frames come out, oldest first, each as soon as it is done: iterating waits for the oldest
/// under way, or for one to be started. Usually on a thread of its own. Dropping it waits for what is under way.
#[derive(Debug)]
pub struct Completions<T, E> {
    started: Receiver<Started<T, E>>,
    free: Sender<()>,
}

#[derive(Debug)]
struct Started<T, E> {
    number: u64,
    note: T,
    ticket: Result<Ticket, E>,
}

/// The two ends of a stream with at most `max` frames under way at once. `T` goes along with each frame; `E`
/// is why one could not be started: it comes out in the frame's place.
pub fn stream_ends<T, E>(max: NonZero<usize>) -> (Submissions<T, E>, Completions<T, E>) {
    let ((free, places), (send, started)) = (channel(), channel());
    (0..max.get()).for_each(|_| free.send(()).expect("its receiver is on the line above"));
    (Submissions { free: places, started: send, pushed: 0 }, Completions { started, free })
}

impl<T, E> Submissions<T, E> {
    /// Starts the next frame. Where as many as allowed are under way, first waits until the oldest has come out. `false` when
    /// the other end is gone: then nothing is started.
    pub fn push(&mut self, start: impl FnOnce() -> (T, Result<Ticket, E>)) -> bool {
        if self.free.recv().is_err() {
            return false;
        }
        let (note, ticket) = start();
        let sent = self.started.send(Started { number: self.pushed, note, ticket });
        self.pushed += 1;
        match sent {
            Ok(()) => true,
            Err(gone) => {
                gone.0.discard();
                false
            }
        }
    }

    /// Frames started so far, those that could not be included.
    pub const fn pushed(&self) -> u64 {
        self.pushed
    }
}

impl<T, E> Iterator for Completions<T, E> {
    type Item = (T, Finished<E>);

    /// Waits for the oldest frame; `None` when the other end is gone and nothing is under way.
    ///
    /// # Panics
    /// As for [`Ticket::wait`].
    fn next(&mut self) -> Option<Self::Item> {
        let Started { number, note, ticket } = self.started.recv().ok()?;
        let result = ticket.map(Ticket::wait);
        // Nobody starts another frame when the other end is gone.
        let _ = self.free.send(());
        Some((note, Finished { number, result }))
    }
}

impl<T, E> Drop for Completions<T, E> {
    fn drop(&mut self) {
        self.started.try_iter().for_each(Started::discard);
    }
}

impl<T, E> Started<T, E> {
    fn discard(self) {
        if let Ok(ticket) = self.ticket {
            ticket.discard();
        }
    }
}
