//! [`mip_plan::Warp`]: rows of the result from anywhere in the source image.

use std::fmt::Debug;
use std::marker::PhantomData;

use bytemuck::Pod;
use mip_core::ImageDesc;
use mip_plan::AxisMap;

use super::row::RowMut;
use super::{BLOCK, Job, RowKernel};
#[cfg(target_arch = "x86_64")]
use crate::simd::{Level, SIDE, TRIPLES, transpose_bytes_avx2, transpose_triples_avx2};

/// [`mip_plan::Warp::Transposed`], a square block at a time: a row of the result is a column of the source, and one pixel
/// of each of its cache lines would be read, [`BLOCK`] times over.
#[derive(Debug)]
pub(crate) struct Transposed<T> {
    x: AxisMap,
    y: AxisMap,
    planes: usize,
    step: usize,
    sample: PhantomData<T>,
}

impl<T> Transposed<T> {
    pub(crate) const fn new(output: &ImageDesc, x: AxisMap, y: AxisMap) -> Self {
        Self { x, y, planes: output.planes(), step: output.pixel_step(), sample: PhantomData }
    }
}

impl<T: Pod + Send + Sync + Debug> RowKernel for Transposed<T> {
    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        self.compute_together(std::slice::from_ref(job), scratch, std::slice::from_mut(out));
    }

    fn together(&self) -> usize {
        BLOCK
    }

    fn compute_together(&self, jobs: &[Job<'_>], _: &mut [u8], out: &mut [RowMut<'_>]) {
        for plane in 0..self.planes {
            match self.step {
                1 => self.plane::<1>(plane, jobs, out),
                3 => self.plane::<3>(plane, jobs, out),
                _ => self.plane::<4>(plane, jobs, out),
            }
        }
    }
}

impl<T: Pod> Transposed<T> {
    /// At most [`BLOCK`] rows of a plane whose pixels have `N` samples.
    fn plane<const N: usize>(&self, plane: usize, jobs: &[Job<'_>], out: &mut [RowMut<'_>]) {
        #[cfg(target_arch = "x86_64")]
        if size_of::<T>() == 1
            && N != 4
            && let Some(mut tiles) = Tiles::new(self.x, jobs, N == 3)
        {
            return tiles.compute(self.y, plane, jobs, out);
        }
        let source = jobs[0].origins[0];
        let mut columns = [0; BLOCK];
        let mut results: [&mut [[T; N]]; BLOCK] = std::array::from_fn(|_| Default::default());
        for (k, (job, out)) in jobs.iter().zip(out).enumerate() {
            columns[k] = self.x.map(job.y) as usize;
            results[k] = out.plane::<T>(plane).as_chunks_mut::<N>().0;
        }
        let results = &mut results[..jobs.len()];
        let width = results[0].len();
        for first in (0..width).step_by(BLOCK) {
            let count = BLOCK.min(width - first);
            let mut rows: [&[[T; N]]; BLOCK] = [&[]; BLOCK];
            for (row, column) in rows[..count].iter_mut().zip(first as u32..) {
                *row = source.row(self.y.map(column)).plane::<T>(plane).as_chunks::<N>().0;
            }
            for (result, &column) in results.iter_mut().zip(&columns) {
                for (pixel, row) in result[first..first + count].iter_mut().zip(&rows) {
                    *pixel = row[column];
                }
            }
        }
    }
}

/// Columns side by side of an image of one or three bytes a pixel.
#[cfg(target_arch = "x86_64")]
struct Tiles {
    v3: pulp::x86::V3,
    is_triple: bool,
    /// The least column.
    first: usize,
    /// Results go from the last column to the first.
    backwards: bool,
    room: [[u8; TRIPLES]; SIDE],
    to: [[u8; TRIPLES]; SIDE],
}

#[cfg(target_arch = "x86_64")]
impl Tiles {
    /// `None` when they are other columns, or at another level.
    #[inline(never)]
    fn new(x: AxisMap, jobs: &[Job<'_>], is_triple: bool) -> Option<Self> {
        const { assert!(SIDE == BLOCK) }
        let Level::Avx2(v3) = jobs[0].level else { return None };
        let column = |job: &Job<'_>| x.map(job.y) as usize;
        let (one, other) = (column(&jobs[0]), column(&jobs[jobs.len() - 1]));
        let (first, backwards) = (one.min(other), other < one);
        let expected = |k: usize| if backwards { one.checked_sub(k) } else { Some(one + k) };
        let beside = jobs.iter().enumerate().all(|(k, job)| expected(k) == Some(column(job)));
        let [room, to] = [[[0; TRIPLES]; SIDE]; 2];
        beside.then_some(Self { v3, is_triple, first, backwards, room, to })
    }

    /// The results of these columns, a tile at a time.
    #[inline(never)]
    fn compute(&mut self, y: AxisMap, plane: usize, jobs: &[Job<'_>], out: &mut [RowMut<'_>]) {
        let Self { v3, is_triple, first, backwards, room, to } = self;
        let (source, pixel) = (jobs[0].origins[0], if *is_triple { 3 } else { 1 });
        let width = out[0].plane::<u8>(plane).len() / pixel;
        for start in (0..width).step_by(BLOCK) {
            let end = width.min(start + BLOCK);
            let mut rows: [&[u8]; BLOCK] = [&[]; BLOCK];
            for (row, column) in rows.iter_mut().zip(start..) {
                // Of a part of a tile the last row is there again.
                *row = source.row(y.map(column.min(end - 1) as u32)).plane(plane);
            }
            if *is_triple {
                transpose_triples_avx2(*v3, &pieces(&rows, 3 * *first, room), to);
            } else {
                transpose_bytes_avx2(*v3, &pieces(&rows, *first, room), to);
            }
            for (k, out) in out.iter_mut().enumerate() {
                let part = &to[if *backwards { jobs.len() - 1 - k } else { k }];
                let out = &mut out.plane::<u8>(plane)[pixel * start..pixel * end];
                out.copy_from_slice(&part[..out.len()]);
            }
        }
    }
}

/// So many bytes of each row, and where a row ends before those a copy of it.
#[cfg(target_arch = "x86_64")]
fn pieces<'a, const N: usize>(
    rows: &[&'a [u8]; BLOCK],
    first: usize,
    room: &'a mut [[u8; TRIPLES]; SIDE],
) -> [&'a [u8; N]; SIDE] {
    let mut pieces: [&[u8; N]; SIDE] = [&[0; N]; SIDE];
    for ((piece, row), room) in pieces.iter_mut().zip(rows).zip(room) {
        let rest = &row[first..];
        *piece = if let Some(piece) = rest.first_chunk() {
            piece
        } else {
            room[..rest.len()].copy_from_slice(rest);
            room.first_chunk().expect("rows of tiles are shorter")
        };
    }
    pieces
}
