//! The vertical halves of separable filters: weighted sums over rows of binary32.
//!
//! Small arrays are filled in loops, not with `map` or `from_fn`: those are not always inlined, and a call out
//! of a vectorised loop costs more than the loop's work.

use std::marker::PhantomData;
use std::ops::Range;

use mip_core::{DType, ImageDesc};

use super::premultiply::unpremultiply;
use super::row::{RowMut, RowShape};
use crate::simd::{Block, Level, Pixel, Vector, chunks, chunks_mut};

/// Where sums go: quantised straight to the output, or first to scratch when alpha has to be divided out.
#[derive(Debug)]
pub(crate) struct Finish<T> {
    desc: ImageDesc,
    sums: RowShape,
    sample: PhantomData<T>,
}

impl<T: Pixel> Finish<T> {
    pub(crate) fn new(desc: ImageDesc) -> Self {
        Self { desc, sums: RowShape::new(&desc, DType::F32), sample: PhantomData }
    }

    /// Scratch for one row of sums.
    pub(crate) const fn scratch_bytes(&self) -> usize {
        self.sums.slot()
    }

    /// The shape of a row of sums.
    pub(crate) const fn shape(&self) -> RowShape {
        self.sums
    }

    const fn alpha(&self) -> bool {
        self.desc.format().has_alpha()
    }

    /// Computes each plane with `sums` and quantises it.
    #[inline(always)]
    pub(crate) fn run<S: Sums>(
        &self,
        level: Level,
        scratch: &mut [u8],
        out: &mut RowMut<'_>,
        sums: impl Fn(usize) -> S,
    ) {
        let samples = self.desc.row_samples();
        if self.alpha() {
            let mut row = self.sums.row_mut(scratch);
            for p in 0..self.desc.planes() {
                level.drive(Store { sums: sums(p), out: row.plane::<f32>(p) }, samples);
            }
            self.divide(level, scratch, out);
        } else {
            for p in 0..self.desc.planes() {
                level.drive(Store { sums: sums(p), out: out.plane::<T>(p) }, samples);
            }
        }
    }

    /// Quantises a row of sums that is already in scratch.
    pub(crate) fn quantise(&self, level: Level, scratch: &[u8], out: &mut RowMut<'_>) {
        if self.alpha() {
            self.divide(level, scratch, out);
            return;
        }
        let row = self.sums.row(scratch);
        for p in 0..self.desc.planes() {
            let sums = Sum { row: row.plane::<f32>(p) };
            level.drive(Store { sums, out: out.plane::<T>(p) }, self.desc.row_samples());
        }
    }

    fn divide(&self, level: Level, scratch: &[u8], out: &mut RowMut<'_>) {
        let row = self.sums.row(scratch);
        level.vectorize(
            #[inline(always)]
            || unpremultiply::<T>(self.desc.layout(), &row, out),
        );
    }
}

/// Sums over the columns of a row.
pub(crate) trait Sums {
    /// Hands the sums of each block in `range` to `store`.
    fn each<const N: usize, V: Vector<N>>(&self, v: V, range: Range<usize>, store: impl FnMut(usize, V::F));
}

struct Store<'a, S, T> {
    sums: S,
    out: &'a mut [T],
}

impl<S: Sums, T: Pixel> Block for Store<'_, S, T> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let out = chunks_mut(self.out, range.clone());
        self.sums.each(
            v,
            range,
            #[inline(always)]
            |i, sum| T::store(v, sum, &mut out[i]),
        );
    }
}

struct Sum<'a> {
    row: &'a [f32],
}

impl Sums for Sum<'_> {
    #[inline(always)]
    fn each<const N: usize, V: Vector<N>>(
        &self,
        v: V,
        range: Range<usize>,
        mut store: impl FnMut(usize, V::F),
    ) {
        for (i, sum) in chunks(self.row, range).iter().enumerate() {
            store(i, v.load_f32(sum));
        }
    }
}

/// `w[0] * row[0]`, then `fma(w[k], row[k], sum)`.
pub(crate) struct InOrder<'a, const K: usize> {
    pub(crate) rows: [&'a [f32]; K],
    pub(crate) weights: [f32; K],
}

impl<const K: usize> Sums for InOrder<'_, K> {
    #[inline(always)]
    fn each<const N: usize, V: Vector<N>>(
        &self,
        v: V,
        range: Range<usize>,
        mut store: impl FnMut(usize, V::F),
    ) {
        let (mut rows, mut weights) = ([&[] as &[[f32; N]]; K], [v.splat(0.0); K]);
        for k in 0..K {
            rows[k] = chunks(self.rows[k], range.clone());
            weights[k] = v.splat(self.weights[k]);
        }
        for (i, first) in rows[0].iter().enumerate() {
            let mut sum = v.mul(weights[0], v.load_f32(first));
            for k in 1..K {
                sum = v.fma(weights[k], v.load_f32(&rows[k][i]), sum);
            }
            store(i, sum);
        }
    }
}

/// Adds `fma(w[k], row[k], sum)` to the sums in `acc`, or starts them from -0, with which the first one is a product.
pub(crate) struct Accumulate<'a> {
    pub(crate) rows: &'a [&'a [f32]],
    pub(crate) weights: &'a [f32],
    pub(crate) first: bool,
    pub(crate) acc: &'a mut [f32],
}

impl Block for Accumulate<'_> {
    const OVERLAP: bool = false;

    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        for (i, acc) in chunks_mut::<f32, N>(self.acc, range.clone()).iter_mut().enumerate() {
            let mut sum = if self.first { v.splat(-0.0) } else { v.load_f32(acc) };
            for (row, &w) in self.rows.iter().zip(self.weights) {
                sum = v.fma(v.splat(w), v.load_f32(&chunks(row, range.clone())[i]), sum);
            }
            v.store_f32(sum, acc);
        }
    }
}

/// `w[0] * centre`, then `fma(w[k], row[-k] + row[+k], sum)`; rows from top to bottom, `2 * radius + 1`.
pub(crate) struct Mirrored<'a, const R: usize> {
    pub(crate) rows: [&'a [f32]; 31],
    pub(crate) weights: [f32; 16],
    /// Rows on each side when `R` is 0; otherwise `R` rows, known to the compiler.
    pub(crate) radius: usize,
}

impl<const R: usize> Sums for Mirrored<'_, R> {
    #[inline(always)]
    fn each<const N: usize, V: Vector<N>>(
        &self,
        v: V,
        range: Range<usize>,
        mut store: impl FnMut(usize, V::F),
    ) {
        let first = v.splat(self.weights[0]);
        if R == 0 {
            let row = |k: usize| chunks(self.rows[k], range.clone());
            for i in 0..range.len() / N {
                let mut sum = v.mul(first, v.load_f32(&row(self.radius)[i]));
                for k in 1..=self.radius {
                    let (above, below) = (row(self.radius - k), row(self.radius + k));
                    sum = v.fma(v.splat(self.weights[k]), f32::pair(v, &above[i], &below[i]), sum);
                }
                store(i, sum);
            }
            return;
        }
        // Indices known to the compiler, so that slices and weights stay in registers.
        let centre = chunks(self.rows[R], range.clone());
        let (mut above, mut below, mut weights) = ([centre; 3], [centre; 3], [first; 3]);
        for k in 0..R {
            above[k] = chunks(self.rows[R - 1 - k], range.clone());
            below[k] = chunks(self.rows[R + 1 + k], range.clone());
            weights[k] = v.splat(self.weights[k + 1]);
        }
        for (i, centre) in centre.iter().enumerate() {
            let mut sum = v.mul(first, v.load_f32(centre));
            for k in 0..R {
                sum = v.fma(weights[k], f32::pair(v, &above[k][i], &below[k][i]), sum);
            }
            store(i, sum);
        }
    }
}
