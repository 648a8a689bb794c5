//! The pinned memory that pageable images pass through on their way to the device.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use mip_core::threads;
use mip_runtime::device::{DeviceError, Space};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::shared::Shared;
use crate::driver::{DeviceMemory, PinnedMemory, RawEvent, RawStream, Rows, fill_past_caches};

/// Bytes of a slot: one copy of the driver's, long enough to run near the bus's rate, short enough for the first
/// one to start early.
pub(super) const SLOT: usize = 1 << 20;
/// Slots: some being filled, some being copied out of.
const SLOTS: usize = 16;
/// Bytes that a thread fills at a time: several share a slot.
const PART: usize = 64 << 10;
/// Threads beyond which there was no gain on the 16 cores of an H100's host.
const MAX_THREADS: usize = 12;

/// Slots of pinned memory used in turn, and the threads that fill them. Both are made at the first use and kept.
#[derive(Debug)]
pub(super) struct Ring {
    slots: Mutex<Slots>,
    returned: Condvar,
    threads: usize,
    /// `None` inside when the calling thread fills slots alone.
    pool: OnceLock<Option<ThreadPool>>,
}

#[derive(Debug, Default)]
struct Slots {
    /// Not being filled, the one given back first in front: its copy ends first.
    unused: std::collections::VecDeque<Slot>,
    made: usize,
}

#[derive(Debug)]
struct Slot {
    memory: PinnedMemory,
    /// Reached when the last copy out of the slot is done.
    free: RawEvent,
}

impl Slot {
    fn new(shared: &Shared) -> Result<Self, DeviceError> {
        let memory = PinnedMemory::allocate(&shared.context, SLOT);
        let memory = memory.map_err(|e| shared.allocation_error(Space::Pinned, SLOT, e))?;
        Ok(Self { memory, free: shared.check(RawEvent::new(&shared.context, false))? })
    }
}

/// Rows of the host's memory and where they go; together they fit in a slot.
pub(super) struct Piece {
    pub(super) from: Rows,
    pub(super) to: Rows,
}

impl Piece {
    const fn bytes(&self) -> usize {
        self.from.bytes * self.from.count
    }
}

impl Ring {
    /// A ring filled by so many threads; `None` for as many as the machine has cores, at most 12.
    pub(super) fn new(threads: Option<usize>) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let threads = threads.unwrap_or_else(cores).max(1);
        Self { slots: Mutex::default(), returned: Condvar::new(), threads, pool: OnceLock::new() }
    }

    /// Copies pieces of `data` to `to`. When it returns, `data` has been read and every copy is queued.
    pub(super) fn pass(
        &self,
        shared: &Shared,
        stream: &RawStream,
        data: &[u8],
        to: &DeviceMemory,
        pieces: &[Piece],
    ) -> Result<(), DeviceError> {
        let transfer = Transfer::new(self, shared, stream, data, to, pieces);
        // The calling thread takes part; a piece or two it copies faster than another thread wakes up.
        let workers = (transfer.parts.len() / 2).min(self.threads - 1);
        match self.pool().filter(|_| workers > 0) {
            None => transfer.work(),
            Some(pool) => pool.in_place_scope(|scope| {
                (0..workers).for_each(|_| scope.spawn(|_| transfer.work()));
                transfer.work();
            }),
        }
        transfer.finish()
    }

    /// Without threads (the system refused them) the calling thread does all the work.
    fn pool(&self) -> Option<&ThreadPool> {
        let make = || {
            let start = |thread: rayon::ThreadBuilder| {
                let name = format!("mip-upload-{}", thread.index());
                let started = threads::spawn(&name, "fill pinned memory", || thread.run());
                started.map(drop).map_err(std::io::Error::other)
            };
            let build = |count| ThreadPoolBuilder::new().num_threads(count).spawn_handler(start).build();
            let pool = || threads::as_many_as_there_are(self.threads - 1, build).ok();
            (self.threads > 1).then(pool).flatten().map(|(_, pool)| pool)
        };
        self.pool.get_or_init(make).as_ref()
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A slot that no copy uses any more.
    fn take(&self, shared: &Shared) -> Result<Slot, DeviceError> {
        let mut slots = self.lock();
        let slot = loop {
            if slots.made < SLOTS && slots.unused.front().is_none_or(|s| !matches!(s.free.query(), Ok(true)))
            {
                slots.made += 1;
                drop(slots);
                // Not counted when it cannot be made.
                return Slot::new(shared).inspect_err(|_| self.lock().made -= 1);
            }
            if let Some(slot) = slots.unused.pop_front() {
                break slot;
            }
            slots = self.returned.wait(slots).unwrap_or_else(PoisonError::into_inner);
        };
        drop(slots);
        let waited = shared.check(slot.free.synchronize());
        match waited {
            Ok(()) => Ok(slot),
            Err(error) => {
                self.give_back(slot);
                Err(error)
            }
        }
    }

    fn give_back(&self, slot: Slot) {
        self.lock().unused.push_back(slot);
        self.returned.notify_one();
    }
}

/// One image on its way. Threads take the parts of its pieces in order; whoever fills the last part of a piece
/// queues the copy out of its slot.
struct Transfer<'a> {
    ring: &'a Ring,
    shared: &'a Shared,
    stream: &'a RawStream,
    data: &'a [u8],
    to: &'a DeviceMemory,
    pieces: Vec<(&'a Piece, Filling)>,
    /// Piece and first byte in it.
    parts: Vec<(usize, usize)>,
    next: AtomicUsize,
    failed: Mutex<Option<DeviceError>>,
}

/// How far a piece is.
#[derive(Default)]
struct Filling {
    slot: Mutex<Option<Slot>>,
    parts_left: AtomicUsize,
}

impl<'a> Transfer<'a> {
    fn new(
        ring: &'a Ring,
        shared: &'a Shared,
        stream: &'a RawStream,
        data: &'a [u8],
        to: &'a DeviceMemory,
        pieces: &'a [Piece],
    ) -> Self {
        let parts_of = |(index, piece): (usize, &Piece)| {
            (0..piece.bytes()).step_by(PART).map(move |first| (index, first))
        };
        let parts = pieces.iter().enumerate().flat_map(parts_of).collect();
        let filling = |piece: &Piece| Filling {
            slot: Mutex::default(),
            parts_left: AtomicUsize::new(piece.bytes().div_ceil(PART)),
        };
        let pieces = pieces.iter().map(|piece| (piece, filling(piece))).collect();
        let (next, failed) = (AtomicUsize::new(0), Mutex::default());
        Self { ring, shared, stream, data, to, pieces, parts, next, failed }
    }

    /// Fills parts until none is left or something failed.
    fn work(&self) {
        while let Some(&(piece, first)) = self.parts.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = self.part(piece, first) {
                self.next.store(self.parts.len(), Ordering::Relaxed);
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                return;
            }
        }
    }

    fn part(&self, index: usize, first: usize) -> Result<(), DeviceError> {
        let (piece, filling) = &self.pieces[index];
        let block = {
            let mut slot = filling.slot.lock().unwrap_or_else(PoisonError::into_inner);
            if slot.is_none() {
                *slot = Some(self.ring.take(self.shared)?);
            }
            slot.as_ref().map(|slot| slot.memory.block().clone()).expect("taken above")
        };
        let end = (first + PART).min(piece.bytes());
        fill(&mut block.write(first..end)?, self.data, piece.from, first);
        if filling.parts_left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.queue(piece, filling)?;
        }
        Ok(())
    }

    /// Queues the copy out of a full slot.
    fn queue(&self, piece: &Piece, filling: &Filling) -> Result<(), DeviceError> {
        let Some(slot) = filling.slot.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return Ok(());
        };
        let packed = Rows { offset: 0, stride: piece.from.bytes, ..piece.from };
        let copy = || -> Result<(), DeviceError> {
            let bytes = slot.memory.block().read(0..piece.bytes())?;
            // The slot is written again only after `free` has been reached.
            self.shared.check(self.stream.upload_rows(&bytes, packed, self.to, piece.to))?;
            self.shared.check(self.stream.record(&slot.free))
        };
        let queued = copy();
        self.ring.give_back(slot);
        queued
    }

    /// Gives back slots of pieces that were left half filled.
    fn finish(self) -> Result<(), DeviceError> {
        for (_, filling) in self.pieces {
            if let Some(slot) = filling.slot.into_inner().unwrap_or_else(PoisonError::into_inner) {
                self.ring.give_back(slot);
            }
        }
        self.failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// Fills memory with the packed bytes of rows, from byte `first` of them on.
fn fill(to: &mut [u8], data: &[u8], from: Rows, first: usize) {
    if from.stride == from.bytes {
        fill_past_caches(to, &data[from.offset + first..][..to.len()]);
        return;
    }
    let mut done = 0;
    while done < to.len() {
        let (row, column) = ((first + done) / from.bytes, (first + done) % from.bytes);
        let count = (from.bytes - column).min(to.len() - done);
        let source = from.offset + row * from.stride + column;
        fill_past_caches(&mut to[done..done + count], &data[source..source + count]);
        done += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_begin_and_end_anywhere_in_rows() {
        let data: Vec<u8> = (0..100).collect();
        let rows = Rows { offset: 3, stride: 10, bytes: 7, count: 5 };
        let packed: Vec<u8> =
            (0..5).flat_map(|row| (0..7).map(move |column| 3 + row * 10 + column)).collect();
        for first in 0..packed.len() {
            for end in first..=packed.len() {
                let mut part = vec![0; end - first];
                fill(&mut part, &data, rows, first);
                assert_eq!(part, packed[first..end], "{first}..{end}");
            }
        }
        let mut run = [0; 5];
        fill(&mut run, &data, Rows { offset: 3, stride: 7, bytes: 7, count: 5 }, 9);
        assert_eq!(run, [12, 13, 14, 15, 16]);
    }
}
