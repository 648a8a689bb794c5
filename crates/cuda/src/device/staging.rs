//! Copies between host and device: which rows they are made of, and the pinned memory that pageable sources
//! go through.

use std::sync::{Arc, Mutex, PoisonError};

use mip_core::{BatchLayout, ImageBuffer};
use mip_runtime::device::{BufferRef, DeviceError};
use mip_runtime::memory::WriteGuard;

use super::shared::Shared;
use crate::driver::{DeviceMemory, PinnedMemory, RawEvent, RawStream, Rows, is_pinned};

/// Bytes of a piece of staging memory: large enough to run at the bus's rate, small enough that the first copy
/// starts while the second piece is being filled.
const SLOT: usize = 2 << 20;
const SLOTS: usize = 6;

/// A ring of pinned pieces that pageable images are copied through. Made at the first use.
#[derive(Debug, Default)]
pub(super) struct Staging {
    ring: Mutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    slots: Vec<Slot>,
    next: usize,
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
        let memory =
            memory.map_err(|e| shared.allocation_error(mip_runtime::device::Space::Pinned, SLOT, e))?;
        Ok(Self { memory, free: shared.check(RawEvent::new(&shared.context, false))? })
    }
}

/// The rows of a batch as few sets of equally spaced rows: one, if planes and frames follow each other at the
/// rows' distance; else one a plane.
fn row_sets(layout: &BatchLayout, offset: usize) -> Vec<Rows> {
    let (height, planes, frames) = (layout.desc.height as usize, layout.desc.planes(), layout.batch_size);
    let bytes = layout.desc.row_bytes();
    (0..frames)
        .flat_map(|f| (0..planes).map(move |p| f * layout.batch_stride + p * layout.plane_stride))
        .map(|start| Rows { offset: offset + start, stride: layout.row_stride, bytes, count: height })
        .collect()
}

fn is_even(layout: &BatchLayout) -> bool {
    let plane = layout.row_stride * layout.desc.height as usize;
    (layout.desc.planes() == 1 || layout.plane_stride == plane)
        && (layout.batch_size == 1 || layout.batch_stride == plane * layout.desc.planes())
}

/// Matching sets of rows of two layouts of the same shape.
fn matching(from: (&BatchLayout, usize), to: (&BatchLayout, usize)) -> Vec<(Rows, Rows)> {
    let (mut a, mut b) = (row_sets(from.0, from.1), row_sets(to.0, to.1));
    if is_even(from.0) && is_even(to.0) {
        let count = a.iter().map(|rows| rows.count).sum();
        a.truncate(1);
        b.truncate(1);
        (a[0].count, b[0].count) = (count, count);
    }
    a.into_iter().zip(b).collect()
}

/// Queues the copy of an image to the device. Returns what must be kept until the stream is past it.
pub(super) fn upload(
    shared: &Shared,
    stream: &RawStream,
    from: &ImageBuffer,
    to: &DeviceMemory,
    at: &BufferRef,
) -> Result<Option<ImageBuffer>, DeviceError> {
    same_shape(from.layout(), &at.layout)?;
    let view = from.view();
    let pairs = matching((from.layout(), 0), (&at.layout, at.offset));
    if is_pinned(&shared.context, view.data()) {
        for (source, target) in pairs {
            shared.check(stream.upload_rows(view.data(), source, to, target))?;
        }
        return Ok(Some(from.clone()));
    }
    for (source, target) in pairs {
        staged(shared, stream, view.data(), source, to, target)?;
    }
    Ok(None)
}

fn same_shape(from: &BatchLayout, to: &BatchLayout) -> Result<(), DeviceError> {
    if from.desc == to.desc && from.batch_size == to.batch_size {
        return Ok(());
    }
    let text = |l: &BatchLayout| format!("{} (batch of {})", l.desc, l.batch_size);
    Err(DeviceError::Conflict(format!("a copy from {} to {}", text(from), text(to))))
}

/// Copies rows through the ring, as many at a time as a slot holds.
fn staged(
    shared: &Shared,
    stream: &RawStream,
    data: &[u8],
    from: Rows,
    to: &DeviceMemory,
    target: Rows,
) -> Result<(), DeviceError> {
    // Rows longer than a slot go in pieces of one row.
    let width = from.bytes.min(SLOT);
    let at_once = (SLOT / width).min(from.count);
    for first in (0..from.count).step_by(at_once) {
        let count = at_once.min(from.count - first);
        for column in (0..from.bytes).step_by(width) {
            let bytes = width.min(from.bytes - column);
            let source = Rows { offset: from.offset + first * from.stride + column, bytes, count, ..from };
            let target =
                Rows { offset: target.offset + first * target.stride + column, bytes, count, ..target };
            shared.staging.pass(shared, stream, data, source, to, target)?;
        }
    }
    Ok(())
}

impl Staging {
    /// Waits for the next slot, fills it, and queues the copy out of it.
    fn pass(
        &self,
        shared: &Shared,
        stream: &RawStream,
        data: &[u8],
        from: Rows,
        to: &DeviceMemory,
        target: Rows,
    ) -> Result<(), DeviceError> {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let index = ring.next;
        if index == ring.slots.len() {
            ring.slots.push(Slot::new(shared)?);
        }
        ring.next = (index + 1) % SLOTS;
        let slot = &ring.slots[index];
        shared.check(slot.free.synchronize())?;
        let packed = Rows { offset: 0, stride: from.bytes, ..from };
        let mut guard = slot.memory.block().write(0..from.bytes * from.count)?;
        fill(&mut guard, data, from);
        // The slot is written again only after `free` has been reached.
        shared.check(stream.upload_rows(&guard, packed, to, target))?;
        shared.check(stream.record(&slot.free))
    }
}

fn fill(slot: &mut WriteGuard, data: &[u8], from: Rows) {
    if from.stride == from.bytes {
        slot.copy_from_slice(&data[from.offset..][..from.bytes * from.count]);
        return;
    }
    for (row, to) in slot.chunks_exact_mut(from.bytes).enumerate() {
        to.copy_from_slice(&data[from.offset + row * from.stride..][..from.bytes]);
    }
}

/// Queues the copy of images on the device to pinned memory, borrowed as `to`. The caller keeps the guard and
/// both buffers until the stream is past it.
pub(super) fn download(
    shared: &Arc<Shared>,
    stream: &RawStream,
    from: &DeviceMemory,
    at: &BufferRef,
    to: &mut WriteGuard,
    target: &BufferRef,
) -> Result<(), DeviceError> {
    same_shape(&at.layout, &target.layout)?;
    for (source, target) in matching((&at.layout, at.offset), (&target.layout, 0)) {
        shared.check(stream.download_rows(from, source, to, target))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, ImageDesc, Layout, PixelFormat};

    use super::*;

    fn desc() -> ImageDesc {
        ImageDesc::new(5, 3, PixelFormat::Rgb, DType::U8).unwrap()
    }

    #[test]
    fn evenly_spaced_rows_are_one_copy() {
        let tight = BatchLayout::tight(desc(), 4).unwrap();
        let pitched = BatchLayout::pitched(desc(), 4, 64).unwrap();
        let pairs = matching((&tight, 0), (&pitched, 128));
        let from = Rows { offset: 0, stride: 15, bytes: 15, count: 12 };
        assert_eq!(pairs, [(from, Rows { offset: 128, stride: 64, ..from })]);
    }

    #[test]
    fn gaps_between_planes_or_frames_make_more_copies() {
        let tight = BatchLayout::tight(desc(), 2).unwrap();
        let apart = BatchLayout { batch_stride: 100, ..tight };
        let pairs = matching((&apart, 7), (&tight, 0));
        assert_eq!(
            pairs.iter().map(|(a, b)| (a.offset, b.offset, a.count)).collect::<Vec<_>>(),
            [(7, 0, 3), (107, 45, 3)]
        );
        let planar = BatchLayout::tight(desc().with_layout(Layout::Chw), 2).unwrap();
        let spread = BatchLayout { plane_stride: 20, batch_stride: 60, ..planar };
        assert_eq!(matching((&spread, 0), (&planar, 0)).len(), 6);
        assert_eq!(matching((&planar, 0), (&planar, 0)).len(), 1);
    }

    #[test]
    fn shapes_must_agree() {
        let one = BatchLayout::tight(desc(), 1).unwrap();
        let two = BatchLayout::tight(desc(), 2).unwrap();
        assert!(same_shape(&one, &one).is_ok());
        assert!(same_shape(&one, &two).unwrap_err().to_string().contains("batch of 2"));
    }
}
