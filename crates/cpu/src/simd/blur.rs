//! Separable filters of bytes, 32 samples at a time.
//!
//! Sums lie in rows of their own order: widening a register of bytes works on its 128-bit halves, so that sixteen
//! bytes lie between the lanes of a register of sums. As both directions use the same order and packing puts
//! everything back, nothing ever crosses the halves, which would take longer than the arithmetic.

use std::arch::x86_64::{__m256, __m256i};

use pulp::x86::V3;

use super::{chunks, chunks_mut};
use crate::rows::TOGETHER;
use crate::rows::byte_blur::LANES;

type Bytes = [u8; LANES];
type Sums = [[f32; 8]; 4];

/// `w[0] * p`, then `fma(w[k], p[-k] + p[+k], sum)` along a row. `src` has `weights.len() - 1` pixels of `step`
/// samples more on each side than `out`, whose length is a multiple of [`LANES`].
pub(crate) fn blur_row_avx2(v3: V3, src: &[u8], step: usize, weights: &[f32], out: &mut [f32]) {
    match weights.len() - 1 {
        1 => row::<1>(v3, src, step, weights, out),
        2 => row::<2>(v3, src, step, weights, out),
        3 => row::<3>(v3, src, step, weights, out),
        _ => row::<0>(v3, src, step, weights, out),
    }
}

/// `R` is the radius, or 0 when it is not known to the compiler.
fn row<const R: usize>(v3: V3, src: &[u8], step: usize, weights: &[f32], out: &mut [f32]) {
    v3.vectorize(
        #[inline(always)]
        move || {
            let out = out;
            row_inside::<R>(v3, src, step, weights, out);
        },
    );
}

#[inline(always)]
fn row_inside<const R: usize>(v3: V3, src: &[u8], step: usize, weights: &[f32], out: &mut [f32]) {
    let (radius, len) = (weights.len() - 1, out.len());
    let at = |pixel: usize| -> &[Bytes] { chunks(src, pixel * step..pixel * step + len) };
    let out: &mut [Sums] = bytemuck::cast_slice_mut(out);
    let centre = at(radius);
    let mut factors = [v3.avx._mm256_set1_ps(weights[0]); 4];
    let (mut left, mut right) = ([centre; 3], [centre; 3]);
    for k in 0..R {
        factors[k + 1] = v3.avx._mm256_set1_ps(weights[k + 1]);
        left[k] = at(radius - k - 1);
        right[k] = at(radius + k + 1);
    }
    for (i, out) in out.iter_mut().enumerate() {
        let mut sums = widen(v3, words(v3, &centre[i]));
        for sum in &mut sums {
            *sum = v3.avx._mm256_mul_ps(factors[0], *sum);
        }
        for k in 0..R {
            add_pair(v3, factors[k + 1], &left[k][i], &right[k][i], &mut sums);
        }
        if R == 0 {
            for (k, &weight) in weights.iter().enumerate().skip(1) {
                let factor = v3.avx._mm256_set1_ps(weight);
                add_pair(v3, factor, &at(radius - k)[i], &at(radius + k)[i], &mut sums);
            }
        }
        *out = bytemuck::cast(sums);
    }
}

/// `fma(w, a + b, sum)`.
#[inline(always)]
fn add_pair(v3: V3, factor: __m256, a: &Bytes, b: &Bytes, sums: &mut [__m256; 4]) {
    let (a, b) = (words(v3, a), words(v3, b));
    let pair = [v3.avx2._mm256_add_epi16(a[0], b[0]), v3.avx2._mm256_add_epi16(a[1], b[1])];
    let pair = widen(v3, pair);
    for lane in 0..4 {
        sums[lane] = v3.fma._mm256_fmadd_ps(factor, pair[lane], sums[lane]);
    }
}

/// Bytes as 16-bit integers.
#[inline(always)]
fn words(v3: V3, bytes: &Bytes) -> [__m256i; 2] {
    let (bytes, zero) = (bytemuck::cast(*bytes), v3.avx._mm256_setzero_si256());
    [v3.avx2._mm256_unpacklo_epi8(bytes, zero), v3.avx2._mm256_unpackhi_epi8(bytes, zero)]
}

/// 16-bit integers as binary32.
#[inline(always)]
fn widen(v3: V3, [low, high]: [__m256i; 2]) -> [__m256; 4] {
    let (avx, avx2) = (v3.avx, v3.avx2);
    let zero = avx._mm256_setzero_si256();
    [
        avx._mm256_cvtepi32_ps(avx2._mm256_unpacklo_epi16(low, zero)),
        avx._mm256_cvtepi32_ps(avx2._mm256_unpackhi_epi16(low, zero)),
        avx._mm256_cvtepi32_ps(avx2._mm256_unpacklo_epi16(high, zero)),
        avx._mm256_cvtepi32_ps(avx2._mm256_unpackhi_epi16(high, zero)),
    ]
}

/// The same over rows of sums, `2 * weights.len() - 1` of them from top to bottom, and quantises. Their length is a
/// multiple of [`LANES`] and at least that of `out`. `finite` says that no sum is NaN or reaches 2^31.
pub(crate) fn blur_columns_avx2(v3: V3, rows: &[&[f32]], weights: &[f32], finite: bool, out: &mut [u8]) {
    match (weights.len() - 1, finite) {
        (1, true) => columns::<1, true>(v3, rows, weights, out),
        (2, true) => columns::<2, true>(v3, rows, weights, out),
        (3, true) => columns::<3, true>(v3, rows, weights, out),
        (_, true) => columns::<0, true>(v3, rows, weights, out),
        (_, false) => columns::<0, false>(v3, rows, weights, out),
    }
}

fn columns<const R: usize, const FINITE: bool>(v3: V3, rows: &[&[f32]], weights: &[f32], out: &mut [u8]) {
    v3.vectorize(
        #[inline(always)]
        move || {
            let out = out;
            columns_inside::<R, FINITE>(v3, rows, weights, out);
        },
    );
}

#[inline(always)]
fn columns_inside<const R: usize, const FINITE: bool>(
    v3: V3,
    rows: &[&[f32]],
    weights: &[f32],
    out: &mut [u8],
) {
    let (radius, len) = (weights.len() - 1, out.len());
    let blocks = len.div_ceil(LANES);
    let centre = sums(rows[radius], blocks);
    let mut factors = [v3.avx._mm256_set1_ps(weights[0]); 4];
    let (mut above, mut below) = ([centre; 3], [centre; 3]);
    for k in 0..R {
        factors[k + 1] = v3.avx._mm256_set1_ps(weights[k + 1]);
        above[k] = sums(rows[radius - k - 1], blocks);
        below[k] = sums(rows[radius + k + 1], blocks);
    }
    let columns = Columns::<R, FINITE> { v3, rows, weights, factors, above, centre, below };
    let full: &mut [Bytes] = chunks_mut(out, 0..len);
    for (i, out) in full.iter_mut().enumerate() {
        *out = columns.block(i);
    }
    let done = len / LANES * LANES;
    if done < len {
        out[done..].copy_from_slice(&columns.block(blocks - 1)[..len - done]);
    }
}

/// Radii that [`blur_four_avx2`] knows.
pub(crate) const BLURS_TOGETHER: std::ops::RangeInclusive<usize> = 1..=3;
/// Rows that it reads at most.
pub(crate) const MAX_TOGETHER: usize = 2 * 3 + TOGETHER;

/// [`blur_columns_avx2`] for rows that follow each other, for weights whose sums are finite: each row of sums
/// is read once for all results, whose blocks are computed side by side.
pub(crate) fn blur_four_avx2(v3: V3, rows: &[&[f32]], weights: &[f32], out: [&mut [u8]; TOGETHER]) {
    match weights.len() - 1 {
        1 => four::<1>(v3, rows, weights, out),
        2 => four::<2>(v3, rows, weights, out),
        _ => four::<3>(v3, rows, weights, out),
    }
}

fn four<const R: usize>(v3: V3, rows: &[&[f32]], weights: &[f32], out: [&mut [u8]; TOGETHER]) {
    v3.vectorize(
        #[inline(always)]
        move || {
            let mut out = out;
            four_inside::<R>(v3, rows, weights, &mut out);
        },
    );
}

#[inline(always)]
fn four_inside<const R: usize>(v3: V3, rows: &[&[f32]], weights: &[f32], out: &mut [&mut [u8]; TOGETHER]) {
    let len = out[0].len();
    let blocks = len.div_ceil(LANES);
    let mut factors = [v3.avx._mm256_set1_ps(weights[0]); 4];
    for k in 0..R {
        factors[k + 1] = v3.avx._mm256_set1_ps(weights[k + 1]);
    }
    let mut all = [sums(rows[0], blocks); MAX_TOGETHER];
    for k in 0..2 * R + TOGETHER {
        all[k] = sums(rows[k], blocks);
    }
    let (avx, avx2) = (v3.avx, v3.avx2);
    for (i, at) in (0..blocks).zip((0..).step_by(LANES)) {
        // Results with all their lanes in turns, so that what is read serves several of them.
        let mut words = [[avx._mm256_setzero_si256(); 2]; TOGETHER];
        for half in 0..2 {
            let mut pair = [[avx._mm256_setzero_si256(); 2]; TOGETHER];
            for lane in 0..2 {
                let mut taps = [factors[0]; MAX_TOGETHER];
                for k in 0..2 * R + TOGETHER {
                    taps[k] = bytemuck::cast(all[k][i][2 * half + lane]);
                }
                for (q, pair) in pair.iter_mut().enumerate() {
                    let centre = q + R;
                    let mut sum = avx._mm256_mul_ps(factors[0], taps[centre]);
                    for k in 1..=R {
                        let both = avx._mm256_add_ps(taps[centre - k], taps[centre + k]);
                        sum = v3.fma._mm256_fmadd_ps(factors[k], both, sum);
                    }
                    pair[lane] = avx._mm256_cvtps_epi32(sum);
                }
            }
            for (words, pair) in words.iter_mut().zip(pair) {
                words[half] = avx2._mm256_packs_epi32(pair[0], pair[1]);
            }
        }
        for (out, words) in out.iter_mut().zip(words) {
            let bytes: Bytes = bytemuck::cast(avx2._mm256_packus_epi16(words[0], words[1]));
            match out[at..len].first_chunk_mut() {
                Some(out) => *out = bytes,
                None => out[at..len].copy_from_slice(&bytes[..len - at]),
            }
        }
    }
}

/// The first `blocks` blocks of a row of sums.
#[inline(always)]
fn sums(row: &[f32], blocks: usize) -> &[Sums] {
    &bytemuck::cast_slice(row)[..blocks]
}

struct Columns<'a, const R: usize, const FINITE: bool> {
    v3: V3,
    rows: &'a [&'a [f32]],
    weights: &'a [f32],
    factors: [__m256; 4],
    above: [&'a [Sums]; 3],
    centre: &'a [Sums],
    below: [&'a [Sums]; 3],
}

impl<const R: usize, const FINITE: bool> Columns<'_, R, FINITE> {
    #[inline(always)]
    fn block(&self, i: usize) -> Bytes {
        let v3 = self.v3;
        let mut acc: [__m256; 4] = bytemuck::cast(self.centre[i]);
        for sum in &mut acc {
            *sum = v3.avx._mm256_mul_ps(self.factors[0], *sum);
        }
        for k in 0..R {
            add_rows(v3, self.factors[k + 1], &self.above[k][i], &self.below[k][i], &mut acc);
        }
        if R == 0 {
            let (radius, blocks) = (self.weights.len() - 1, self.centre.len());
            for (k, &weight) in self.weights.iter().enumerate().skip(1) {
                let (above, below) = (self.rows[radius - k], self.rows[radius + k]);
                let factor = v3.avx._mm256_set1_ps(weight);
                add_rows(v3, factor, &sums(above, blocks)[i], &sums(below, blocks)[i], &mut acc);
            }
        }
        quantise::<FINITE>(v3, acc)
    }
}

#[inline(always)]
fn add_rows(v3: V3, factor: __m256, a: &Sums, b: &Sums, sums: &mut [__m256; 4]) {
    let (a, b): ([__m256; 4], [__m256; 4]) = (bytemuck::cast(*a), bytemuck::cast(*b));
    for lane in 0..4 {
        sums[lane] = v3.fma._mm256_fmadd_ps(factor, v3.avx._mm256_add_ps(a[lane], b[lane]), sums[lane]);
    }
}

/// Nearest integers, ties to even, saturated; NaN becomes 0. Packing saturates everything that fits into 32 bits.
#[inline(always)]
pub(super) fn quantise<const FINITE: bool>(v3: V3, sums: [__m256; 4]) -> Bytes {
    let (avx, avx2) = (v3.avx, v3.avx2);
    let mut words = [avx._mm256_setzero_si256(); 4];
    for (word, sum) in words.iter_mut().zip(sums) {
        // The second operand comes back when one is NaN, which rounds to the most negative integer.
        let sum = if FINITE { sum } else { avx._mm256_min_ps(avx._mm256_set1_ps(255.0), sum) };
        *word = avx._mm256_cvtps_epi32(sum);
    }
    let low = avx2._mm256_packs_epi32(words[0], words[1]);
    let high = avx2._mm256_packs_epi32(words[2], words[3]);
    bytemuck::cast(avx2._mm256_packus_epi16(low, high))
}
