//! [`mip_plan::Sampled`]: pixels of the source at computed coordinates.

use std::fmt::Debug;
use std::marker::PhantomData;

use mip_core::{DType, ImageDesc, Layout, Sample};
use mip_plan::{Border, Coordinates, Interpolation, MapUnit, Sampled as Definition};

use super::interpolation::{
    Around, Bicubic, BicubicWithAlpha, Bilinear, BilinearWithAlpha, Nearest, Way, is_apart, is_inside,
};
use super::premultiply::constant;
use super::row::RowMut;
use super::{BLOCK, Job, RowKernel};
use crate::simd::{Level, Pixel, Vector, WithVector, integers};

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
    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        if self.only_copies() {
            return self.compute_together(std::slice::from_ref(job), scratch, std::slice::from_mut(out));
        }
        job.level.with(ARow { rows: self, job, out });
    }

    /// What a block of the result reads lies close together, and stays in the first-level cache.
    fn together(&self) -> usize {
        if self.only_copies() { BLOCK } else { 1 }
    }

    fn compute_together(&self, jobs: &[Job<'_>], scratch: &mut [u8], out: &mut [RowMut<'_>]) {
        if !self.only_copies() {
            return jobs.iter().zip(out).for_each(|(job, out)| self.compute(job, scratch, out));
        }
        jobs[0].level.vectorize(
            #[inline(always)]
            || match self.input.channels() {
                1 => self.copies::<1>(jobs, out),
                3 => self.copies::<3>(jobs, out),
                _ => self.copies::<4>(jobs, out),
            },
        );
    }
}

/// One row of the result.
struct ARow<'a, 'o, T> {
    rows: &'a Sampled<T>,
    job: &'a Job<'a>,
    out: &'a mut RowMut<'o>,
}

impl<T: Pixel> WithVector for ARow<'_, '_, T> {
    #[inline(always)]
    fn run<const L: usize, V: Vector<L>>(self, v: V) {
        let Self { rows, job, out } = self;
        match rows.input.channels() {
            1 => rows.row::<1, L, V>(job, v, out),
            3 => rows.row::<3, L, V>(job, v, out),
            _ => rows.row::<4, L, V>(job, v, out),
        }
    }
}

/// Pixels whose coordinates are computed, then their values, and then these are quantised: one loop for each, of which the first
/// is the same for all dtypes and formats.
const PIXELS: usize = 64;

/// Where some pixels of a row read.
struct Places {
    /// Source columns and rows; NaN where there are none.
    at: [[f32; PIXELS]; 2],
    /// The first pixel that is read along each axis; beyond 32 bits the nearest.
    first: [[i32; PIXELS]; 2],
}

impl Places {
    const NONE: Self = Self { at: [[0.0; PIXELS]; 2], first: [[0; PIXELS]; 2] };

    /// Of pixels from column `first` on. Compiled once, not for every dtype and format.
    #[inline(never)]
    fn find(&mut self, definition: &Definition, source: &ImageDesc, job: &Job<'_>, first: usize) {
        job.level.vectorize(
            #[inline(always)]
            || {
                let places = self;
                places.compute_any(definition.coordinates, source, job, first);
                places.round(definition.interpolation, job.level);
            },
        );
    }

    #[inline(always)]
    fn round(&mut self, interpolation: Interpolation, level: Level) {
        for (first, at) in self.first.iter_mut().zip(&self.at) {
            let mut whole = *at;
            match interpolation {
                Interpolation::Nearest => {
                    for s in &mut whole {
                        *s = s.round_ties_even();
                    }
                }
                Interpolation::Bilinear | Interpolation::Bicubic => {
                    for s in &mut whole {
                        *s = s.floor();
                    }
                }
            }
            integers(level, &whole, first);
            if interpolation == Interpolation::Bicubic {
                for first in first {
                    *first = first.saturating_sub(1);
                }
            }
        }
    }

    /// Coordinates are told apart here and not for each pixel.
    #[inline(always)]
    fn compute_any(&mut self, coordinates: Coordinates, source: &ImageDesc, job: &Job<'_>, first: usize) {
        match coordinates {
            Coordinates::Affine => self.compute(Coordinates::Affine, source, job, first),
            Coordinates::Projective => self.compute(Coordinates::Projective, source, job, first),
            Coordinates::Brown => self.compute(Coordinates::Brown, source, job, first),
            Coordinates::Fisheye => self.compute(Coordinates::Fisheye, source, job, first),
            Coordinates::Map(MapUnit::Absolute) => {
                self.compute(Coordinates::Map(MapUnit::Absolute), source, job, first);
            }
            Coordinates::Map(MapUnit::Normalized) => {
                self.compute(Coordinates::Map(MapUnit::Normalized), source, job, first);
            }
            Coordinates::Map(MapUnit::Relative) => {
                self.compute(Coordinates::Map(MapUnit::Relative), source, job, first);
            }
        }
    }

    #[inline(always)]
    fn compute(&mut self, coordinates: Coordinates, source: &ImageDesc, job: &Job<'_>, first: usize) {
        // Copied, so that neither their number nor what lies behind the end of a row has to be checked for each pixel.
        let (mut numbers, mut maps) = ([0.0; 20], [[0.0; PIXELS]; 2]);
        numbers[..job.uniforms.len()].copy_from_slice(job.uniforms);
        if coordinates.map_count() > 0 {
            for (input, map) in (1..).zip(&mut maps) {
                let from = &job.origins[input].row(job.y).plane::<f32>(0)[first..];
                let count = from.len().min(PIXELS);
                map[..count].copy_from_slice(&from[..count]);
            }
        }
        let (numbers, size) = (&numbers[..coordinates.uniform_count()], (source.width(), source.height()));
        let [across, down] = &mut self.at;
        for (i, (sx, sy)) in across.iter_mut().zip(down).enumerate() {
            let pixel = (first as u32 + i as u32, job.y);
            let found = coordinates.source(numbers, pixel, [maps[0][i], maps[1][i]], size);
            [*sx, *sy] = found.unwrap_or([f32::NAN; 2]);
        }
    }
}

impl<T: Pixel> Sampled<T> {
    /// Whether the result is pixels of bytes as they are.
    fn only_copies(&self) -> bool {
        let nearest = self.definition.interpolation == Interpolation::Nearest;
        T::DTYPE == DType::U8 && nearest && self.input.layout() == Layout::Hwc
    }

    /// Rows of which this is so, a block of each after the other.
    #[inline(always)]
    fn copies<const N: usize>(&self, jobs: &[Job<'_>], out: &mut [RowMut<'_>]) {
        let source = Source::<T, N>::new(&jobs[0], &self.input, self.definition.border, false);
        let mut places = Places::NONE;
        let width = out[0].plane::<T>(0).len() / N;
        for first in (0..width).step_by(PIXELS) {
            for (job, out) in jobs.iter().zip(&mut *out) {
                places.find(&self.definition, &self.input, job, first);
                let pixels = &mut out.plane::<T>(0).as_chunks_mut().0[first..];
                let count = PIXELS.min(pixels.len());
                source.copy_nearest(&places, &mut pixels[..count]);
            }
        }
    }

    #[inline(always)]
    fn row<const N: usize, const L: usize, V: Vector<L>>(&self, job: &Job<'_>, v: V, out: &mut RowMut<'_>) {
        let bilinear = self.definition.interpolation == Interpolation::Bilinear;
        let alpha = bilinear && self.input.format().has_alpha();
        let source = Source::<T, N>::new(job, &self.input, self.definition.border, alpha);
        let (mut places, mut values) = (Places::NONE, [[0.0; N]; PIXELS]);
        let interleaved = self.input.layout() == Layout::Hwc;
        let step = if interleaved { N } else { 1 };
        let width = out.plane::<T>(0).len() / step;
        for first in (0..width).step_by(PIXELS) {
            let values = &mut values[..PIXELS.min(width - first)];
            places.find(&self.definition, &self.input, job, first);
            match self.definition.interpolation {
                Interpolation::Nearest => source.fill(Nearest, &places, values),
                Interpolation::Bilinear if N == 4 && source.alpha => {
                    source.fill(BilinearWithAlpha, &places, values);
                }
                Interpolation::Bilinear => source.fill(Bilinear, &places, values),
                Interpolation::Bicubic if N == 4 => source.fill(BicubicWithAlpha, &places, values),
                Interpolation::Bicubic => source.fill(Bicubic, &places, values),
            }
            let to = first * step..(first + values.len()) * step;
            if interleaved {
                quantise(v, values.as_flattened(), &mut out.plane::<T>(0)[to]);
                continue;
            }
            for c in 0..N {
                let mut plane = [0.0; PIXELS];
                plane.iter_mut().zip(&*values).for_each(|(to, value)| *to = value[c]);
                quantise(v, &plane, &mut out.plane::<T>(c)[to.clone()]);
            }
        }
    }
}

/// Quantises as many values as there is room for.
#[inline(always)]
pub(super) fn quantise<T: Pixel, const L: usize, V: Vector<L>>(v: V, values: &[f32], out: &mut [T]) {
    let values = &values[..out.len()];
    let done = out.len() / L * L;
    for (to, from) in out.as_chunks_mut::<L>().0.iter_mut().zip(values.as_chunks::<L>().0) {
        T::store(v, v.load_f32(from), to);
    }
    out[done..].iter_mut().zip(&values[done..]).for_each(|(to, &value)| *to = T::from_f32(value));
}

/// All in the image: the index of the first one's first sample.
struct Inside<'a, 's, T, const N: usize> {
    source: &'a Source<'s, T, N>,
    first: usize,
}

/// Those of the border as well: column and row of the first.
struct Anywhere<'a, 's, T, const N: usize> {
    source: &'a Source<'s, T, N>,
    x: i64,
    y: i64,
}

impl<T, const N: usize> Clone for Inside<'_, '_, T, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const N: usize> Copy for Inside<'_, '_, T, N> {}
impl<T, const N: usize> Clone for Anywhere<'_, '_, T, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const N: usize> Copy for Anywhere<'_, '_, T, N> {}

impl<T: Pixel, const N: usize> Around<N> for Inside<'_, '_, T, N> {
    #[inline(always)]
    fn at(self, i: usize, j: usize) -> [f32; N] {
        self.source.inside(self.first + j * self.source.row + i * self.source.steps[0])
    }
}

impl<T: Pixel, const N: usize> Around<N> for Anywhere<'_, '_, T, N> {
    #[inline(always)]
    fn at(self, i: usize, j: usize) -> [f32; N] {
        self.source.at(self.x + i as i64, self.y + j as i64)
    }
}

/// An image of `N` channels that can be read anywhere. Strides are in samples.
pub(super) struct Source<'a, T, const N: usize> {
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
    pub(super) fn new(job: &Job<'a>, desc: &ImageDesc, border: Border, alpha: bool) -> Self {
        let (origin, bytes) = (job.origins[0], size_of::<T>());
        let whole = origin.data.len() / bytes * bytes;
        Self {
            samples: bytemuck::cast_slice(&origin.data[..whole]),
            start: origin.start / bytes,
            row: origin.advance / bytes,
            steps: match desc.layout() {
                Layout::Hwc => [N, 1],
                Layout::Chw => [1, origin.stride / bytes],
            },
            size: (desc.width(), desc.height()),
            border,
            outside: match border {
                Border::Constant(value) => constant(value, alpha),
                Border::Reflect101 | Border::Reflect | Border::Replicate | Border::Wrap => [0.0; 4],
            },
            alpha,
        }
    }

    #[inline(always)]
    fn fill<W: Way>(&self, way: W, places: &Places, values: &mut [[f32; N]]) {
        let Places { at: [across, down], first: [columns, rows] } = places;
        let places = across.iter().zip(columns).zip(down.iter().zip(rows));
        for (value, ((&sx, &x), (&sy, &y))) in values.iter_mut().zip(places) {
            *value = self.pixel(way, (sx, x), (sy, y));
        }
    }

    /// The nearest pixels, as they are, at most [`PIXELS`].
    #[inline(always)]
    fn copy_nearest(&self, places: &Places, out: &mut [[T; N]]) {
        /// Stands for a pixel that is not in the image.
        const NONE: u32 = u32::MAX;
        let Places { at: [across, down], first: [columns, rows] } = places;
        let mut offsets = [NONE; PIXELS];
        let (mut constant, (width, height)) = (None, self.size);
        // Of larger images every pixel is looked for.
        if let Ok(row) = u32::try_from(self.row)
            && u64::from(row) * u64::from(height) < NONE.into()
        {
            if let Border::Constant(value) = self.border {
                constant = Some(T::from_f32(value));
            }
            for (offset, (&sx, (&x, &y))) in
                offsets.iter_mut().zip(across.iter().zip(columns.iter().zip(rows)))
            {
                let (x, y) = (x as u32, y as u32);
                let inside = x < width && y < height && !sx.is_nan();
                let place = y.wrapping_mul(row).wrapping_add(x.wrapping_mul(N as u32));
                *offset = if inside { place } else { NONE };
            }
        }
        // One pixel more than there are: of three samples the one behind them is copied too, and overwritten.
        let mut copied = [[T::default(); N]; PIXELS + 1];
        let (samples, copied_samples) = (&self.samples[self.start..], copied.as_flattened_mut());
        let size = if N == 3 { 4 } else { N };
        for (i, &offset) in offsets.iter().enumerate() {
            let (offset, to) = (offset as usize, &mut copied_samples[i * N..i * N + size]);
            match (samples.get(offset..offset + size), constant) {
                (Some(pixel), _) => to.copy_from_slice(pixel),
                (None, Some(constant)) if offset == NONE as usize => to.fill(constant),
                (None, _) => {
                    let pixel = self.pixel(Nearest, (across[i], columns[i]), (down[i], rows[i]));
                    to[..N].copy_from_slice(&pixel.map(T::from_f32));
                }
            }
        }
        out.copy_from_slice(&copied[..out.len()]);
    }

    /// A pixel of the result: along each axis its place in the source, and the first pixel that is read.
    #[inline(always)]
    fn pixel<W: Way>(&self, _: W, (sx, x): (f32, i32), (sy, y): (f32, i32)) -> [f32; N] {
        // Nearly all pixels lie inside, where no border need be looked at. NaN counts as 0 there.
        if is_inside::<W>(x, self.size.0) && is_inside::<W>(y, self.size.1) && !sx.is_nan() {
            let first = self.start + y as usize * self.row + x as usize * self.steps[0];
            return W::pixel::<T, N>([sx, sy], Inside { source: self, first });
        }
        let constant = if let Border::Constant(value) = self.border { Some(value) } else { None };
        if sx.is_nan() {
            return [constant.unwrap_or(0.0); N];
        }
        // What is made of one number alone is that number, but for rounding that integers do not see.
        if let Some(value) = constant
            && !T::DTYPE.is_float()
            && (is_apart::<W>(x, self.size.0) || is_apart::<W>(y, self.size.1))
        {
            return [value; N];
        }
        W::pixel::<T, N>([sx, sy], Anywhere { source: self, x: W::first(sx), y: W::first(sy) })
    }

    /// The pixel in this column and row of the image.
    #[inline(always)]
    pub(super) fn pixel_at(&self, x: usize, y: usize) -> [f32; N] {
        self.inside(self.start + y * self.row + x * self.steps[0])
    }

    #[inline(always)]
    fn outside(&self) -> [f32; N] {
        std::array::from_fn(|c| self.outside[c])
    }

    /// A pixel anywhere, premultiplied where sums want that. Called, since few are at a border: as part of each way of interpolating
    /// it would be a hundredth of the program.
    #[inline(never)]
    fn at(&self, x: i64, y: i64) -> [f32; N] {
        match (self.border.index(x, self.size.0), self.border.index(y, self.size.1)) {
            (Some(x), Some(y)) => {
                self.inside(self.start + y as usize * self.row + x as usize * self.steps[0])
            }
            (None, _) | (_, None) => self.outside(),
        }
    }

    /// The pixel whose first sample has this index.
    #[inline(always)]
    fn inside(&self, first: usize) -> [f32; N] {
        let channel = self.steps[1];
        let mut values: [f32; N] = if channel == 1 {
            let samples: &[T; N] = self.samples[first..first + N].try_into().expect("as many samples");
            samples.map(Sample::to_f32)
        } else {
            std::array::from_fn(|c| self.samples[first + c * channel].to_f32())
        };
        if self.alpha {
            let (alpha, colours) = values.split_last_mut().expect("alpha is the last channel");
            for v in colours {
                *v *= *alpha;
            }
        }
        values
    }
}
