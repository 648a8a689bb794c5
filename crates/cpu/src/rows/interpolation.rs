//! Interpolation between the pixels around a place: see [`mip_plan::Interpolation`].

use mip_plan::Sampled as Definition;

use crate::simd::Pixel;

/// Whether all pixels that are read along an axis lie in the image.
#[inline(always)]
pub(crate) fn is_inside<W: Way>(first: i32, side: u32) -> bool {
    first >= 0 && i64::from(first) + W::TAPS as i64 <= i64::from(side)
}

/// Whether none of them does.
#[inline(always)]
pub(crate) fn is_apart<W: Way>(first: i32, side: u32) -> bool {
    i64::from(first) + W::TAPS as i64 <= 0 || i64::from(first) >= i64::from(side)
}

/// The pixels around a place. Types and not closures, which are not always compiled with the instructions of the level.
pub(crate) trait Around<const N: usize>: Copy {
    /// One, by its place from the first that is read.
    fn at(self, i: usize, j: usize) -> [f32; N];
}

/// How a pixel is made of those around a place: a type each, so that the loop over a row has no choice to make.
pub(crate) trait Way: Copy {
    /// Pixels read along each axis.
    const TAPS: usize;

    /// The first pixel that is read along an axis.
    fn first(s: f32) -> i64;

    /// The pixel, of those that `at` gives by their place from the first.
    fn pixel<T: Pixel, const N: usize>(place: [f32; 2], around: impl Around<N>) -> [f32; N];
}

#[derive(Clone, Copy)]
pub(crate) struct Nearest;
#[derive(Clone, Copy)]
pub(crate) struct Bilinear;
/// Of premultiplied pixels.
#[derive(Clone, Copy)]
pub(crate) struct BilinearWithAlpha;
#[derive(Clone, Copy)]
pub(crate) struct Bicubic;
/// In binary64.
#[derive(Clone, Copy)]
pub(crate) struct BicubicWithAlpha;

impl Way for Nearest {
    const TAPS: usize = 1;

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
        straight(Bilinear::pixel::<T, N>(place, around))
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

/// What a sum of premultiplied pixels stands for.
#[inline(always)]
pub(crate) fn straight<const N: usize>(mut values: [f32; N]) -> [f32; N] {
    let (alpha, colours) = values.split_last_mut().expect("alpha is the last channel");
    for v in colours {
        *v = if *alpha > 0.0 { *v / *alpha } else { 0.0 };
    }
    values
}

/// Weighted sums of pixels; a tap of weight 0 is none. Of integers, which are finite, it adds 0 and need not be looked for.
#[inline(always)]
pub(crate) fn sum<T: Pixel, const N: usize, const TAPS: usize>(
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
