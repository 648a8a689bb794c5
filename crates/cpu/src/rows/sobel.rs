use std::marker::PhantomData;

use mip_core::{DType, ImageDesc};
use mip_plan::Border;

use super::borders::Borders;
use super::row::{RowMut, RowShape};
use super::{Job, RowKernel};
use crate::simd::{Block, Pixel, Vector, WithVector, at, at_mut, drive};

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
    fn run<V: Vector>(mut self, v: V) {
        for x in self.borders.edges() {
            self.out[x] = self.at_edge(x);
        }
        let columns = self.borders.interior();
        drive(v, &mut self, columns.start, columns.end);
    }
}

impl<I: Pixel, T: Pixel> Gradient<'_, I, T> {
    #[inline(always)]
    fn at_edge(&self, x: usize) -> T {
        let columns = [-1, 0, 1].map(|offset| self.borders.column(x, offset));
        let p = self.rows.map(|row| columns.map(|c| c.map_or(self.outside, |column| row[column].to_f32())));
        let d = p.map(|[left, _, right]| right - left);
        let s = p.map(|[left, centre, right]| centre.mul_add(2.0, left + right));
        let gx = d[1].mul_add(2.0, d[0] + d[2]);
        let gy = s[2] - s[0];
        T::from_f32(gx.mul_add(gx, gy * gy).sqrt())
    }
}

impl<I: Pixel, T: Pixel> Gradient<'_, I, T> {
    #[inline(always)]
    fn difference<V: Vector>(&self, v: V, row: usize, x: usize) -> V::F {
        let row = self.rows[row];
        v.sub(I::load(v, at(v, row, x + 1)), I::load(v, at(v, row, x - 1)))
    }

    #[inline(always)]
    fn smooth<V: Vector>(&self, v: V, row: usize, x: usize) -> V::F {
        let row = self.rows[row];
        let sides = I::pair(v, at(v, row, x - 1), at(v, row, x + 1));
        v.fma(v.splat(2.0), I::load(v, at(v, row, x)), sides)
    }
}

impl<I: Pixel, T: Pixel> Block for Gradient<'_, I, T> {
    #[inline(always)]
    fn block<V: Vector>(&mut self, v: V, x: usize) {
        let sides = v.add(self.difference(v, 0, x), self.difference(v, 2, x));
        let gx = v.fma(v.splat(2.0), self.difference(v, 1, x), sides);
        let gy = v.sub(self.smooth(v, 2, x), self.smooth(v, 0, x));
        let magnitude = v.sqrt(v.fma(gx, gx, v.mul(gy, gy)));
        T::store(v, magnitude, at_mut(v, self.out, x));
    }
}
