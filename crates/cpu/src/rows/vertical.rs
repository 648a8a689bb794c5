//! The vertical halves of separable filters: weighted sums over rows of binary32.

use std::marker::PhantomData;

use mip_core::{DType, ImageDesc};

use super::premultiply::unpremultiply;
use super::row::{Row, RowMut, RowShape};
use crate::simd::{Block, Level, Pixel, Vector, at, at_mut};

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
        self.desc.format.has_alpha()
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
            || unpremultiply::<T>(self.desc.layout, &row, out),
        );
    }
}

/// A block of sums at a column.
pub(crate) trait Sums {
    fn sums<V: Vector>(&self, v: V, x: usize) -> V::F;
}

struct Store<'a, S, T> {
    sums: S,
    out: &'a mut [T],
}

impl<S: Sums, T: Pixel> Block for Store<'_, S, T> {
    #[inline(always)]
    fn block<V: Vector>(&mut self, v: V, x: usize) {
        T::store(v, self.sums.sums(v, x), at_mut(v, self.out, x));
    }
}

struct Sum<'a> {
    row: &'a [f32],
}

impl Sums for Sum<'_> {
    #[inline(always)]
    fn sums<V: Vector>(&self, v: V, x: usize) -> V::F {
        v.load_f32(at(v, self.row, x))
    }
}

/// `w[0] * row[0]`, then `fma(w[k], row[k], sum)`.
pub(crate) struct InOrder<'a, const N: usize> {
    pub(crate) rows: [&'a [f32]; N],
    pub(crate) weights: [f32; N],
}

impl<const N: usize> Sums for InOrder<'_, N> {
    #[inline(always)]
    fn sums<V: Vector>(&self, v: V, x: usize) -> V::F {
        let mut sum = v.mul(v.splat(self.weights[0]), v.load_f32(at(v, self.rows[0], x)));
        for k in 1..N {
            sum = v.fma(v.splat(self.weights[k]), v.load_f32(at(v, self.rows[k], x)), sum);
        }
        sum
    }
}

/// Adds `fma(w[k], row[k], sum)` to the sums in `acc`, or starts them.
pub(crate) struct Accumulate<'a> {
    pub(crate) rows: &'a [&'a [f32]],
    pub(crate) weights: &'a [f32],
    pub(crate) first: bool,
    pub(crate) acc: &'a mut [f32],
}

impl Block for Accumulate<'_> {
    const OVERLAP: bool = false;

    #[inline(always)]
    fn block<V: Vector>(&mut self, v: V, x: usize) {
        let mut taps = self.rows.iter().zip(self.weights).map(
            #[inline(always)]
            |(row, &w)| (v.splat(w), v.load_f32(at(v, row, x))),
        );
        let mut sum = match (self.first, taps.len()) {
            (true, 1..) => {
                let (w, p) = taps.next().expect("a tap");
                v.mul(w, p)
            }
            _ => v.load_f32(at(v, self.acc, x)),
        };
        for (w, p) in taps {
            sum = v.fma(w, p, sum);
        }
        v.store_f32(sum, at_mut(v, self.acc, x));
    }
}

/// `w[0] * centre`, then `fma(w[k], row[-k] + row[+k], sum)`; rows from top to bottom, `2 * weights.len() - 1`.
pub(crate) struct Mirrored<'a, const N: usize> {
    pub(crate) rows: [&'a [f32]; 31],
    pub(crate) weights: [f32; 16],
    /// Rows on each side when `N` is 0; otherwise `N` rows, known to the compiler.
    pub(crate) radius: usize,
}

impl<const N: usize> Sums for Mirrored<'_, N> {
    #[inline(always)]
    fn sums<V: Vector>(&self, v: V, x: usize) -> V::F {
        let radius = if N == 0 { self.radius } else { N };
        let mut sum = v.mul(v.splat(self.weights[0]), v.load_f32(at(v, self.rows[radius], x)));
        for k in 1..=radius {
            let (above, below) = (at(v, self.rows[radius - k], x), at(v, self.rows[radius + k], x));
            sum = v.fma(v.splat(self.weights[k]), f32::pair(v, above, below), sum);
        }
        sum
    }
}

/// The rows of `row` in the plane `p`.
#[inline(always)]
pub(crate) fn planes<'a, const N: usize>(rows: &[Row<'a>; N], p: usize) -> [&'a [f32]; N] {
    rows.map(
        #[inline(always)]
        |row| row.plane::<f32>(p),
    )
}
