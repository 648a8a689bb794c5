//! Copies between host and device: which rows they are made of, and which way they go.

use std::sync::Arc;

use mip_core::{BatchLayout, ImageBuffer};
use mip_runtime::device::{BufferMemory, BufferRef, DeviceError};
use mip_runtime::memory::WriteGuard;

use super::copy_out::CopyOut;
use super::memory::pinned_address;
use super::ring::{Piece, SLOT};
use super::shared::Shared;
use crate::driver::{DeviceMemory, RawStream, Rows, is_pinned};

/// The rows of a batch as few sets of equally spaced rows: one, if planes and frames follow each other at the
/// rows' distance; else one a plane.
fn row_sets(layout: &BatchLayout, offset: usize) -> Vec<Rows> {
    let (height, planes, frames) = (layout.desc.height() as usize, layout.desc.planes(), layout.batch_size);
    let bytes = layout.desc.row_bytes();
    (0..frames)
        .flat_map(|f| (0..planes).map(move |p| f * layout.batch_stride + p * layout.plane_stride))
        .map(|start| Rows { offset: offset + start, stride: layout.row_stride, bytes, count: height })
        .collect()
}

fn is_even(layout: &BatchLayout) -> bool {
    let plane = layout.row_stride * layout.desc.height() as usize;
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
    let pieces: Vec<Piece> = pairs.into_iter().flat_map(|(from, to)| pieces(from, to)).collect();
    shared.ring.pass(shared, stream, view.data(), to, &pieces)?;
    Ok(None)
}

fn same_shape(from: &BatchLayout, to: &BatchLayout) -> Result<(), DeviceError> {
    if from.desc == to.desc && from.batch_size == to.batch_size {
        return Ok(());
    }
    let text = |l: &BatchLayout| format!("{} (batch of {})", l.desc, l.batch_size);
    Err(DeviceError::Conflict(format!("a copy from {} to {}", text(from), text(to))))
}

/// Rows in pieces that fit in a slot of the ring: as many rows as possible, rows longer than a slot in parts.
fn pieces(from: Rows, to: Rows) -> Vec<Piece> {
    let width = from.bytes.min(SLOT);
    let at_once = (SLOT / width).min(from.count);
    let starts = (0..from.count).step_by(at_once);
    let starts = starts.flat_map(|row| (0..from.bytes).step_by(width).map(move |column| (row, column)));
    let piece = |(row, column)| {
        let (count, bytes) = (at_once.min(from.count - row), width.min(from.bytes - column));
        let part = |all: Rows| Rows { offset: all.offset + row * all.stride + column, bytes, count, ..all };
        Piece { from: part(from), to: part(to) }
    };
    starts.map(piece).collect()
}

/// Queues the copy of images on the device to pinned memory, borrowed as `to`. The caller keeps the guard and
/// both buffers until the stream is past it. A small image goes by a kernel where it is `alone`: where nothing else is
/// under way on the device.
pub(super) fn download(
    shared: &Arc<Shared>,
    stream: &RawStream,
    from: &DeviceMemory,
    at: &BufferRef,
    to: &mut WriteGuard,
    target: &BufferRef,
    alone: impl FnOnce() -> bool,
) -> Result<(), DeviceError> {
    same_shape(&at.layout, &target.layout)?;
    let pairs = matching((&at.layout, at.offset), (&target.layout, 0));
    if let ([(source, run)], BufferMemory::Block(block)) = (&pairs[..], &target.memory)
        && let Some(bytes) = source.run_beside(run)
        && let Some(pinned) = pinned_address(&**block)
        && CopyOut::is_for(bytes)
        && alone()
    {
        let places = [from.address() + source.offset as u64, pinned + (target.offset + run.offset) as u64];
        if let Some(queued) = shared.copy_out.queue(shared, stream, places, bytes) {
            return shared.check(queued);
        }
    }
    for (source, target) in pairs {
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
    fn pieces_cover_every_byte_once_and_fit_in_a_slot() {
        for (bytes, count) in
            [(1, 1), (5760, 1080), (SLOT, 3), (SLOT + 1, 2), (3 * SLOT + 7, 2), (7, 1 << 20)]
        {
            let from = Rows { offset: 11, stride: bytes + 3, bytes, count };
            let to = Rows { offset: 64, stride: bytes + 60, bytes, count };
            let (mut total, mut previous) = (0, None);
            for Piece { from: part, to: target } in pieces(from, to) {
                assert_eq!((part.bytes, part.count), (target.bytes, target.count));
                assert!(part.bytes * part.count <= SLOT);
                let place = |rows: Rows, all: Rows| {
                    ((rows.offset - all.offset) / all.stride, (rows.offset - all.offset) % all.stride)
                };
                assert_eq!(place(part, from), place(target, to));
                assert!(previous < Some(part.offset), "in order");
                previous = Some(part.offset);
                total += part.bytes * part.count;
            }
            assert_eq!(total, bytes * count);
        }
    }

    #[test]
    fn shapes_must_agree() {
        let one = BatchLayout::tight(desc(), 1).unwrap();
        let two = BatchLayout::tight(desc(), 2).unwrap();
        assert!(same_shape(&one, &one).is_ok());
        assert!(same_shape(&one, &two).unwrap_err().to_string().contains("batch of 2"));
    }
}
