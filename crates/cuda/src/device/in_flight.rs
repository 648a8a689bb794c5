use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mip_runtime::device::{DeviceError, Launch};

use super::executable::CudaExecutable;

/// What the commands queued on one stream still hold, in stream order.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    waiting: VecDeque<Entry>,
    /// Entries ever made: the position of the next one.
    made: u64,
}

/// A command that was queued.
#[derive(Debug)]
pub(super) enum Entry {
    /// Its observer learns of its completion. The stream marks that point.
    Launch(Launch),
    /// The same as part of a graph, whose end is not marked.
    Replayed(Launch),
    /// Nothing after it runs before that point.
    Wait(Point),
    /// Let go when the command has ended.
    Kept(#[expect(dead_code, reason = "held for its drop")] Box<dyn Any + Send>),
}

/// A point in a stream: its in-flight list, and how far it goes there.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) in_flight: Weak<InFlight>,
    pub(super) position: u64,
}

/// A launch that may have been running when the device was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The position after it.
    pub(super) end: u64,
    /// The group's kernels.
    pub(super) kernel: String,
    /// Whether it was part of a graph: then nothing is known of where in it.
    pub(super) replayed: bool,
}

/// What is known of an entry when candidates are looked for.
enum Seen {
    Launch { end: u64, kernel: String, replayed: bool },
    Wait(Point),
}

impl Point {
    /// The point has been reached, and with it all before it.
    pub(super) fn reached(&self) {
        if let Some(in_flight) = self.in_flight.upgrade() {
            in_flight.reached(self.position);
        }
    }
}

impl Entry {
    pub(super) fn keep(kept: impl Any + Send) -> Self {
        Self::Kept(Box::new(kept))
    }
}

impl InFlight {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes down a command that was queued; the position after it.
    pub(super) fn add(&self, entry: Entry) -> u64 {
        let mut entries = self.lock();
        entries.waiting.push_back(entry);
        entries.made += 1;
        entries.made
    }

    /// The position after everything queued so far.
    pub(super) fn position(&self) -> u64 {
        self.lock().made
    }

    /// Number of commands not settled.
    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Everything before `position` has ended well, and what it waited for on other streams.
    pub(super) fn reached(&self, position: u64) {
        self.settle_all(position, true, |_| Ok(()));
    }

    /// Nothing before `position` runs any more; `result` gives a launch its result, by the position after it.
    pub(super) fn settle(&self, position: u64, result: impl Fn(u64) -> Result<(), DeviceError>) {
        self.settle_all(position, false, result);
    }

    fn settle_all(&self, position: u64, all_reached: bool, result: impl Fn(u64) -> Result<(), DeviceError>) {
        loop {
            // One at a time, so that observers are called without the lock and still in order.
            let (entry, end) = {
                let mut entries = self.lock();
                let first = entries.made - entries.waiting.len() as u64;
                let entry = if first >= position { None } else { entries.waiting.pop_front() };
                (entry, first + 1)
            };
            match entry {
                None => return,
                // What the stream got past has been reached.
                Some(Entry::Wait(point)) if all_reached => point.reached(),
                Some(Entry::Launch(launch) | Entry::Replayed(launch)) => {
                    let (observer, group) = (launch.observer.clone(), launch.group);
                    drop(launch); // before the observer learns of it: it may hand the memory on
                    observer.end(group, result(end));
                }
                Some(Entry::Wait(_) | Entry::Kept(_)) => {}
            }
        }
    }

    /// The launches that may have been running when the stream's mark stood at `mark`: the first one not marked,
    /// if all it waits for was; without a mark and within graphs, all of them. `marks` tells the marks of other streams;
    /// one without a mark holds nothing back.
    pub(super) fn candidates(
        &self,
        mark: Option<u32>,
        marks: impl Fn(&Arc<Self>) -> Option<u32>,
    ) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for seen in self.seen() {
            match seen {
                Seen::Wait(point) => {
                    let in_flight = point.in_flight.upgrade();
                    let other = in_flight.and_then(|in_flight| Some((marks(&in_flight)?, in_flight)));
                    if other.is_some_and(|(mark, in_flight)| in_flight.is_before(point.position, mark)) {
                        break;
                    }
                }
                Seen::Launch { end, .. } if mark.is_some_and(|mark| has_passed(mark, end)) => {}
                Seen::Launch { end, kernel, replayed } => {
                    candidates.push(Candidate { end, kernel, replayed });
                    if !replayed && mark.is_some() {
                        break;
                    }
                }
            }
        }
        candidates
    }

    /// A copy, so that no other list is looked at under this one's lock.
    fn seen(&self) -> Vec<Seen> {
        let entries = self.lock();
        let first = entries.made - entries.waiting.len() as u64;
        let seen = |(end, entry): (u64, &Entry)| match entry {
            Entry::Launch(launch) => Some(Seen::Launch { end, kernel: kernel(launch), replayed: false }),
            Entry::Replayed(launch) => Some(Seen::Launch { end, kernel: kernel(launch), replayed: true }),
            Entry::Wait(point) => Some(Seen::Wait(point.clone())),
            Entry::Kept(_) => None,
        };
        (first + 1..).zip(&entries.waiting).filter_map(seen).collect()
    }

    /// Whether a marked launch before `position` has not ended.
    fn is_before(&self, position: u64, mark: u32) -> bool {
        let entries = self.lock();
        let first = entries.made - entries.waiting.len() as u64;
        let mut before = (first + 1..=position).zip(&entries.waiting);
        before.any(|(end, entry)| matches!(entry, Entry::Launch(_)) && !has_passed(mark, end))
    }
}

/// Whether a stream whose mark stands at `mark` is past a position. Marks hold the lower half of positions; those
/// compared are never half the range apart.
pub(super) const fn has_passed(mark: u32, position: u64) -> bool {
    mark.wrapping_sub(position as u32).cast_signed() >= 0
}

fn kernel(launch: &Launch) -> String {
    let executable = launch.executable.as_any().downcast_ref::<CudaExecutable>();
    executable.map_or("", CudaExecutable::name).to_owned()
}

#[cfg(test)]
#[path = "in_flight/tests.rs"]
mod tests;
