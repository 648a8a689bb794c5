use std::marker::PhantomData;
use std::ops::Range;

use mip_core::{DType, ImageDesc};

use super::byte_maps::FixedPointWeights;
use super::point::strided;
use super::row::RowMut;
use super::{Job, RowKernel};
use crate::simd::{Block, Pixel, Vector, chunks, chunks_mut};

/// [`mip_plan::Point::blend`].
#[derive(Debug)]
pub(crate) struct Blend<T> {
    inputs: [ImageDesc; 2],
    output: ImageDesc,
    sample: PhantomData<T>,
}

impl<T: Pixel> Blend<T> {
    pub(crate) fn new(inputs: [ImageDesc; 2], output: ImageDesc) -> Self {
        Self { inputs, output, sample: PhantomData }
    }
}

impl<T: Pixel> RowKernel for Blend<T> {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        let rows = [job.own(0), job.own(1)];
        let [wb, wa] = [job.uniforms[0], job.uniforms[1]];
        if self.inputs.iter().all(|input| input.layout() == self.output.layout()) {
            let fixed = if T::DTYPE == DType::U8 { FixedPointWeights::new([wa, wb]) } else { None };
            for p in 0..self.output.planes() {
                if let Some(fixed) = fixed {
                    let [a, b] = rows.map(|row| row.plane(p));
                    fixed.blend(job.level, a, b, out.plane(p));
                    continue;
                }
                let [a, b] = rows.map(|row| row.plane::<T>(p));
                job.level.drive(Mix { a, b, wa, wb, out: out.plane(p) }, self.output.row_samples());
            }
            return;
        }
        for c in 0..self.output.channels() {
            let [a, b] = [0, 1].map(|i| {
                let (plane, first, step) = strided(&self.inputs[i], c);
                rows[i].plane::<T>(plane)[first..].iter().step_by(step)
            });
            let (plane, first, step) = strided(&self.output, c);
            let out = out.plane::<T>(plane)[first..].iter_mut().step_by(step);
            job.level.vectorize(
                #[inline(always)]
                || {
                    for ((out, a), b) in out.zip(a).zip(b) {
                        *out = T::from_f32(b.to_f32().mul_add(wb, a.to_f32() * wa));
                    }
                },
            );
        }
    }
}

struct Mix<'a, T> {
    a: &'a [T],
    b: &'a [T],
    wa: f32,
    wb: f32,
    out: &'a mut [T],
}

impl<T: Pixel> Block for Mix<'_, T> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let (a, b) = (chunks(self.a, range.clone()), chunks(self.b, range.clone()));
        let (wa, wb) = (v.splat(self.wa), v.splat(self.wb));
        for ((a, b), out) in a.iter().zip(b).zip(chunks_mut(self.out, range)) {
            T::store(v, v.fma(T::load(v, b), wb, v.mul(T::load(v, a), wa)), out);
        }
    }
}
