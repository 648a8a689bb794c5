use std::marker::PhantomData;
use std::ops::Range;

use mip_core::{DType, ImageDesc};
use mip_plan::Border;

use super::borders::Borders;
use super::row::{RowMut, RowShape};
use super::{Job, RowKernel};
use crate::simd::{Block, Pixel, Vector, WithVector, chunks, chunks_mut, drive};

/// [`mip_plan::Sobel`] on rows of any sample type.
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
        Self { borders: Borders::new(border, 1, desc.width), constant, shape, wide, sample: PhantomData }
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
        let rows = [0, 1, 2].map(|k| job.tap(k).map(|row| row.plane::<T>(0)));
        if self.representable() {
            let constant: &mut [T] = bytemuck::cast_slice_mut(&mut scratch[..self.shape.bytes]);
            if rows.iter().any(Option::is_none) {
                constant.fill(T::from_f32(outside));
            }
            let rows = rows.map(|row| row.unwrap_or(constant));
            job.level.with(Gradient { rows, out, borders: &self.borders, outside });
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
            job.level.with(Gradient { rows, out, borders: &self.borders, outside });
        }
    }
}

struct Gradient<'a, I, T> {
    rows: [&'a [I]; 3],
    out: &'a mut [T],
    borders: &'a Borders,
    outside: f32,
}

impl<I: Pixel, T: Pixel> WithVector for Gradient<'_, I, T> {
    #[inline(always)]
    fn run<const N: usize, V: Vector<N>>(mut self, v: V) {
        for x in self.borders.edges() {
            self.out[x] = self.at_edge(x);
        }
        let columns = self.borders.interior();
        drive(v, &mut self, columns);
    }
}

impl<I: Pixel, T: Pixel> Gradient<'_, I, T> {
    #[inline(always)]
    fn at_edge(&self, x: usize) -> T {
        let columns = [self.borders.column(x, -1), Some(x), self.borders.column(x, 1)];
        let (mut d, mut s) = ([0.0; 3], [0.0; 3]);
        for (j, row) in self.rows.iter().enumerate() {
            let mut p = [self.outside; 3];
            for (p, column) in p.iter_mut().zip(columns) {
                *p = column.map_or(*p, |column| row[column].to_f32());
            }
            d[j] = p[2] - p[0];
            s[j] = p[1].mul_add(2.0, p[0] + p[2]);
        }
        let gx = d[1].mul_add(2.0, d[0] + d[2]);
        let gy = s[2] - s[0];
        T::from_f32(gx.mul_add(gx, gy * gy).sqrt())
    }
}

impl<I: Pixel, T: Pixel> Block for Gradient<'_, I, T> {
    #[inline(always)]
    fn run<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let [above, here, below] =
            [around(self.rows[0], &range), around(self.rows[1], &range), around(self.rows[2], &range)];
        for (i, out) in chunks_mut(self.out, range.clone()).iter_mut().enumerate() {
            let [above, here, below] = [
                [&above[0][i], &above[1][i], &above[2][i]],
                [&here[0][i], &here[1][i], &here[2][i]],
                [&below[0][i], &below[1][i], &below[2][i]],
            ];
            T::store(v, I::gradient(v, above, here, below), out);
        }
    }
}

/// The blocks of a row at the columns to the left, at the columns, to the right.
#[inline(always)]
fn around<'a, I, const N: usize>(row: &'a [I], range: &Range<usize>) -> [&'a [[I; N]]; 3] {
    let Range { start, end } = *range;
    [chunks(row, start - 1..end - 1), chunks(row, start..end), chunks(row, start + 1..end + 1)]
}
