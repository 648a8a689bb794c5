//! [`mip_plan::Warp`]: rows of the result from anywhere in the source image.

use std::fmt::Debug;
use std::marker::PhantomData;

use bytemuck::Pod;
use mip_core::ImageDesc;
use mip_plan::AxisMap;

use super::row::RowMut;
use super::{BLOCK, Job, RowKernel};

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
