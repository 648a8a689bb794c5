use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use super::profile::{Mark, Place, Profile, Row, Span};
use crate::device::{Device, Ranges, Stream};

/// Spans kept until they are taken; an endless stream of frames must not take endless memory.
const MAX: usize = 1 << 20;

/// Collects spans from all threads.
#[derive(Debug)]
pub(super) struct Profiler {
    epoch: Instant,
    collected: Mutex<Collected>,
    ranges: OnceLock<Option<Arc<dyn Ranges>>>,
    runs: AtomicU64,
    flows: AtomicU64,
}

#[derive(Debug, Default)]
struct Collected {
    profile: Profile,
    exclusive_copies: bool,
    threads: Vec<(ThreadId, usize)>,
    /// With the row of each. Held weakly, which keeps the address from being given to another.
    streams: Vec<(Weak<dyn Stream>, usize)>,
    sessions: usize,
}

impl Profiler {
    pub(super) fn new() -> Self {
        Self {
            epoch: Instant::now(),
            collected: Mutex::default(),
            ranges: OnceLock::new(),
            runs: AtomicU64::new(0),
            flows: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn next_run(&self) -> u64 {
        self.runs.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn next_flow(&self) -> u64 {
        self.flows.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn since_start(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.epoch)
    }

    /// Learns what the profile is of.
    pub(super) fn adopt(&self, device: &dyn Device) {
        let info = device.info();
        let mut collected = self.lock();
        collected.profile.device.clone_from(&info.name);
        collected.exclusive_copies = !info.unified_memory;
        drop(collected);
        self.ranges.get_or_init(|| device.ranges());
    }

    pub(super) fn ranges(&self) -> Option<&dyn Ranges> {
        self.ranges.get()?.as_deref()
    }

    /// The row of the calling thread.
    pub(super) fn this_thread(&self) -> usize {
        self.lock().thread()
    }

    /// The rows of a session's streams, in the order of its streams.
    pub(super) fn rows_of(&self, streams: &[Arc<dyn Stream>]) -> Vec<usize> {
        self.lock().streams(streams)
    }

    pub(super) fn add(&self, span: Span) {
        let mut collected = self.lock();
        if collected.profile.spans.len() < MAX {
            collected.profile.spans.push(span);
        } else {
            collected.profile.dropped += 1;
        }
    }

    pub(super) fn drop_one(&self) {
        self.lock().profile.dropped += 1;
    }

    pub(super) fn mark(&self, name: String) {
        let at = self.since_start(Instant::now());
        let mut collected = self.lock();
        let row = collected.thread();
        if collected.profile.marks.len() < MAX {
            collected.profile.marks.push(Mark { row, name, at });
        }
    }

    /// Hands out what was recorded; goes on with nothing recorded, on the same rows.
    pub(super) fn take(&self) -> Profile {
        let mut collected = self.lock();
        let emptied = Profile {
            device: collected.profile.device.clone(),
            rows: collected.profile.rows.clone(),
            ..Profile::default()
        };
        let taken = std::mem::replace(&mut collected.profile, emptied);
        let exclusive = collected.exclusive_copies;
        drop(collected);
        taken.settle(exclusive)
    }
}

impl Collected {
    fn row(&mut self, place: Place, name: String) -> usize {
        self.profile.rows.push(Row { place, name });
        self.profile.rows.len() - 1
    }

    fn thread(&mut self) -> usize {
        let id = thread::current().id();
        if let Some((_, row)) = self.threads.iter().find(|(known, _)| *known == id) {
            return *row;
        }
        let number = self.threads.len();
        let name = thread::current().name().map_or_else(|| format!("thread {number}"), str::to_owned);
        let row = self.row(Place::Thread(number), name);
        self.threads.push((id, row));
        row
    }

    fn streams(&mut self, streams: &[Arc<dyn Stream>]) -> Vec<usize> {
        let known = |stream: &Arc<dyn Stream>| {
            let same =
                |known: &(Weak<dyn Stream>, usize)| std::ptr::addr_eq(known.0.as_ptr(), Arc::as_ptr(stream));
            self.streams.iter().find(|known| same(known)).map(|(_, row)| *row)
        };
        if let Some(rows) = streams.iter().map(known).collect::<Option<Vec<_>>>() {
            return rows;
        }
        let session = self.sessions;
        self.sessions += 1;
        let rows = streams.iter().enumerate().map(|(index, stream)| {
            let row = self
                .row(Place::Stream { session, stream: index }, format!("session {session}, stream {index}"));
            self.streams.push((Arc::downgrade(stream), row));
            row
        });
        rows.collect()
    }
}
