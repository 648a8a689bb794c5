//! [`mip_plan::Sampled`]: pixels of the source at computed coordinates.

use std::fmt::Debug;
use std::marker::PhantomData;

use mip_core::{ImageDesc, Layout};
use mip_plan::{Border, Interpolation, Sampled as Definition};

use super::premultiply::constant;
use super::row::RowMut;
use super::{Job, RowKernel};
use crate::simd::Pixel;

/// Goes along the row pixel by pixel.
#[derive(Debug)]
pub(crate) struct Sampled<T> {
    definition: Definition,
    input: ImageDesc,
    sample: PhantomData<T>,
}

impl<T> Sampled<T> {
    pub(crate) const fn new(definition: Definition, input: ImageDesc) -> Self {
        Self { definition, input, sample: PhantomData }
    }
}

impl<T: Pixel + Debug> RowKernel for Sampled<T> {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        job.level.vectorize(
            #[inline(always)]
            || {
                let out = out;
                match self.input.channels() {
                    1 => self.row::<1>(job, out),
                    3 => self.row::<3>(job, out),
                    _ => self.row::<4>(job, out),
                }
            },
        );
    }
}

/// Pixels whose coordinates are computed before they are sampled: one loop for each, of which the first is the same for all
/// dtypes and formats.
const PIXELS: usize = 64;

/// Source coordinates of some pixels of a row; NaN where there are none.
type Places = [[f32; 2]; PIXELS];

/// The coordinates of at most [`PIXELS`] pixels from column `first` on.
#[inline(always)]
fn places(definition: &Definition, source: &ImageDesc, job: &Job<'_>, first: usize, places: &mut [[f32; 2]]) {
    let coordinates = definition.coordinates;
    let maps: [&[f32]; 2] = match coordinates.map_count() {
        0 => [&[]; 2],
        _ => [1, 2].map(|input| &job.origins[input].row(job.y).plane::<f32>(0)[first..]),
    };
    for (i, place) in places.iter_mut().enumerate() {
        let map = maps.map(|map| map.get(i).copied().unwrap_or(0.0));
        let pixel = ((first + i) as u32, job.y);
        let found = coordinates.source(job.uniforms, pixel, map, (source.width(), source.height()));
        *place = found.unwrap_or([f32::NAN; 2]);
    }
}

impl<T: Pixel> Sampled<T> {
    #[inline(always)]
    fn row<const N: usize>(&self, job: &Job<'_>, out: &mut RowMut<'_>) {
        let source = Source::<T, N>::new(job, &self.input, &self.definition);
        let mut at: Places = [[0.0; 2]; PIXELS];
        match self.input.layout() {
            Layout::Hwc => {
                let (out, _) = out.plane::<T>(0).as_chunks_mut::<N>();
                for (first, out) in (0..).step_by(PIXELS).zip(out.chunks_mut(PIXELS)) {
                    let at = &mut at[..out.len()];
                    places(&self.definition, &self.input, job, first, at);
                    for (out, &at) in out.iter_mut().zip(&*at) {
                        *out = self.pixel(&source, at).map(T::from_f32);
                    }
                }
            }
            Layout::Chw => {
                let mut planes = out.planes::<T, N>();
                let width = planes[0].len();
                for first in (0..width).step_by(PIXELS) {
                    let at = &mut at[..PIXELS.min(width - first)];
                    places(&self.definition, &self.input, job, first, at);
                    for (x, &at) in (first..).zip(&*at) {
                        let values = self.pixel(&source, at);
                        planes
                            .iter_mut()
                            .zip(values)
                            .for_each(|(plane, value)| plane[x] = T::from_f32(value));
                    }
                }
            }
        }
    }
}

impl<T: Pixel> Sampled<T> {
    /// A method, not a closure: closures are not always compiled with the instructions of the level.
    #[inline(always)]
    fn pixel<const N: usize>(&self, source: &Source<'_, T, N>, [sx, sy]: [f32; 2]) -> [f32; N] {
        if sx.is_nan() {
            return match self.definition.border {
                Border::Constant(value) => [value; N],
                Border::Reflect101 | Border::Reflect | Border::Replicate | Border::Wrap => [0.0; N],
            };
        }
        match self.definition.interpolation {
            Interpolation::Nearest => source.at(Definition::nearest(sx), Definition::nearest(sy)),
            Interpolation::Bilinear => source.bilinear(sx, sy),
            Interpolation::Bicubic if self.input.format().has_alpha() => source.bicubic_with_alpha(sx, sy),
            Interpolation::Bicubic => source.bicubic(sx, sy),
        }
    }
}

/// An image of `N` channels that can be read anywhere. Strides are in samples.
struct Source<'a, T, const N: usize> {
    samples: &'a [T],
    start: usize,
    row: usize,
    /// From a pixel to the next, and from a channel to the next.
    steps: [usize; 2],
    size: (u32, u32),
    border: Border,
    outside: [f32; 4],
    /// Whether pixels are premultiplied when they are read. (What sums in binary64 is premultiplied there.)
    alpha: bool,
}

impl<'a, T: Pixel, const N: usize> Source<'a, T, N> {
    #[inline(always)]
    fn new(job: &Job<'a>, desc: &ImageDesc, definition: &Definition) -> Self {
        let (origin, bytes) = (job.origins[0], size_of::<T>());
        let whole = origin.data.len() / bytes * bytes;
        let alpha = desc.format().has_alpha() && definition.interpolation == Interpolation::Bilinear;
        Self {
            samples: bytemuck::cast_slice(&origin.data[..whole]),
            start: origin.start / bytes,
            row: origin.advance / bytes,
            steps: match desc.layout() {
                Layout::Hwc => [N, 1],
                Layout::Chw => [1, origin.stride / bytes],
            },
            size: (desc.width(), desc.height()),
            border: definition.border,
            outside: match definition.border {
                Border::Constant(value) => constant(value, alpha),
                Border::Reflect101 | Border::Reflect | Border::Replicate | Border::Wrap => [0.0; 4],
            },
            alpha,
        }
    }

    /// A pixel anywhere, premultiplied where sums want that.
    #[inline(always)]
    fn at(&self, x: i64, y: i64) -> [f32; N] {
        match (self.border.index(x, self.size.0), self.border.index(y, self.size.1)) {
            (Some(x), Some(y)) => self.inside(x as usize, y as usize),
            (None, _) | (_, None) => std::array::from_fn(|c| self.outside[c]),
        }
    }

    #[inline(always)]
    fn inside(&self, x: usize, y: usize) -> [f32; N] {
        let [pixel, channel] = self.steps;
        let first = self.start + y * self.row + x * pixel;
        let mut values: [f32; N] = std::array::from_fn(|c| self.samples[first + c * channel].to_f32());
        if self.alpha {
            let (alpha, colours) = values.split_last_mut().expect("alpha is the last channel");
            for v in colours {
                *v *= *alpha;
            }
        }
        values
    }

    #[inline(always)]
    fn bilinear(&self, sx: f32, sy: f32) -> [f32; N] {
        let ((x0, wx), (y0, wy)) = (Definition::linear(sx), Definition::linear(sy));
        let above = sum(wx, [self.at(x0, y0), self.at(x0 + 1, y0)]);
        let below = sum(wx, [self.at(x0, y0 + 1), self.at(x0 + 1, y0 + 1)]);
        let mut values = sum(wy, [above, below]);
        if self.alpha {
            let (alpha, colours) = values.split_last_mut().expect("alpha is the last channel");
            for v in colours {
                *v = if *alpha > 0.0 { *v / *alpha } else { 0.0 };
            }
        }
        values
    }

    #[inline(always)]
    fn bicubic(&self, sx: f32, sy: f32) -> [f32; N] {
        let ((x0, wx), (y0, wy)) = (Definition::cubic(sx), Definition::cubic(sy));
        let row = |y: i64| sum(wx, [0, 1, 2, 3].map(|i| self.at(x0 + i, y)));
        sum(wy, [0, 1, 2, 3].map(|j| row(y0 + j)))
    }

    /// Of four channels, in binary64.
    #[inline(always)]
    fn bicubic_with_alpha(&self, sx: f32, sy: f32) -> [f32; N] {
        let ((x0, wx), (y0, wy)) = (Definition::wide_cubic(sx), Definition::wide_cubic(sy));
        let pixel = |x: i64, y: i64| {
            let mut values = self.at(x, y).map(f64::from);
            let (alpha, colours) = values.split_last_mut().expect("alpha is the last channel");
            for v in colours {
                *v *= *alpha;
            }
            values
        };
        let row = |y: i64| wide_sum(wx, [0, 1, 2, 3].map(|i| pixel(x0 + i, y)));
        let mut values = wide_sum(wy, [0, 1, 2, 3].map(|j| row(y0 + j)));
        let (alpha, colours) = values.split_last_mut().expect("alpha is the last channel");
        for v in colours {
            *v = if *alpha > 0.0 { *v / *alpha } else { 0.0 };
        }
        values.map(|v| v as f32)
    }
}

/// Weighted sums of pixels; a tap of weight 0 is none.
#[inline(always)]
fn sum<const N: usize, const TAPS: usize>(weights: [f32; TAPS], pixels: [[f32; N]; TAPS]) -> [f32; N] {
    let mut sums = [-0.0; N];
    for (w, values) in weights.into_iter().zip(pixels) {
        for (sum, v) in sums.iter_mut().zip(values) {
            *sum = if w == 0.0 { *sum } else { w.mul_add(v, *sum) };
        }
    }
    sums
}

/// The same in binary64.
#[inline(always)]
fn wide_sum<const N: usize>(weights: [f64; 4], pixels: [[f64; N]; 4]) -> [f64; N] {
    let mut sums = [-0.0; N];
    for (w, values) in weights.into_iter().zip(pixels) {
        for (sum, v) in sums.iter_mut().zip(values) {
            *sum = if w == 0.0 { *sum } else { w.mul_add(v, *sum) };
        }
    }
    sums
}
