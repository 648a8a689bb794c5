use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use mip_core::{BatchLayout, ImageViewMut};

use super::program::{Root, Rows};
use crate::rows::RowMut;

/// A piece of work: some rows of each result of one frame, with the memory they go to.
#[derive(Debug)]
pub(super) struct RowBand<'a> {
    /// Frame in the batch.
    pub(super) frame: usize,
    /// Rows of each result.
    pub(super) rows: Vec<Range<u32>>,
    /// Memory of each result.
    outputs: Vec<Piece<'a>>,
}

/// Rows of an image, ready to be written.
#[derive(Debug)]
struct Piece<'a> {
    layout: BatchLayout,
    first: u32,
    /// Each plane's rows, starting at the band's first.
    planes: Vec<&'a mut [u8]>,
}

impl RowBand<'_> {
    /// A result of one plane: its strides, and the memory of the band's rows.
    pub(super) fn memory(&mut self, result: usize) -> (BatchLayout, &mut [u8]) {
        let piece = &mut self.outputs[result];
        debug_assert_eq!(piece.layout.desc.planes(), 1);
        (piece.layout, piece.planes[0])
    }

    /// Row `y` of a result.
    pub(super) fn row_mut(&mut self, result: usize, y: u32) -> RowMut<'_> {
        let piece = &mut self.outputs[result];
        let start = (y - piece.first) as usize * piece.layout.row_stride;
        let mut row = RowMut::default();
        for (p, plane) in piece.planes.iter_mut().enumerate() {
            row.set(p, &mut plane[start..start + piece.layout.desc.row_bytes()]);
        }
        row
    }

    /// Rows of a result, at most `N`.
    pub(super) fn rows_mut<const N: usize>(&mut self, result: usize, rows: Range<u32>) -> [RowMut<'_>; N] {
        let piece = &mut self.outputs[result];
        let (stride, bytes) = (piece.layout.row_stride, piece.layout.desc.row_bytes());
        let start = (rows.start - piece.first) as usize * stride;
        let mut out: [RowMut<'_>; N] = std::array::from_fn(|_| RowMut::default());
        for (p, plane) in piece.planes.iter_mut().enumerate() {
            // The last row of a piece ends with its samples.
            for (row, memory) in out.iter_mut().zip(plane[start..].chunks_mut(stride)).take(rows.len()) {
                row.set(p, &mut memory[..bytes]);
            }
        }
        out
    }
}

/// Cuts the outputs into row bands: all of frame 0 from top to bottom, then frame 1, ...
pub(super) fn cut<'a>(roots: &[Root], outputs: &'a mut [ImageViewMut<'_>], bands: usize) -> Vec<RowBand<'a>> {
    let frames = outputs.first().map_or(0, |o| o.layout().batch_size);
    let mut work: Vec<RowBand<'a>> = (0..frames * bands)
        .map(|i| RowBand {
            frame: i / bands,
            rows: roots.iter().map(|root| Rows::band(root, i % bands, bands)).collect(),
            outputs: Vec::with_capacity(roots.len()),
        })
        .collect();
    for (result, output) in outputs.iter_mut().enumerate() {
        let layout = *output.layout();
        let mut rest = output.data_mut();
        let mut position = 0;
        for frame in 0..frames {
            for plane in 0..layout.desc.planes() {
                for band in &mut work[frame * bands..(frame + 1) * bands] {
                    if plane == 0 {
                        let first = band.rows[result].start;
                        band.outputs.push(Piece { layout, first, planes: Vec::with_capacity(4) });
                    }
                    let rows = band.rows[result].clone();
                    if rows.is_empty() {
                        band.outputs[result].planes.push(&mut []);
                        continue;
                    }
                    // Strides grow from row to plane to frame without overlap, so pieces follow each other.
                    let start = layout.row_range(frame, plane, rows.start as usize).start;
                    let end = layout.row_range(frame, plane, rows.end as usize - 1).end;
                    let (piece, behind) = rest.split_at_mut(start - position).1.split_at_mut(end - start);
                    band.outputs[result].planes.push(piece);
                    rest = behind;
                    position = end;
                }
            }
        }
    }
    work
}

/// Hands out bands: each worker goes through its own run of neighbouring bands (whose shared rows it still
/// has in its caches), then takes from the far end of somebody else's.
#[derive(Debug)]
pub(super) struct Queue<'a> {
    runs: Vec<Mutex<VecDeque<RowBand<'a>>>>,
}

impl<'a> Queue<'a> {
    /// Deals bands out to workers.
    pub(super) fn new(bands: Vec<RowBand<'a>>, workers: usize) -> Self {
        let count = bands.len();
        let mut bands = bands.into_iter();
        let share = |w: usize| (w + 1) * count / workers - w * count / workers;
        Self { runs: (0..workers).map(|w| Mutex::new(bands.by_ref().take(share(w)).collect())).collect() }
    }

    /// The next band for a worker.
    pub(super) fn next(&self, worker: usize) -> Option<RowBand<'a>> {
        let lock = |w: usize| self.runs[w].lock().unwrap_or_else(PoisonError::into_inner);
        let own = lock(worker).pop_front();
        own.or_else(|| {
            (1..self.runs.len()).find_map(|other| lock((worker + other) % self.runs.len()).pop_back())
        })
    }
}
