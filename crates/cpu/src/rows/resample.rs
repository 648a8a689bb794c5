use std::marker::PhantomData;

use mip_core::{DType, ImageDesc};
use mip_plan::AxisTaps;

use super::byte_taps::SumTable;
use super::premultiply::premultiply;
use super::row::{Row, RowMut, RowShape};
use super::vertical::{Accumulate, Finish, InOrder};
use super::wide_sums::{WideRow, weigh_wide};
use super::{Job, RowKernel, Taps};
use crate::simd::{Level, Pixel};

/// The horizontal half of [`mip_plan::Resample`]: a row of samples to a row of binary32 sums.
#[derive(Debug)]
pub(crate) struct Horizontal<T> {
    input: ImageDesc,
    taps: AxisTaps,
    /// Whether sums are made in binary64.
    long: bool,
    /// For bytes, a table that serves eight output samples at once.
    bytes: Option<SumTable>,
    wide: RowShape,
    sample: PhantomData<T>,
}

impl<T: Pixel> Horizontal<T> {
    pub(crate) fn new(input: ImageDesc, taps: AxisTaps) -> Self {
        let long = taps.is_long(&input);
        let plain_bytes = T::DTYPE == DType::U8 && !input.format().has_alpha() && !long;
        let table = || SumTable::new(&taps, input.pixel_step(), input.row_samples());
        let bytes = plain_bytes.then(table).flatten();
        Self { input, taps, long, bytes, wide: RowShape::new(&input, DType::F32), sample: PhantomData }
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
                1 => self.pixels::<I, 1>(level, src, out, done),
                3 => self.pixels::<I, 3>(level, src, out, done),
                _ => self.pixels::<I, 4>(level, src, out, done),
            }
        }
    }

    /// Weighs pixels of `N` samples, all but the first `done`.
    fn pixels<I: Pixel, const N: usize>(&self, level: Level, src: &[I], out: &mut [f32], done: usize) {
        let table = &self.taps;
        level.vectorize(
            #[inline(always)]
            move || {
                let out = out;
                if self.long {
                    weigh_wide::<I, N>(table, src, out);
                } else if T::DTYPE.is_float() {
                    weigh::<I, N, true>(table, src, out, done);
                } else {
                    weigh::<I, N, false>(table, src, out, done);
                }
            },
        );
    }
}

impl<T: Pixel> RowKernel for Horizontal<T> {
    fn scratch_bytes(&self) -> usize {
        if self.input.format().has_alpha() { self.wide.slot() } else { 0 }
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let row = job.own(0);
        if self.input.format().has_alpha() {
            let mut wide = self.wide.row_mut(scratch);
            job.level.vectorize(
                #[inline(always)]
                || premultiply::<T>(self.input.layout(), &row, &mut wide),
            );
            self.filter::<f32>(job.level, &self.wide.row(scratch), out);
        } else {
            self.filter::<T>(job.level, &row, out);
        }
    }
}

/// `SKIP`: samples may be infinite or NaN, so that taps of weight 0 have to be left out; for others they add 0.
#[inline(always)]
fn weigh<I: Pixel, const N: usize, const SKIP: bool>(
    table: &AxisTaps,
    src: &[I],
    out: &mut [f32],
    done: usize,
) {
    let (src, _) = src.as_chunks::<N>();
    let (out, _) = out.as_chunks_mut::<N>();
    let weights = table.all_weights().chunks_exact(table.taps());
    for ((out, &start), weights) in out.iter_mut().zip(table.starts()).zip(weights).skip(done) {
        let pixels = &src[start as usize..][..weights.len()];
        let mut sum = [-0.0; N];
        if !SKIP || weights[0] != 0.0 {
            for c in 0..N {
                sum[c] = weights[0] * pixels[0][c].to_f32();
            }
        }
        for (pixel, &w) in pixels.iter().zip(weights).skip(1) {
            if SKIP && w == 0.0 {
                continue;
            }
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
    /// Rows of sums in binary64, where they are needed.
    long: Option<WideRow>,
    desc: ImageDesc,
    finish: Finish<T>,
}

/// The taps of a pass that are taps at all: where their rows lie among those of the pass, and their weights.
struct Pass {
    first: usize,
    count: usize,
    rows: [usize; Taps::RANGE],
}

impl Pass {
    #[inline(always)]
    fn new(pass: usize, weights: &[f32]) -> Self {
        let first = pass * Taps::RANGE;
        let mut this = Self { first, count: 0, rows: [0; Taps::RANGE] };
        for (k, &w) in weights[first..].iter().take(Taps::RANGE).enumerate() {
            if w != 0.0 {
                this.rows[this.count] = k;
                this.count += 1;
            }
        }
        this
    }

    fn last(&self, taps: usize) -> bool {
        self.first + Taps::RANGE >= taps
    }

    /// A value of each tap.
    #[inline(always)]
    fn each<T: Copy + Default>(&self, of_row: impl Fn(usize) -> T) -> [T; Taps::RANGE] {
        let mut values = [T::default(); Taps::RANGE];
        for (value, &k) in values.iter_mut().zip(&self.rows[..self.count]) {
            *value = of_row(k);
        }
        values
    }
}

impl<T: Pixel> Vertical<T> {
    /// `desc` is the output's description.
    pub(crate) fn new(desc: ImageDesc, taps: AxisTaps) -> Self {
        let long = taps.is_long(&desc).then(|| WideRow::new(&desc));
        Self { taps, long, desc, finish: Finish::new(desc) }
    }

    #[inline(always)]
    fn at_once<const N: usize>(
        &self,
        job: &Job<'_>,
        (pass, weights): (&Pass, &[f32]),
        scratch: &mut [u8],
        out: &mut RowMut<'_>,
    ) {
        let mut own = [0.0; N];
        for (own, &k) in own.iter_mut().zip(&pass.rows) {
            *own = weights[k];
        }
        self.finish.run(job.level, scratch, out, |p| {
            let mut rows = [&[] as &[f32]; N];
            for (row, &k) in rows.iter_mut().zip(&pass.rows) {
                *row = job.tap(k).expect("ranges lie inside the image").plane(p);
            }
            InOrder { rows, weights: own }
        });
    }

    /// Adds the taps of one pass to the sums in scratch.
    fn accumulate(&self, job: &Job<'_>, (pass, weights): (&Pass, &[f32]), scratch: &mut [u8]) {
        let count = pass.count;
        let weights = pass.each(|k| weights[pass.first + k]);
        let mut acc = self.finish.shape().row_mut(scratch);
        for p in 0..self.desc.planes() {
            let rows = pass.each(|k| job.tap(k).expect("ranges lie inside the image").plane::<f32>(p));
            let block = Accumulate {
                rows: &rows[..count],
                weights: &weights[..count],
                first: job.pass == 0,
                acc: acc.plane(p),
            };
            job.level.drive(block, self.desc.row_samples());
        }
    }

    /// The same in binary64; the last pass leaves the sums where [`Vertical::accumulate`] does.
    fn accumulate_wide(&self, job: &Job<'_>, pass: &Pass, long: &WideRow, scratch: &mut [u8]) {
        let weights = self.taps.wide_weights(job.y as usize);
        let last = pass.last(weights.len());
        let weights = pass.each(|k| weights[pass.first + k]);
        let (sums, wide) = scratch.split_at_mut(self.finish.scratch_bytes());
        let mut sums = self.finish.shape().row_mut(sums);
        for p in 0..self.desc.planes() {
            let rows = pass.each(|k| job.tap(k).expect("ranges lie inside the image").plane::<f32>(p));
            let acc = long.plane(wide, p);
            WideRow::add(job.level, &rows[..pass.count], &weights[..pass.count], job.pass == 0, acc);
            if last {
                WideRow::round(acc, sums.plane(p));
            }
        }
    }
}

impl<T: Pixel> RowKernel for Vertical<T> {
    fn scratch_bytes(&self) -> usize {
        self.finish.scratch_bytes() + self.long.map_or(0, |long| long.bytes())
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let weights = self.taps.weights(job.y as usize);
        let pass = Pass::new(job.pass, weights);
        let few = if weights.len() <= 4 && self.long.is_none() { pass.count } else { 0 };
        match few {
            1 => self.at_once::<1>(job, (&pass, weights), scratch, out),
            2 => self.at_once::<2>(job, (&pass, weights), scratch, out),
            3 => self.at_once::<3>(job, (&pass, weights), scratch, out),
            4 => self.at_once::<4>(job, (&pass, weights), scratch, out),
            _ => {
                match &self.long {
                    Some(long) => self.accumulate_wide(job, &pass, long, scratch),
                    None => self.accumulate(job, (&pass, weights), scratch),
                }
                if pass.last(weights.len()) {
                    self.finish.quantise(job.level, scratch, out);
                }
            }
        }
    }
}
