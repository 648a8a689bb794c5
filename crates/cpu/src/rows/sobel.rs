use std::marker::PhantomData;
use std::ops::Range;

use mip_core::{DType, ImageDesc};
use mip_plan::Border;

use super::borders::{Borders, Edge};
use super::row::{RowMut, RowShape};
use super::{Job, RowKernel};
use crate::simd::{Block, Level, One, Pixel, Vector, WithVector, chunks, chunks_mut, drive, gradient};

/// [`mip_plan::Stencil::sobel`] on gray rows of any dtype.
#[derive(Debug)]
pub(crate) struct Sobel<T> {
    borders: Borders,
    /// The constant border as a sample and as it is; they differ when the type cannot hold it.
    constant: Option<f32>,
    shape: RowShape,
    wide: RowShape,
    sample: PhantomData<T>,
}

impl<T: Pixel> Sobel<T> {
    pub(crate) fn new(desc: ImageDesc, border: Border) -> Self {
        let constant = if let Border::Constant(value) = border { Some(value) } else { None };
        let (shape, wide) = (RowShape::new(&desc, T::DTYPE), RowShape::new(&desc, DType::F32));
        Self { borders: Borders::new(border, 1, desc.width(), 1), constant, shape, wide, sample: PhantomData }
    }

    /// Whether everything outside can be written down as samples.
    fn representable(&self) -> bool {
        self.constant.is_none_or(|value| T::from_f32(value).to_f32() == value)
    }
}

impl<T: Pixel> RowKernel for Sobel<T> {
    fn scratch_bytes(&self) -> usize {
        if self.representable() { self.shape.slot() } else { 3 * self.wide.slot() }
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let outside = self.constant.unwrap_or(0.0);
        let out = out.plane::<T>(0);
        let plane = |k: usize| job.tap(k).map(|row| row.plane::<T>(0));
        let rows = [plane(0), plane(1), plane(2)];
        if self.representable() {
            let constant: &mut [T] = bytemuck::cast_slice_mut(&mut scratch[..self.shape.bytes]);
            if rows.iter().any(Option::is_none) {
                constant.fill(T::from_f32(outside));
            }
            let constant = &*constant;
            let rows =
                [rows[0].unwrap_or(constant), rows[1].unwrap_or(constant), rows[2].unwrap_or(constant)];
            let done = in_bytes(job.level, rows, out);
            job.level.with(Gradient { rows, out, borders: &self.borders, outside, done });
        } else {
            let mut slots = scratch.chunks_exact_mut(self.wide.slot());
            let rows = rows.map(|row| {
                let slot = slots.next().expect("three rows of scratch");
                let wide: &mut [f32] = bytemuck::cast_slice_mut(&mut slot[..self.wide.bytes]);
                match row {
                    Some(row) => wide.iter_mut().zip(row).for_each(|(w, s)| *w = s.to_f32()),
                    None => wide.fill(outside),
                }
                &*wide
            });
            job.level.with(Gradient { rows, out, borders: &self.borders, outside, done: 0 });
        }
    }
}

/// Computes as many inner columns as there is a faster way for; returns their number.
fn in_bytes<T: Pixel>(level: Level, rows: [&[T]; 3], out: &mut [T]) -> usize {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(v3) if T::DTYPE == DType::U8 => {
            let rows = [0, 1, 2].map(|k| bytemuck::cast_slice(rows[k]));
            crate::simd::gradient_avx2(v3, rows, bytemuck::cast_slice_mut(out))
        }
        _ => 0,
    }
}

struct Gradient<'a, I, T> {
    rows: [&'a [I]; 3],
    out: &'a mut [T],
    borders: &'a Borders,
    outside: f32,
    /// Inner columns that are there already.
    done: usize,
}

impl<I: Pixel, T: Pixel> WithVector for Gradient<'_, I, T> {
    #[inline(always)]
    fn run<const N: usize, V: Vector<N>>(mut self, v: V) {
        let mut columns = self.borders.interior();
        if self.done < columns.len() {
            // A whole block again rather than a few columns one by one.
            columns.start += self.done.min(columns.len().saturating_sub(N));
            drive(v, &mut self, columns);
        }
        for edge in self.borders.edges() {
            self.edge(edge);
        }
    }
}

impl<I: Pixel, T: Pixel> Gradient<'_, I, T> {
    /// At most two columns whose window is not inside: unfolded into rows of their own, whose interior they are.
    #[inline(always)]
    fn edge(&mut self, edge: &Edge) {
        let mut rows = [[0.0_f32; 4]; 3];
        for (row, unfolded) in self.rows.iter().zip(&mut rows) {
            edge.unfold(row, &[self.outside], unfolded);
        }
        let (mut out, inside) = ([T::default(); 4], 1..1 + edge.columns.len());
        let rows = [&rows[0][..], &rows[1][..], &rows[2][..]];
        let (borders, outside) = (self.borders, self.outside);
        if !inside.is_empty() {
            Gradient { rows, out: &mut out, borders, outside, done: 0 }.blocks(One, inside.clone());
        }
        self.out[edge.columns.clone()].copy_from_slice(&out[inside]);
    }
}

impl<I: Pixel, T: Pixel> Block for Gradient<'_, I, T> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let [above, here, below] =
            [around(self.rows[0], &range), around(self.rows[1], &range), around(self.rows[2], &range)];
        for (i, out) in chunks_mut(self.out, range.clone()).iter_mut().enumerate() {
            let [above, here, below] = [
                [&above[0][i], &above[1][i], &above[2][i]],
                [&here[0][i], &here[1][i], &here[2][i]],
                [&below[0][i], &below[1][i], &below[2][i]],
            ];
            T::store(v, gradient(v, above, here, below), out);
        }
    }
}

/// The blocks of a row at the columns to the left, at the columns, to the right.
#[inline(always)]
fn around<'a, I, const N: usize>(row: &'a [I], range: &Range<usize>) -> [&'a [[I; N]]; 3] {
    let Range { start, end } = *range;
    [chunks(row, start - 1..end - 1), chunks(row, start..end), chunks(row, start + 1..end + 1)]
}
