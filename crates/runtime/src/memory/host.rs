use std::alloc::{Layout, alloc, dealloc};
use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use mip_core::faults::{self, Fault};
use mip_core::{ALIGNMENT, HostStorage};

use crate::device::DeviceError;

/// A block of host memory that several threads use at once, each its own ranges.
///
/// Ranges are borrowed at run time: [`HostBlock::read`] and [`HostBlock::write`] refuse a range that
/// overlaps one somebody is writing (or, for `write`, reading). A plan that orders its tasks correctly is
/// never refused, so a refusal is a fault of the plan, found before it corrupts a pixel.
pub struct HostBlock {
    start: NonNull<u8>,
    len: usize,
    borrows: Mutex<Vec<Borrow>>,
    /// Whoever owns the memory, when that is somebody else.
    foreign: Option<Box<dyn Any + Send + Sync>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Borrow {
    range: Range<usize>,
    write: bool,
}

// SAFETY: `start` is the only pointer to the allocation and is reached through guards alone; `borrows`
// (a mutex) guarantees that a byte under a write guard is under no other guard. Upheld by this module.
unsafe impl Send for HostBlock {}
// SAFETY: as for `Send`: shared access hands out guards, and guards never alias mutably.
unsafe impl Sync for HostBlock {}

impl HostBlock {
    /// A zeroed block of `len` bytes, aligned to [`ALIGNMENT`]. `None` when there is no memory.
    ///
    /// Zeroing touches each page once, here rather than in the first kernel (a fresh page costs 2 to 3 us).
    pub fn new(len: usize) -> Option<Arc<Self>> {
        let layout = Self::layout(len)?;
        if faults::strikes(Fault::Alloc) {
            return None;
        }
        // SAFETY: the layout's size is at least ALIGNMENT, not zero.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        // SAFETY: `start` is valid for `layout.size()` bytes, just allocated and not shared yet.
        unsafe { start.write_bytes(0, layout.size()) };
        Some(Arc::new(Self { start, len, borrows: Mutex::default(), foreign: None }))
    }

    /// A block over memory allocated elsewhere (pinned by a driver, say), which `owner` frees when it is dropped.
    ///
    /// # Safety
    /// `start` must be valid for reads and writes of `len` initialised bytes, and reached through this block
    /// alone (or by a device while a guard of this block is held for it), until `owner` has been dropped.
    pub unsafe fn from_foreign(
        start: NonNull<u8>,
        len: usize,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Arc<Self> {
        Arc::new(Self { start, len, borrows: Mutex::default(), foreign: Some(owner) })
    }

    fn layout(len: usize) -> Option<Layout> {
        Layout::from_size_align(len.max(1).checked_next_multiple_of(ALIGNMENT)?, ALIGNMENT).ok()
    }

    /// Size in bytes.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the size is 0.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Borrows a range for reading.
    ///
    /// # Errors
    /// [`DeviceError::Conflict`] when somebody writes part of it, or it lies outside the block.
    pub fn read(self: &Arc<Self>, range: Range<usize>) -> Result<ReadGuard, DeviceError> {
        self.borrow(range.clone(), false)?;
        Ok(ReadGuard { block: self.clone(), range })
    }

    /// Borrows a range for writing.
    ///
    /// # Errors
    /// [`DeviceError::Conflict`] when somebody reads or writes part of it, or it lies outside the block.
    pub fn write(self: &Arc<Self>, range: Range<usize>) -> Result<WriteGuard, DeviceError> {
        self.borrow(range.clone(), true)?;
        Ok(WriteGuard { block: self.clone(), range })
    }

    fn borrow(&self, range: Range<usize>, write: bool) -> Result<(), DeviceError> {
        if range.start > range.end || range.end > self.len {
            return Err(DeviceError::Conflict(format!(
                "range {range:?} outside a block of {} bytes",
                self.len
            )));
        }
        let mut borrows = self.borrows.lock().unwrap_or_else(PoisonError::into_inner);
        let clash = |b: &&Borrow| {
            (b.write || write) && b.range.start < range.end && range.start < b.range.end && !range.is_empty()
        };
        if let Some(held) = borrows.iter().find(clash) {
            let verb = |w| if w { "writing" } else { "reading" };
            let text = format!(
                "{} bytes {range:?} while somebody is {} {:?}",
                verb(write),
                verb(held.write),
                held.range
            );
            return Err(DeviceError::Conflict(text));
        }
        borrows.push(Borrow { range, write });
        Ok(())
    }

    fn give_back(&self, range: &Range<usize>, write: bool) {
        let mut borrows = self.borrows.lock().unwrap_or_else(PoisonError::into_inner);
        let held = borrows.iter().position(|b| b.range == *range && b.write == write);
        borrows.swap_remove(held.expect("a guard gives back what it borrowed"));
    }
}

impl Drop for HostBlock {
    fn drop(&mut self) {
        if self.foreign.is_some() {
            return; // The owner frees the memory, right after this.
        }
        let layout = Self::layout(self.len).expect("the layout it was allocated with");
        // SAFETY: allocated in `new` with this layout; guards hold an `Arc`, so none is left.
        unsafe { dealloc(self.start.as_ptr(), layout) };
    }
}

impl fmt::Debug for HostBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostBlock({} bytes)", self.len)
    }
}

/// A range borrowed for reading.
#[derive(Debug)]
pub struct ReadGuard {
    block: Arc<HostBlock>,
    range: Range<usize>,
}

impl ReadGuard {
    /// Where the range begins, as an address of the block itself and not of a slice that is only read.
    pub(crate) fn start(&self) -> NonNull<u8> {
        // Inside the block, so not null.
        let start = self.block.start.as_ptr().wrapping_add(self.range.start);
        NonNull::new(start).expect("an address inside a block")
    }
}

impl Deref for ReadGuard {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the range lies inside the initialised allocation (checked in `borrow`), and while this
        // guard is registered nobody gets a write guard that overlaps it.
        unsafe {
            std::slice::from_raw_parts(self.block.start.as_ptr().add(self.range.start), self.range.len())
        }
    }
}

impl Drop for ReadGuard {
    fn drop(&mut self) {
        self.block.give_back(&self.range, false);
    }
}

impl HostStorage for ReadGuard {
    fn bytes(&self) -> &[u8] {
        self
    }
}

/// A range borrowed for writing.
#[derive(Debug)]
pub struct WriteGuard {
    block: Arc<HostBlock>,
    range: Range<usize>,
}

impl Deref for WriteGuard {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: as for `ReadGuard`; this guard is the only one on its range.
        unsafe {
            std::slice::from_raw_parts(self.block.start.as_ptr().add(self.range.start), self.range.len())
        }
    }
}

impl DerefMut for WriteGuard {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: inside the allocation, and this guard is the only one on its range; `&mut self` makes the
        // slice unique.
        unsafe {
            std::slice::from_raw_parts_mut(self.block.start.as_ptr().add(self.range.start), self.range.len())
        }
    }
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        self.block.give_back(&self.range, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disjoint_writers_and_overlapping_readers_are_fine() {
        let block = HostBlock::new(100).unwrap();
        let (mut a, mut b) = (block.write(0..50).unwrap(), block.write(50..100).unwrap());
        a[49] = 1;
        b[0] = 2;
        drop((a, b));
        let (r, s) = (block.read(0..60).unwrap(), block.read(40..100).unwrap());
        assert_eq!((r[49], s[10]), (1, 2));
    }

    #[test]
    fn overlapping_writers_are_refused_until_the_guard_is_gone() {
        let block = HostBlock::new(100).unwrap();
        let read = block.read(10..20).unwrap();
        assert!(matches!(block.write(19..30), Err(DeviceError::Conflict(_))));
        assert!(block.write(20..30).is_ok());
        drop(read);
        let write = block.write(19..30).unwrap();
        assert!(block.read(0..20).is_err() && block.read(0..19).is_ok());
        drop(write);
        assert!(block.read(0..100).is_ok());
    }

    #[test]
    fn foreign_memory_is_freed_by_its_owner_after_the_last_guard() {
        let mut memory = Box::new([7_u8; 16]);
        let start = NonNull::new(memory.as_mut_ptr()).unwrap();
        let owner = Arc::new(memory);
        // SAFETY: the array is initialised, lives on the heap until `owner` is gone, and nobody else reads it.
        let block = unsafe { HostBlock::from_foreign(start, 16, Box::new(owner.clone())) };
        let read = block.read(4..8).unwrap();
        assert!(block.write(0..5).is_err() && block.read(0..17).is_err());
        drop(block);
        assert_eq!((&*read, Arc::strong_count(&owner)), (&[7; 4][..], 2));
        drop(read);
        assert_eq!(Arc::strong_count(&owner), 1);
    }

    #[test]
    fn ranges_outside_are_refused_and_empty_ones_never_clash() {
        let block = HostBlock::new(10).unwrap();
        assert!(block.read(5..11).is_err());
        let _all = block.write(0..10).unwrap();
        assert!(block.write(5..5).is_ok());
    }
}
