//! [`mip_plan::Sampled`]: pixels of the source at computed coordinates.

use std::fmt::Debug;
use std::marker::PhantomData;

use mip_core::{ImageDesc, Layout};
use mip_plan::{Border, Coordinates, Interpolation, MapUnit, Sampled as Definition};

use super::premultiply::constant;
use super::row::RowMut;
use super::{Job, RowKernel};
use crate::simd::{Pixel, Vector, WithVector};

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
        job.level.with(ARow { rows: self, job, out });
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

    /// Of pixels from column `first` on.
    #[inline(always)]
    fn find<W: Way>(
        &mut self,
        _: W,
        coordinates: Coordinates,
        source: &ImageDesc,
        job: &Job<'_>,
        first: usize,
    ) {
        // Told apart here and not for each pixel.
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
        for (first, at) in self.first.iter_mut().zip(&self.at) {
            for (first, &at) in first.iter_mut().zip(at) {
                *first = W::first_of_32_bits(at);
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
    #[inline(always)]
    fn row<const N: usize, const L: usize, V: Vector<L>>(&self, job: &Job<'_>, v: V, out: &mut RowMut<'_>) {
        let source = Source::<T, N>::new(job, &self.input, &self.definition);
        match self.definition.interpolation {
            Interpolation::Nearest => self.pixels(job, v, &source, Nearest, out),
            Interpolation::Bilinear if source.alpha => self.pixels(job, v, &source, BilinearWithAlpha, out),
            Interpolation::Bilinear => self.pixels(job, v, &source, Bilinear, out),
            Interpolation::Bicubic if self.input.format().has_alpha() => {
                self.pixels(job, v, &source, BicubicWithAlpha, out);
            }
            Interpolation::Bicubic => self.pixels(job, v, &source, Bicubic, out),
        }
    }

    #[inline(always)]
    fn pixels<const N: usize, const L: usize, V: Vector<L>>(
        &self,
        job: &Job<'_>,
        v: V,
        source: &Source<'_, T, N>,
        way: impl Way,
        out: &mut RowMut<'_>,
    ) {
        let (mut places, mut values) = (Places::NONE, [[0.0; N]; PIXELS]);
        match self.input.layout() {
            Layout::Hwc => {
                let out = out.plane::<T>(0);
                for (first, out) in (0..).step_by(PIXELS).zip(out.chunks_mut(PIXELS * N)) {
                    places.find(way, self.definition.coordinates, &self.input, job, first);
                    source.fill(way, &places, &mut values[..out.len() / N]);
                    quantise(v, values.as_flattened(), out);
                }
            }
            Layout::Chw => {
                let mut planes = out.planes::<T, N>();
                let width = planes[0].len();
                for first in (0..width).step_by(PIXELS) {
                    let count = PIXELS.min(width - first);
                    places.find(way, self.definition.coordinates, &self.input, job, first);
                    source.fill(way, &places, &mut values[..count]);
                    for (c, plane) in planes.iter_mut().enumerate() {
                        let plane_values = values.map(|value| value[c]);
                        quantise(v, &plane_values, &mut plane[first..first + count]);
                    }
                }
            }
        }
    }
}

/// Quantises as many values as there is room for.
#[inline(always)]
fn quantise<T: Pixel, const L: usize, V: Vector<L>>(v: V, values: &[f32], out: &mut [T]) {
    let values = &values[..out.len()];
    let done = out.len() / L * L;
    for (to, from) in out.as_chunks_mut::<L>().0.iter_mut().zip(values.as_chunks::<L>().0) {
        T::store(v, v.load_f32(from), to);
    }
    out[done..].iter_mut().zip(&values[done..]).for_each(|(to, &value)| *to = T::from_f32(value));
}

/// Whether all pixels that are read along an axis lie in the image.
#[inline(always)]
fn is_inside<W: Way>(first: i32, side: u32) -> bool {
    first >= 0 && i64::from(first) + W::TAPS as i64 <= i64::from(side)
}

/// Whether none of them does.
#[inline(always)]
fn is_apart<W: Way>(first: i32, side: u32) -> bool {
    i64::from(first) + W::TAPS as i64 <= 0 || i64::from(first) >= i64::from(side)
}

/// The pixels around a place. Types and not closures, which are not always compiled with the instructions of the level.
trait Around<const N: usize>: Copy {
    /// One, by its place from the first that is read.
    fn at(self, i: usize, j: usize) -> [f32; N];
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

/// The same everywhere.
#[derive(Clone, Copy)]
struct Constant<const N: usize>([f32; N]);

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

impl<const N: usize> Around<N> for Constant<N> {
    #[inline(always)]
    fn at(self, _: usize, _: usize) -> [f32; N] {
        self.0
    }
}

/// How a pixel is made of those around a place: a type each, so that the loop over a row has no choice to make.
trait Way: Copy {
    /// Pixels read along each axis.
    const TAPS: usize;

    /// The first pixel that is read along an axis.
    fn first(s: f32) -> i64;

    /// The same; beyond 32 bits the nearest.
    #[inline(always)]
    fn first_of_32_bits(s: f32) -> i32 {
        (s.floor() as i32).saturating_add(1 - (Self::TAPS / 2) as i32)
    }

    /// The pixel, of those that `at` gives by their place from the first.
    fn pixel<T: Pixel, const N: usize>(place: [f32; 2], around: impl Around<N>) -> [f32; N];
}

#[derive(Clone, Copy)]
struct Nearest;
#[derive(Clone, Copy)]
struct Bilinear;
/// Of premultiplied pixels.
#[derive(Clone, Copy)]
struct BilinearWithAlpha;
#[derive(Clone, Copy)]
struct Bicubic;
/// In binary64.
#[derive(Clone, Copy)]
struct BicubicWithAlpha;

impl Way for Nearest {
    const TAPS: usize = 1;

    #[inline(always)]
    fn first_of_32_bits(s: f32) -> i32 {
        s.round_ties_even() as i32
    }

    #[inline(always)]
    fn first(s: f32) -> i64 {
        Definition::nearest(s)
    }

    #[inline(always)]
    fn pixel<T: Pixel, const N: usize>(_: [f32; 2], around: impl Around<N>) -> [f32; N] {
        around.at(0, 0)
    }
}

impl Way for Bilinear {
    const TAPS: usize = 2;

    #[inline(always)]
    fn first(s: f32) -> i64 {
        Definition::linear(s).0
    }

    #[inline(always)]
    fn pixel<T: Pixel, const N: usize>([sx, sy]: [f32; 2], around: impl Around<N>) -> [f32; N] {
        let (wx, wy) = (Definition::linear(sx).1, Definition::linear(sy).1);
        let above = sum::<T, N, 2>(wx, [around.at(0, 0), around.at(1, 0)]);
        let below = sum::<T, N, 2>(wx, [around.at(0, 1), around.at(1, 1)]);
        sum::<T, N, 2>(wy, [above, below])
    }
}

impl Way for BilinearWithAlpha {
    const TAPS: usize = 2;

    #[inline(always)]
    fn first(s: f32) -> i64 {
        Definition::linear(s).0
    }

    #[inline(always)]
    fn pixel<T: Pixel, const N: usize>(place: [f32; 2], around: impl Around<N>) -> [f32; N] {
        let mut values = Bilinear::pixel::<T, N>(place, around);
        let (alpha, colours) = values.split_last_mut().expect("alpha is the last channel");
        for v in colours {
            *v = if *alpha > 0.0 { *v / *alpha } else { 0.0 };
        }
        values
    }
}

impl Way for Bicubic {
    const TAPS: usize = 4;

    #[inline(always)]
    fn first(s: f32) -> i64 {
        Definition::cubic(s).0
    }

    #[inline(always)]
    fn pixel<T: Pixel, const N: usize>([sx, sy]: [f32; 2], around: impl Around<N>) -> [f32; N] {
        let (wx, wy) = (Definition::cubic(sx).1, Definition::cubic(sy).1);
        let mut rows = [[0.0; N]; 4];
        for (j, row) in rows.iter_mut().enumerate() {
            let taps = [around.at(0, j), around.at(1, j), around.at(2, j), around.at(3, j)];
            *row = sum::<T, N, 4>(wx, taps);
        }
        sum::<T, N, 4>(wy, rows)
    }
}

impl Way for BicubicWithAlpha {
    const TAPS: usize = 4;

    #[inline(always)]
    fn first(s: f32) -> i64 {
        Definition::wide_cubic(s).0
    }

    #[inline(always)]
    fn pixel<T: Pixel, const N: usize>([sx, sy]: [f32; 2], around: impl Around<N>) -> [f32; N] {
        let (wx, wy) = (Definition::wide_cubic(sx).1, Definition::wide_cubic(sy).1);
        let mut rows = [[0.0; N]; 4];
        for (j, row) in rows.iter_mut().enumerate() {
            let mut taps = [[0.0; N]; 4];
            for (i, tap) in taps.iter_mut().enumerate() {
                *tap = around.at(i, j).map(f64::from);
                let (alpha, colours) = tap.split_last_mut().expect("alpha is the last channel");
                for v in colours {
                    *v *= *alpha;
                }
            }
            *row = wide_sum(wx, taps);
        }
        let mut values = wide_sum(wy, rows);
        let (alpha, colours) = values.split_last_mut().expect("alpha is the last channel");
        for v in colours {
            *v = if *alpha > 0.0 { *v / *alpha } else { 0.0 };
        }
        values.map(|v| v as f32)
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

    #[inline(always)]
    fn fill<W: Way>(&self, way: W, places: &Places, values: &mut [[f32; N]]) {
        let Places { at: [across, down], first: [columns, rows] } = places;
        let places = across.iter().zip(columns).zip(down.iter().zip(rows));
        for (value, ((&sx, &x), (&sy, &y))) in values.iter_mut().zip(places) {
            *value = self.pixel(way, (sx, x), (sy, y));
        }
    }

    /// A pixel of the result: along each axis its place in the source, and the first pixel that is read.
    #[inline(always)]
    fn pixel<W: Way>(&self, _: W, (sx, x): (f32, i32), (sy, y): (f32, i32)) -> [f32; N] {
        // Nearly all pixels lie inside, where no border need be looked at. NaN counts as 0 there.
        if is_inside::<W>(x, self.size.0) && is_inside::<W>(y, self.size.1) && !sx.is_nan() {
            let first = self.start + y as usize * self.row + x as usize * self.steps[0];
            return W::pixel::<T, N>([sx, sy], Inside { source: self, first });
        }
        let Border::Constant(constant) = self.border else {
            if sx.is_nan() {
                return [0.0; N];
            }
            return W::pixel::<T, N>([sx, sy], Anywhere { source: self, x: W::first(sx), y: W::first(sy) });
        };
        if sx.is_nan() {
            return [constant; N];
        }
        if is_apart::<W>(x, self.size.0) || is_apart::<W>(y, self.size.1) {
            return W::pixel::<T, N>([sx, sy], Constant(self.outside()));
        }
        W::pixel::<T, N>([sx, sy], Anywhere { source: self, x: W::first(sx), y: W::first(sy) })
    }

    #[inline(always)]
    fn outside(&self) -> [f32; N] {
        std::array::from_fn(|c| self.outside[c])
    }

    /// A pixel anywhere, premultiplied where sums want that.
    #[inline(always)]
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
            samples.map(|sample| sample.to_f32())
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

/// Weighted sums of pixels; a tap of weight 0 is none. Of integers, which are finite, it adds 0 and need not be looked for.
#[inline(always)]
fn sum<T: Pixel, const N: usize, const TAPS: usize>(
    weights: [f32; TAPS],
    pixels: [[f32; N]; TAPS],
) -> [f32; N] {
    let mut sums = [-0.0; N];
    for (w, values) in weights.into_iter().zip(pixels) {
        for (sum, v) in sums.iter_mut().zip(values) {
            *sum = if T::DTYPE.is_float() && w == 0.0 { *sum } else { w.mul_add(v, *sum) };
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
