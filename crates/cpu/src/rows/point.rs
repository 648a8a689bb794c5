//! Point kernels with one input that leave the channels alone: copy, affine, threshold.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;
use mip_core::{DType, ImageDesc, Layout, Sample};

use super::byte_maps::threshold;
use super::row::RowMut;
use super::{Job, RowKernel};
use crate::simd::{Block, Pixel, Vector, chunks, chunks_mut};

/// Plane, first index and distance of the samples of a channel.
pub(crate) fn strided(desc: &ImageDesc, channel: usize) -> (usize, usize, usize) {
    match desc.layout() {
        Layout::Hwc => (0, channel, desc.channels()),
        Layout::Chw => (channel, 0, 1),
    }
}

/// [`mip_plan::Point::copy`].
#[derive(Debug)]
pub(crate) struct Copy<T> {
    input: ImageDesc,
    output: ImageDesc,
    sample: PhantomData<T>,
}

impl<T: Pod> Copy<T> {
    pub(crate) fn new(input: ImageDesc, output: ImageDesc) -> Self {
        Self { input, output, sample: PhantomData }
    }
}

impl<T: Pod + Send + Sync + Debug> RowKernel for Copy<T> {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        let row = job.own(0);
        if self.input.layout() == self.output.layout() {
            out.copy_from(&row);
            return;
        }
        each_channel::<T, T>(job, [&self.input, &self.output], out, |_, sample| sample);
    }
}

/// Applies `f(channel, sample)` where input and output may lie differently.
#[inline(always)]
fn each_channel<I: Pod, O: Pod>(
    job: &Job<'_>,
    [input, output]: [&ImageDesc; 2],
    out: &mut RowMut<'_>,
    f: impl Fn(usize, I) -> O,
) {
    let row = job.own(0);
    for c in 0..output.channels() {
        let (plane, first, step) = strided(input, c);
        let src = row.plane::<I>(plane)[first..].iter().step_by(step);
        let (plane, first, step) = strided(output, c);
        let out = out.plane::<O>(plane)[first..].iter_mut().step_by(step);
        job.level.vectorize(
            #[inline(always)]
            || {
                for (out, &sample) in out.zip(src) {
                    *out = f(c, sample);
                }
            },
        );
    }
}

/// [`mip_plan::Point::affine`].
#[derive(Debug)]
pub(crate) struct Affine<I, O> {
    input: ImageDesc,
    output: ImageDesc,
    /// For each channel in memory the number of its pair of uniforms.
    pairs: Vec<usize>,
    sample: PhantomData<(I, O)>,
}

impl<I: Pixel, O: Pixel> Affine<I, O> {
    pub(crate) fn new(input: ImageDesc, output: ImageDesc, pairs: Vec<usize>) -> Self {
        Self { input, output, pairs, sample: PhantomData }
    }

    /// Factors and offsets of the channels in memory.
    fn numbers(&self, uniforms: &[f32]) -> [[f32; 4]; 2] {
        let mut numbers = [[0.0; 4]; 2];
        for (c, pair) in self.pairs.iter().enumerate() {
            numbers[0][c] = uniforms[2 * pair];
            numbers[1][c] = uniforms[2 * pair + 1];
        }
        numbers
    }
}

/// A coefficient a channel, repeated for every phase that a block of interleaved pixels can start with.
type Pattern = [f32; 20];

fn pattern(values: &[f32], step: usize) -> Pattern {
    std::array::from_fn(|i| values[i % step])
}

impl<I: Pixel, O: Pixel> RowKernel for Affine<I, O> {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        let channels = self.output.channels();
        let numbers = self.numbers(job.uniforms);
        let [a, b] = numbers.each_ref().map(|numbers| &numbers[..channels]);
        match (self.input.layout(), self.output.layout(), self.output.channels()) {
            (Layout::Hwc, Layout::Chw, 3) => self.split::<3>(job, a, b, out),
            (Layout::Hwc, Layout::Chw, 4) => self.split::<4>(job, a, b, out),
            (input, output, _) if input == output => self.flat(job, a, b, out),
            _ => each_channel::<I, O>(job, [&self.input, &self.output], out, |c, sample| {
                O::from_f32(sample.to_f32().mul_add(a[c], b[c]))
            }),
        }
    }
}

impl<I: Pixel, O: Pixel> Affine<I, O> {
    /// Input and output lie the same way.
    fn flat(&self, job: &Job<'_>, a: &[f32], b: &[f32], out: &mut RowMut<'_>) {
        let (row, step) = (job.own(0), self.output.pixel_step());
        for p in 0..self.output.planes() {
            let block = Scale::<I, O> {
                src: row.plane(p),
                out: out.plane(p),
                a: pattern(&a[p..], step),
                b: pattern(&b[p..], step),
                step,
            };
            job.level.drive(block, self.output.row_samples());
        }
    }
}

impl<I: Pixel, O: Pixel> Affine<I, O> {
    /// From interleaved pixels to planes.
    fn split<const C: usize>(&self, job: &Job<'_>, a: &[f32], b: &[f32], out: &mut RowMut<'_>) {
        let pixels = job.own(0).plane::<I>(0).as_chunks::<C>().0;
        let (mut factors, mut terms) = ([0.0; C], [0.0; C]);
        factors.copy_from_slice(a);
        terms.copy_from_slice(b);
        let block = Split { pixels, out: out.planes::<O, C>(), a: factors, b: terms };
        job.level.drive(block, self.output.width() as usize);
    }
}

struct Split<'a, I, O, const C: usize> {
    pixels: &'a [[I; C]],
    out: [&'a mut [O]; C],
    a: [f32; C],
    b: [f32; C],
}

impl<I: Pixel, O: Pixel, const C: usize> Block for Split<'_, I, O, C> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let pixels: &[[[I; C]; N]] = chunks(self.pixels, range.clone());
        for (i, pixels) in pixels.iter().enumerate() {
            let channels = I::split(v, pixels);
            let start = range.start + i * N;
            for (c, &channel) in channels.iter().enumerate() {
                let value = v.fma(channel, v.splat(self.a[c]), v.splat(self.b[c]));
                O::store(v, value, &mut chunks_mut(self.out[c], start..start + N)[0]);
            }
        }
    }
}

struct Scale<'a, I, O> {
    src: &'a [I],
    out: &'a mut [O],
    a: Pattern,
    b: Pattern,
    step: usize,
}

impl<I: Pixel, O: Pixel> Block for Scale<'_, I, O> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let mut phase = range.start % self.step;
        let advance = N % self.step;
        let src = chunks(self.src, range.clone());
        for (src, out) in src.iter().zip(chunks_mut(self.out, range)) {
            let a = v.load_f32(&chunks(&self.a, phase..phase + N)[0]);
            let b = v.load_f32(&chunks(&self.b, phase..phase + N)[0]);
            O::store(v, v.fma(I::load(v, src), a, b), out);
            phase += advance;
            phase -= if phase >= self.step { self.step } else { 0 };
        }
    }
}

/// [`mip_plan::Point::threshold`].
#[derive(Debug)]
pub(crate) struct Threshold<T> {
    input: ImageDesc,
    output: ImageDesc,
    sample: PhantomData<T>,
}

impl<T: Pixel> Threshold<T> {
    pub(crate) fn new(input: ImageDesc, output: ImageDesc) -> Self {
        Self { input, output, sample: PhantomData }
    }
}

impl<T: Pixel> RowKernel for Threshold<T> {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        let [limit, value] = [job.uniforms[0], job.uniforms[1]];
        let alpha = self.output.format().has_alpha();
        if alpha || self.input.layout() != self.output.layout() {
            let (above, below) = (T::from_f32(value), T::from_f32(0.0));
            each_channel::<T, T>(job, [&self.input, &self.output], out, |c, sample| match (alpha, c) {
                (true, 3) => sample,
                _ if sample.to_f32() > limit => above,
                _ => below,
            });
            return;
        }
        let row = job.own(0);
        for p in 0..self.output.planes() {
            if T::DTYPE == DType::U8 {
                threshold(job.level, row.plane(p), limit, u8::from_f32(value), out.plane(p));
                continue;
            }
            let block = Step::<T> { src: row.plane(p), out: out.plane(p), limit, value };
            job.level.drive(block, self.output.row_samples());
        }
    }
}

struct Step<'a, T> {
    src: &'a [T],
    out: &'a mut [T],
    limit: f32,
    value: f32,
}

impl<T: Pixel> Block for Step<'_, T> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let (limit, value) = (v.splat(self.limit), v.splat(self.value));
        let src = chunks(self.src, range.clone());
        for (src, out) in src.iter().zip(chunks_mut(self.out, range)) {
            T::store(v, v.if_greater(T::load(v, src), limit, value), out);
        }
    }
}
