use std::marker::PhantomData;
use std::ops::Range;

use mip_core::{DType, ImageDesc, Layout};
use mip_plan::Border;

use super::borders::{Borders, Edge};
use super::premultiply::{constant, premultiply};
use super::row::{Row, RowMut, RowShape};
use super::vertical::{Finish, Mirrored};
use super::{Job, RowKernel, Taps};
use crate::simd::{Block, Pixel, Vector, WithVector, chunks, chunks_mut, drive};

/// The horizontal half of [`mip_plan::Separable`]: a row of samples to a row of binary32 sums.
#[derive(Debug)]
pub(crate) struct Horizontal<T> {
    desc: ImageDesc,
    border: Border,
    borders: Borders,
    radius: usize,
    wide: RowShape,
    sample: PhantomData<T>,
}

impl<T: Pixel> Horizontal<T> {
    pub(crate) fn new(desc: ImageDesc, radius: u32, border: Border) -> Self {
        let borders = Borders::new(border, radius, desc.width(), desc.pixel_step());
        let wide = RowShape::new(&desc, DType::F32);
        Self { desc, border, borders, radius: radius as usize, wide, sample: PhantomData }
    }

    fn filter<I: Pixel>(&self, job: &Job<'_>, row: &Row<'_>, out: &mut RowMut<'_>) {
        let outside = border_value(self.border, self.desc.format().has_alpha());
        let weights = &job.uniforms[..=self.radius];
        let step = self.desc.pixel_step();
        for p in 0..self.desc.planes() {
            let first = if self.desc.layout() == Layout::Chw { p } else { 0 };
            job.level.with(RowFilter::<I> {
                src: row.plane(p),
                out: out.plane(p),
                weights,
                step,
                borders: &self.borders,
                outside: &outside[first..],
            });
        }
    }
}

impl<T: Pixel> RowKernel for Horizontal<T> {
    fn scratch_bytes(&self) -> usize {
        if self.desc.format().has_alpha() { self.wide.slot() } else { 0 }
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let row = job.own(0);
        if self.desc.format().has_alpha() {
            let mut wide = self.wide.row_mut(scratch);
            job.level.vectorize(
                #[inline(always)]
                || premultiply::<T>(self.desc.layout(), &row, &mut wide),
            );
            self.filter::<f32>(job, &self.wide.row(scratch), out);
        } else {
            self.filter::<T>(job, &row, out);
        }
    }
}

/// The constant of a border in each channel; any number for the other borders, which never ask.
fn border_value(border: Border, alpha: bool) -> [f32; 4] {
    if let Border::Constant(value) = border { constant(value, alpha) } else { [0.0; 4] }
}

struct RowFilter<'a, I> {
    src: &'a [I],
    out: &'a mut [f32],
    weights: &'a [f32],
    step: usize,
    borders: &'a Borders,
    outside: &'a [f32],
}

impl<I: Pixel> WithVector for RowFilter<'_, I> {
    #[inline(always)]
    fn run<const N: usize, V: Vector<N>>(mut self, v: V) {
        match self.weights.len() - 1 {
            1 => self.row::<N, V, 1>(v),
            2 => self.row::<N, V, 2>(v),
            3 => self.row::<N, V, 3>(v),
            _ => self.row::<N, V, 0>(v),
        }
    }
}

impl<I: Pixel> RowFilter<'_, I> {
    /// `R` is the radius, or 0 when it is not known to the compiler.
    #[inline(always)]
    fn row<const N: usize, V: Vector<N>, const R: usize>(&mut self, v: V) {
        let columns = self.borders.interior();
        let range = columns.start * self.step..columns.end * self.step;
        let block =
            &mut Interior::<I, R> { src: self.src, out: self.out, weights: self.weights, step: self.step };
        drive(v, block, range);
        for edge in self.borders.edges() {
            // Mostly a few samples, for which clearing a large buffer would take longer than the work.
            if (edge.columns.len() + 2 * self.weights.len()) * self.step + N <= 64 {
                self.edge::<N, V, R, 64>(v, edge);
            } else {
                self.edge::<N, V, R, { Edge::LONGEST + 16 }>(v, edge);
            }
        }
    }

    /// Columns whose window is not inside: unfolded into a row of their own, whose interior they are.
    #[inline(always)]
    fn edge<const N: usize, V: Vector<N>, const R: usize, const SIZE: usize>(&mut self, v: V, edge: &Edge) {
        // As much as a block more than needed, so that the last block may be computed whole.
        let (mut unfolded, mut sums) = ([0.0; SIZE], [0.0; SIZE]);
        edge.unfold(self.src, self.outside, &mut unfolded);
        let (weights, step) = (self.weights, self.step);
        let mut block = Interior::<f32, R> { src: &unfolded, out: &mut sums, weights, step };
        let start = (weights.len() - 1) * step;
        let len = edge.columns.len() * step;
        if len > 0 {
            block.blocks(v, start..start + len.next_multiple_of(N));
        }
        let out = &mut self.out[edge.columns.start * step..edge.columns.end * step];
        out.copy_from_slice(&sums[start..start + len]);
    }
}

struct Interior<'a, I, const R: usize> {
    src: &'a [I],
    out: &'a mut [f32],
    weights: &'a [f32],
    step: usize,
}

impl<I: Pixel, const R: usize> Interior<'_, I, R> {
    /// The samples `range`, shifted by `k` pixels.
    #[inline(always)]
    fn shifted<const N: usize>(&self, range: &Range<usize>, k: isize) -> &[[I; N]] {
        let start = range.start.wrapping_add_signed(k * self.step as isize);
        chunks(self.src, start..start + range.len())
    }
}

impl<I: Pixel, const R: usize> Block for Interior<'_, I, R> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let out = chunks_mut(self.out, range.clone());
        let this = Interior::<I, R> { src: self.src, out: &mut [], weights: self.weights, step: self.step };
        let centre = this.shifted(&range, 0);
        let first = v.splat(this.weights[0]);
        if R == 0 {
            for (i, out) in out.iter_mut().enumerate() {
                let mut sum = v.mul(first, I::load(v, &centre[i]));
                for (k, &w) in this.weights.iter().enumerate().skip(1) {
                    let left = this.shifted(&range, -(k as isize));
                    let right = this.shifted(&range, k as isize);
                    sum = v.fma(v.splat(w), I::pair(v, &left[i], &right[i]), sum);
                }
                v.store_f32(sum, out);
            }
            return;
        }
        // Indices known to the compiler, so that rows and weights stay in registers.
        let (mut left, mut right, mut weights) = ([centre; 3], [centre; 3], [first; 3]);
        for k in 0..R {
            left[k] = this.shifted(&range, -(k as isize + 1));
            right[k] = this.shifted(&range, k as isize + 1);
            weights[k] = v.splat(this.weights[k + 1]);
        }
        for (i, out) in out.iter_mut().enumerate() {
            let mut sum = v.mul(first, I::load(v, &centre[i]));
            for k in 0..R {
                sum = v.fma(weights[k], I::pair(v, &left[k][i], &right[k][i]), sum);
            }
            v.store_f32(sum, out);
        }
    }
}

/// The vertical half of [`mip_plan::Separable`].
#[derive(Debug)]
pub(crate) struct Vertical<T> {
    desc: ImageDesc,
    border: Border,
    radius_x: usize,
    radius: usize,
    finish: Finish<T>,
}

impl<T: Pixel> Vertical<T> {
    pub(crate) fn new(desc: ImageDesc, radius_x: u32, radius_y: u32, border: Border) -> Self {
        let (radius_x, radius) = (radius_x as usize, radius_y as usize);
        Self { desc, border, radius_x, radius, finish: Finish::new(desc) }
    }

    /// Fills a row with the horizontal sums of a row of constants.
    fn outside(&self, weights: &[f32], slot: &mut [u8]) {
        let value = border_value(self.border, self.desc.format().has_alpha());
        let sums = value.map(|c| weights[1..].iter().fold(weights[0] * c, |h, w| w.mul_add(c + c, h)));
        let mut row = self.finish.shape().row_mut(slot);
        for p in 0..self.desc.planes() {
            match self.desc.layout() {
                Layout::Chw => row.plane::<f32>(p).fill(sums[p]),
                Layout::Hwc => {
                    for pixel in row.plane::<f32>(p).chunks_exact_mut(self.desc.channels()) {
                        pixel.copy_from_slice(&sums[..self.desc.channels()]);
                    }
                }
            }
        }
    }

    /// `R` is the vertical radius, or 0 when it is not known to the compiler.
    #[inline(always)]
    fn filter<const R: usize>(
        &self,
        job: &Job<'_>,
        outside: &Row<'_>,
        scratch: &mut [u8],
        out: &mut RowMut<'_>,
    ) {
        let wy = &job.uniforms[self.radius_x + 1..];
        let mut weights = [0.0; 16];
        weights[..=self.radius].copy_from_slice(&wy[..=self.radius]);
        self.finish.run(job.level, scratch, out, |p| {
            let mut rows = [&[] as &[f32]; Taps::MAX];
            for (k, row) in rows.iter_mut().enumerate().take(2 * self.radius + 1) {
                *row = job.tap(k).as_ref().unwrap_or(outside).plane(p);
            }
            Mirrored::<R> { rows, weights, radius: self.radius }
        });
    }
}

impl<T: Pixel> RowKernel for Vertical<T> {
    fn scratch_bytes(&self) -> usize {
        // One row of sums for alpha, one of constants.
        2 * self.finish.scratch_bytes()
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let (outside, scratch) = scratch.split_at_mut(self.finish.scratch_bytes());
        if matches!(self.border, Border::Constant(_)) {
            self.outside(&job.uniforms[..=self.radius_x], outside);
        }
        let outside = self.finish.shape().row(outside);
        match self.radius {
            1 => self.filter::<1>(job, &outside, scratch, out),
            2 => self.filter::<2>(job, &outside, scratch, out),
            3 => self.filter::<3>(job, &outside, scratch, out),
            _ => self.filter::<0>(job, &outside, scratch, out),
        }
    }
}
