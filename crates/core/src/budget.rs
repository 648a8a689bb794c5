use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::byte_text;

/// Bytes that may be held at once by everybody who shares this: decoders, runs, encoders.
///
/// Bytes are counted before they are asked of the system, and given back when a [`Reservation`] is dropped.
#[derive(Debug)]
pub struct MemoryBudget {
    limit: usize,
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct State {
    held: usize,
    peak: usize,
    /// Of the bytes held, those of work done ahead of its use.
    ahead: usize,
    /// Threads that wait for memory.
    waiting: usize,
    /// Counts the times that waiting was given up for all.
    refusals: u64,
}

/// More bytes than the budget has, or has left.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} of memory are needed, but the limit is {}{}; raise it (--memory-limit) or use smaller images",
    byte_text(*.requested), byte_text(*.limit), held_text(*.held)
)]
pub struct OverBudget {
    /// Bytes asked for.
    pub requested: usize,
    /// Bytes held already, by others or for other things.
    pub held: usize,
    /// Bytes allowed in all.
    pub limit: usize,
}

fn held_text(held: usize) -> String {
    if held == 0 { String::new() } else { format!(" and {} are in use", byte_text(held)) }
}

impl MemoryBudget {
    /// At most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, state: Mutex::default(), moved: Condvar::new() }
    }

    /// So many that nothing is ever refused.
    pub fn unlimited() -> Self {
        Self::new(usize::MAX)
    }

    /// Bytes allowed in all.
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// Bytes held now.
    pub fn held(&self) -> usize {
        self.lock().held
    }

    /// Most bytes ever held at once.
    pub fn peak(&self) -> usize {
        self.lock().peak
    }

    /// Whether somebody waits in [`MemoryBudget::reserve_ahead`].
    pub fn is_waited_for(&self) -> bool {
        self.lock().waiting > 0
    }

    /// Counts `bytes` as held, if that many are left now.
    ///
    /// # Errors
    /// [`OverBudget`].
    pub fn claim(&self, bytes: usize) -> Result<(), OverBudget> {
        self.lock().claim(bytes, self.limit)
    }

    /// Counts bytes as held no more that [`MemoryBudget::claim`] counted.
    pub fn release(&self, bytes: usize) {
        self.lock().held -= bytes;
        self.moved.notify_all();
    }

    /// [`MemoryBudget::claim`], given back when the reservation is dropped.
    ///
    /// # Errors
    /// [`OverBudget`].
    pub fn reserve(self: &Arc<Self>, bytes: usize) -> Result<Reservation, OverBudget> {
        self.claim(bytes)?;
        Ok(Reservation { budget: self.clone(), bytes, ahead: false })
    }

    /// Bytes for work that is done ahead of its use, such as decoding. Waits until such work holds at most half of the
    /// limit (so that the use has room), or nothing at all.
    ///
    /// # Errors
    /// [`OverBudget`] for more than the limit, at once; and when [`MemoryBudget::refuse_waiting`] was called since
    /// [`MemoryBudget::refusals`] was `refusals`, for what does not fit.
    pub fn reserve_ahead(self: &Arc<Self>, bytes: usize, refusals: u64) -> Result<Reservation, OverBudget> {
        let mut state = self.lock();
        if bytes > self.limit {
            return Err(OverBudget { requested: bytes, held: 0, limit: self.limit });
        }
        let has_room = |state: &State| {
            let fits = state.held.checked_add(bytes).is_some_and(|sum| sum <= self.limit);
            fits && (state.ahead == 0 || state.ahead + bytes <= self.limit / 2)
        };
        state.waiting += 1;
        while !has_room(&state) && state.refusals == refusals {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
        state.claim(bytes, self.limit)?;
        state.ahead += bytes;
        Ok(Reservation { budget: self.clone(), bytes, ahead: true })
    }

    /// Ends all waiting: whoever waits takes what is left or is refused. For when it is known that nobody will give
    /// memory back.
    pub fn refuse_waiting(&self) {
        self.lock().refusals += 1;
        self.moved.notify_all();
    }

    /// How often waiting was ended.
    pub fn refusals(&self) -> u64 {
        self.lock().refusals
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn claim(&mut self, bytes: usize, limit: usize) -> Result<(), OverBudget> {
        let held = self.held.checked_add(bytes).filter(|&sum| sum <= limit);
        self.held = held.ok_or(OverBudget { requested: bytes, held: self.held, limit })?;
        self.peak = self.peak.max(self.held);
        Ok(())
    }
}

/// Bytes counted in a [`MemoryBudget`] until this is dropped.
pub struct Reservation {
    budget: Arc<MemoryBudget>,
    bytes: usize,
    ahead: bool,
}

impl Reservation {
    /// Bytes held.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes sure that at least `bytes` are held, without waiting.
    ///
    /// # Errors
    /// [`OverBudget`]; then as many are held as before.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), OverBudget> {
        let Some(more) = bytes.checked_sub(self.bytes) else { return Ok(()) };
        let mut state = self.budget.lock();
        state.claim(more, self.budget.limit)?;
        state.ahead += if self.ahead { more } else { 0 };
        self.bytes = bytes;
        Ok(())
    }

    /// Gives back all but `bytes` (or nothing, when fewer are held).
    pub fn shrink_to(&mut self, bytes: usize) {
        drop(self.split(self.bytes.saturating_sub(bytes)));
    }

    /// Takes `bytes` (or all, when fewer are held) into a reservation of their own.
    #[must_use]
    pub fn split(&mut self, bytes: usize) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { budget: self.budget.clone(), bytes, ahead: self.ahead }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut state = self.budget.lock();
        state.held -= self.bytes;
        state.ahead -= if self.ahead { self.bytes } else { 0 };
        drop(state);
        self.budget.moved.notify_all();
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reservation({} bytes)", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_held_is_given_back_and_never_more_than_the_limit() {
        let budget = Arc::new(MemoryBudget::new(100));
        let mut first = budget.reserve(60).unwrap();
        let refused = budget.reserve(41).unwrap_err();
        assert_eq!(refused, OverBudget { requested: 41, held: 60, limit: 100 });
        assert!(first.grow_to(101).is_err());
        first.grow_to(100).unwrap();
        let second = first.split(30);
        first.shrink_to(10);
        assert_eq!((first.bytes(), second.bytes(), budget.held()), (10, 30, 40));
        drop((first, second));
        assert_eq!((budget.held(), budget.peak()), (0, 100));
    }

    #[test]
    fn errors_say_what_is_needed_and_the_remedy() {
        let budget = Arc::new(MemoryBudget::new(1 << 30));
        let text = budget.reserve_ahead(3 << 30, 0).unwrap_err().to_string();
        assert_eq!(
            text,
            "3.00 GiB of memory are needed, but the limit is 1.00 GiB; raise it (--memory-limit) or use smaller images"
        );
        assert!(budget.claim(usize::MAX).is_err());
    }

    #[test]
    fn work_ahead_takes_half_or_goes_alone() {
        let budget = Arc::new(MemoryBudget::new(100));
        let small = budget.reserve_ahead(20, 0).unwrap();
        let also = budget.reserve_ahead(30, 0).unwrap();
        let large = thread::spawn({
            let budget = budget.clone();
            move || budget.reserve_ahead(90, 0).map(|r| r.bytes())
        });
        while !budget.is_waited_for() {
            thread::sleep(Duration::from_millis(1));
        }
        drop(small);
        thread::sleep(Duration::from_millis(20));
        assert!(!large.is_finished(), "30 bytes are held still");
        drop(also);
        assert_eq!(large.join().unwrap(), Ok(90));
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn waiting_can_be_given_up() {
        let budget = Arc::new(MemoryBudget::new(100));
        let kept = budget.reserve(50).unwrap();
        let waits = thread::spawn({
            let budget = budget.clone();
            move || budget.reserve_ahead(60, 0).map(drop)
        });
        while !budget.is_waited_for() {
            thread::sleep(Duration::from_millis(1));
        }
        budget.refuse_waiting();
        assert_eq!(waits.join().unwrap(), Err(OverBudget { requested: 60, held: 50, limit: 100 }));
        drop(kept);
        assert_eq!(budget.held(), 0);
    }
}
