//! Results in order of numbers, whatever order they are made in.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A reorder buffer: takes results as they are done, and gives them out in the order in which they were begun. At most
/// `window` are begun and not given out.
#[derive(Debug)]
pub(crate) struct Reorder<T> {
    window: NonZero<usize>,
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    finished: BTreeMap<u64, T>,
    /// Begun so far.
    begun: u64,
    /// Finished so far.
    ended: u64,
    /// The next to be given out.
    next: u64,
    /// Nothing more is begun.
    closed: bool,
    /// Nobody wants results.
    abandoned: bool,
}

impl<T> State<T> {
    const fn under_way(&self) -> u64 {
        self.begun - self.next
    }
}

/// Both ends of a new buffer.
pub(crate) fn reorder<T>(window: NonZero<usize>) -> (Begins<T>, Results<T>) {
    let state =
        State { finished: BTreeMap::new(), begun: 0, ended: 0, next: 0, closed: false, abandoned: false };
    let buffer = Arc::new(Reorder { window, state: Mutex::new(state), changed: Condvar::new() });
    (Begins(buffer.clone()), Results(buffer))
}

/// The end where things are begun. Dropping it says that there is nothing more.
#[derive(Debug)]
pub(crate) struct Begins<T>(Arc<Reorder<T>>);

/// The end where results come out. Dropping it waits for what is under way.
#[derive(Debug)]
pub(crate) struct Results<T>(Arc<Reorder<T>>);

impl<T> Reorder<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether as many are under way as may be.
    pub(crate) fn is_full(&self) -> bool {
        self.state().under_way() >= self.window.get() as u64
    }

    /// Begun and not given out.
    pub(crate) fn under_way(&self) -> usize {
        self.state().under_way() as usize
    }

    /// Begun so far.
    pub(crate) fn begun(&self) -> u64 {
        self.state().begun
    }

    /// Whether nobody wants results any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.state().abandoned
    }

    /// The result of `number`.
    pub(crate) fn finish(&self, number: u64, result: T) {
        let mut state = self.state();
        state.ended += 1;
        if !state.abandoned {
            state.finished.insert(number, result);
        }
        drop(state);
        self.changed.notify_all();
    }
}

impl<T> Begins<T> {
    /// The number of the next thing, once fewer than the window are under way. `None` when nobody wants its result.
    pub(crate) fn begin(&self) -> Option<u64> {
        let full = |state: &mut State<T>| !state.abandoned && state.under_way() >= self.window.get() as u64;
        let mut state = self.changed.wait_while(self.state(), full).unwrap_or_else(PoisonError::into_inner);
        if state.abandoned {
            return None;
        }
        state.begun += 1;
        Some(state.begun - 1)
    }

    /// Where results are to go.
    pub(crate) fn buffer(&self) -> Arc<Reorder<T>> {
        self.0.clone()
    }
}

impl<T> Results<T> {
    /// The next result and its number, once it is there; `None` when nothing is under way.
    pub(crate) fn next_under_way(&mut self) -> Option<(u64, T)> {
        self.wait(|state| state.under_way() == 0)
    }

    /// As [`Results::next_under_way`], but waits also for something to be begun, until nothing more is.
    pub(crate) fn next(&mut self) -> Option<(u64, T)> {
        self.wait(|state| state.under_way() == 0 && state.closed)
    }

    fn wait(&self, over: impl Fn(&State<T>) -> bool) -> Option<(u64, T)> {
        let open = |state: &mut State<T>| !state.finished.contains_key(&state.next) && !over(state);
        let mut state = self.changed.wait_while(self.state(), open).unwrap_or_else(PoisonError::into_inner);
        let number = state.next;
        let result = state.finished.remove(&number)?;
        state.next += 1;
        drop(state);
        self.changed.notify_all();
        Some((number, result))
    }
}

impl<T> Deref for Begins<T> {
    type Target = Reorder<T>;

    fn deref(&self) -> &Reorder<T> {
        &self.0
    }
}

impl<T> Deref for Results<T> {
    type Target = Reorder<T>;

    fn deref(&self) -> &Reorder<T> {
        &self.0
    }
}

impl<T> Drop for Begins<T> {
    fn drop(&mut self) {
        self.state().closed = true;
        self.changed.notify_all();
    }
}

impl<T> Drop for Results<T> {
    fn drop(&mut self) {
        let mut state = self.state();
        state.abandoned = true;
        let given_up = std::mem::take(&mut state.finished);
        drop(state);
        self.changed.notify_all();
        drop(given_up);
        let going = |state: &mut State<T>| state.ended < state.begun;
        drop(self.changed.wait_while(self.state(), going).unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn window(size: usize) -> (Begins<u32>, Results<u32>) {
        reorder(NonZero::new(size).unwrap())
    }

    #[test]
    fn results_come_in_order() {
        let (begins, mut results) = window(4);
        let buffer = begins.buffer();
        for expected in 0..4 {
            assert_eq!(begins.begin(), Some(expected));
        }
        assert!(begins.is_full());
        for number in [2, 0, 3, 1] {
            buffer.finish(number, number as u32 * 10);
        }
        for number in 0..4 {
            assert_eq!(results.next_under_way(), Some((number, number as u32 * 10)));
        }
        assert_eq!(results.next_under_way(), None);
        drop(begins);
        assert_eq!(results.next(), None);
    }

    #[test]
    fn whoever_begins_waits_while_the_window_is_full() {
        let (begins, mut results) = window(1);
        let buffer = begins.buffer();
        assert_eq!(begins.begin(), Some(0));
        thread::scope(|scope| {
            let second = scope.spawn(|| begins.begin());
            thread::sleep(Duration::from_millis(20));
            assert!(!second.is_finished());
            buffer.finish(0, 7);
            assert_eq!(results.next(), Some((0, 7)));
            assert_eq!(second.join().unwrap(), Some(1));
            buffer.finish(1, 8);
        });
    }

    #[test]
    fn nothing_is_begun_for_nobody_and_what_is_under_way_is_waited_for() {
        let (begins, results) = window(2);
        let buffer = begins.buffer();
        assert_eq!(begins.begin(), Some(0));
        thread::scope(|scope| {
            let dropping = scope.spawn(move || drop(results));
            while !buffer.is_abandoned() {
                thread::yield_now();
            }
            assert!(!dropping.is_finished());
            assert_eq!(begins.begin(), None);
            buffer.finish(0, 1);
        });
    }
}
