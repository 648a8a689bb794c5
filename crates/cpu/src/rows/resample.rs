use std::marker::PhantomData;

use mip_core::{DType, ImageDesc};
use mip_plan::AxisTaps;

use super::byte_taps::SumTable;
use super::premultiply::premultiply;
use super::row::{Row, RowMut, RowShape};
use super::vertical::{Accumulate, Finish, InOrder};
use super::{Job, RowKernel, Taps};
use crate::simd::{Level, Pixel};

/// The horizontal half of [`mip_plan::Resample`]: a row of samples to a row of binary32 sums.
#[derive(Debug)]
pub(crate) struct Horizontal<T> {
    input: ImageDesc,
    taps: AxisTaps,
    /// For bytes, a table that serves eight output samples at once.
    bytes: Option<SumTable>,
    wide: RowShape,
    sample: PhantomData<T>,
}

impl<T: Pixel> Horizontal<T> {
    pub(crate) fn new(input: ImageDesc, taps: AxisTaps) -> Self {
        let plain_bytes = T::DTYPE == DType::U8 && !input.format.has_alpha();
        let table = || SumTable::new(&taps, input.pixel_step(), input.row_samples());
        let bytes = plain_bytes.then(table).flatten();
        Self { input, taps, bytes, wide: RowShape::new(&input, DType::F32), sample: PhantomData }
    }

    /// Output samples computed with the table, the first ones of the row.
    fn use_table(&self, level: Level, row: &Row<'_>, plane: usize, out: &mut [f32]) -> usize {
        match (level, &self.bytes) {
            #[cfg(target_arch = "x86_64")]
            (Level::Avx2(v3), Some(table)) => crate::simd::sums_avx2(v3, table, row.plane(plane), out),
            _ => 0,
        }
    }

    fn filter<I: Pixel>(&self, level: Level, row: &Row<'_>, out: &mut RowMut<'_>) {
        for p in 0..self.input.planes() {
            let (src, out) = (row.plane::<I>(p), out.plane::<f32>(p));
            let done = self.use_table(level, row, p, out) / self.input.pixel_step();
            match self.input.pixel_step() {
                1 => weigh::<I, 1>(level, &self.taps, src, out, done),
                3 => weigh::<I, 3>(level, &self.taps, src, out, done),
                _ => weigh::<I, 4>(level, &self.taps, src, out, done),
            }
        }
    }
}

impl<T: Pixel> RowKernel for Horizontal<T> {
    fn scratch_bytes(&self) -> usize {
        if self.input.format.has_alpha() { self.wide.slot() } else { 0 }
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let row = job.own(0);
        if self.input.format.has_alpha() {
            let mut wide = self.wide.row_mut(scratch);
            job.level.vectorize(
                #[inline(always)]
                || premultiply::<T>(self.input.layout, &row, &mut wide),
            );
            self.filter::<f32>(job.level, &self.wide.row(scratch), out);
        } else {
            self.filter::<T>(job.level, &row, out);
        }
    }
}

/// Weighs pixels of `N` samples, all but the first `done`.
fn weigh<I: Pixel, const N: usize>(level: Level, table: &AxisTaps, src: &[I], out: &mut [f32], done: usize) {
    level.vectorize(
        #[inline(always)]
        move || {
            let out = out;
            weigh_inside::<I, N>(table, src, out, done);
        },
    );
}

#[inline(always)]
fn weigh_inside<I: Pixel, const N: usize>(table: &AxisTaps, src: &[I], out: &mut [f32], done: usize) {
    let (src, _) = src.as_chunks::<N>();
    let (out, _) = out.as_chunks_mut::<N>();
    let weights = table.all_weights().chunks_exact(table.taps());
    for ((out, &start), weights) in out.iter_mut().zip(table.starts()).zip(weights).skip(done) {
        let pixels = &src[start as usize..][..weights.len()];
        let mut sum = [0.0; N];
        for c in 0..N {
            sum[c] = weights[0] * pixels[0][c].to_f32();
        }
        for (pixel, w) in pixels.iter().zip(weights).skip(1) {
            for c in 0..N {
                sum[c] = w.mul_add(pixel[c].to_f32(), sum[c]);
            }
        }
        *out = sum;
    }
}

/// The vertical half of [`mip_plan::Resample`].
#[derive(Debug)]
pub(crate) struct Vertical<T> {
    taps: AxisTaps,
    desc: ImageDesc,
    finish: Finish<T>,
}

impl<T: Pixel> Vertical<T> {
    /// `desc` is the output's description.
    pub(crate) fn new(desc: ImageDesc, taps: AxisTaps) -> Self {
        Self { taps, desc, finish: Finish::new(desc) }
    }

    #[inline(always)]
    fn at_once<const N: usize>(
        &self,
        job: &Job<'_>,
        weights: &[f32],
        scratch: &mut [u8],
        out: &mut RowMut<'_>,
    ) {
        let weights: [f32; N] = weights.try_into().expect("as many as there are taps");
        self.finish.run(job.level, scratch, out, |p| {
            let mut rows = [&[] as &[f32]; N];
            for (k, row) in rows.iter_mut().enumerate() {
                *row = job.tap(k).expect("ranges lie inside the image").plane(p);
            }
            InOrder { rows, weights }
        });
    }

    /// Adds the taps of one pass to the sums in scratch.
    fn accumulate(&self, job: &Job<'_>, weights: &[f32], scratch: &mut [u8]) {
        let first = job.pass * Taps::RANGE;
        let count = (weights.len() - first).min(Taps::RANGE);
        let mut acc = self.finish.shape().row_mut(scratch);
        for p in 0..self.desc.planes() {
            let mut rows = [&[] as &[f32]; Taps::RANGE];
            for (k, row) in rows.iter_mut().enumerate().take(count) {
                *row = job.tap(k).expect("ranges lie inside the image").plane(p);
            }
            let block = Accumulate {
                rows: &rows[..count],
                weights: &weights[first..first + count],
                first: job.pass == 0,
                acc: acc.plane(p),
            };
            job.level.drive(block, self.desc.row_samples());
        }
    }
}

impl<T: Pixel> RowKernel for Vertical<T> {
    fn scratch_bytes(&self) -> usize {
        self.finish.scratch_bytes()
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let weights = self.taps.weights(job.y as usize);
        match weights.len() {
            1 => self.at_once::<1>(job, weights, scratch, out),
            2 => self.at_once::<2>(job, weights, scratch, out),
            3 => self.at_once::<3>(job, weights, scratch, out),
            4 => self.at_once::<4>(job, weights, scratch, out),
            _ => {
                self.accumulate(job, weights, scratch);
                if (job.pass + 1) * Taps::RANGE >= weights.len() {
                    self.finish.quantise(job.level, scratch, out);
                }
            }
        }
    }
}
