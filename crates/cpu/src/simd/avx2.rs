use pulp::x86::V3;
use std::arch::x86_64::{__m128i, __m256, __m256i};

use super::Vector;

/// Sixteen lanes in two AVX registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(pub(crate) V3);

const N: usize = 16;

impl Avx2 {
    /// Sixteen 16-bit integers as binary32.
    #[inline(always)]
    fn widen(self, words: __m256i) -> [__m256; 2] {
        let [low, high]: [__m128i; 2] = bytemuck::cast(words);
        let (avx, avx2) = (self.0.avx, self.0.avx2);
        [
            avx._mm256_cvtepi32_ps(avx2._mm256_cvtepu16_epi32(low)),
            avx._mm256_cvtepi32_ps(avx2._mm256_cvtepu16_epi32(high)),
        ]
    }

    /// Sixteen bytes as 16-bit integers.
    #[inline(always)]
    fn words(self, src: &[u8; N]) -> __m256i {
        self.0.avx2._mm256_cvtepu8_epi16(bytemuck::cast(*src))
    }

    /// Bytes picked into 32-bit lanes, as binary32.
    #[inline(always)]
    fn choose(self, quarters: [[u8; 16]; 2], table: [[u8; 16]; 2]) -> __m256 {
        let chosen = self.0.avx2._mm256_shuffle_epi8(bytemuck::cast(quarters), bytemuck::cast(table));
        self.0.avx._mm256_cvtepi32_ps(chosen)
    }

    /// Nearest integers (ties to even), at most `max`; NaN becomes the most negative integer, which the packs
    /// that follow saturate to 0 like every other negative one.
    #[inline(always)]
    fn round(self, value: [__m256; 2], max: f32) -> [__m256i; 2] {
        let avx = self.0.avx;
        let max = avx._mm256_set1_ps(max);
        // The second operand comes back when one is NaN.
        [
            avx._mm256_cvtps_epi32(avx._mm256_min_ps(max, value[0])),
            avx._mm256_cvtps_epi32(avx._mm256_min_ps(max, value[1])),
        ]
    }
}

/// Where the sixteen bytes that hold a quarter of a block are loaded from: never beyond the block's end.
const fn load_offset(block: usize, quarter: usize) -> usize {
    let offset = quarter * block / 4;
    if offset + 16 > block { block - 16 } else { offset }
}

/// Sixteen bytes around each four of sixteen pixels.
#[inline(always)]
fn load_quarters<const C: usize>(bytes: &[u8]) -> [[u8; 16]; 4] {
    let mut quarters = [[0; 16]; 4];
    for (q, quarter) in quarters.iter_mut().enumerate() {
        let offset = load_offset(16 * C, q);
        quarter.copy_from_slice(&bytes[offset..offset + 16]);
    }
    quarters
}

/// For each channel the shuffles that put its bytes in two quarters, beginning with `first`, into 32-bit lanes.
const fn split_table<const C: usize>(first: usize) -> [[[u8; 16]; 2]; C] {
    let mut table = [[[0x80; 16]; 2]; C];
    let mut i = 0;
    while i < 8 * C {
        let (c, half, pixel) = (i / 8, i / 4 % 2, i % 4);
        let skip = (first + half) * 4 * C - load_offset(16 * C, first + half);
        table[c][half][4 * pixel] = (skip + pixel * C + c) as u8;
        i += 1;
    }
    table
}

/// A lane-wise operation on both halves.
macro_rules! both {
    ($unit:expr, $op:ident, $($operand:ident),+) => {
        [$unit.$op($($operand[0]),+), $unit.$op($($operand[1]),+)]
    };
}

impl Vector<N> for Avx2 {
    type F = [__m256; 2];

    #[inline(always)]
    fn splat(self, value: f32) -> Self::F {
        [self.0.avx._mm256_set1_ps(value); 2]
    }

    #[inline(always)]
    fn add(self, a: Self::F, b: Self::F) -> Self::F {
        both!(self.0.avx, _mm256_add_ps, a, b)
    }

    #[inline(always)]
    fn sub(self, a: Self::F, b: Self::F) -> Self::F {
        both!(self.0.avx, _mm256_sub_ps, a, b)
    }

    #[inline(always)]
    fn mul(self, a: Self::F, b: Self::F) -> Self::F {
        both!(self.0.avx, _mm256_mul_ps, a, b)
    }

    #[inline(always)]
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        both!(self.0.fma, _mm256_fmadd_ps, a, b, c)
    }

    #[inline(always)]
    fn sqrt(self, a: Self::F) -> Self::F {
        both!(self.0.avx, _mm256_sqrt_ps, a)
    }

    #[inline(always)]
    fn if_greater(self, a: Self::F, b: Self::F, then: Self::F) -> Self::F {
        const GREATER_QUIET: i32 = 0x1e;
        let avx = self.0.avx;
        [
            avx._mm256_and_ps(avx._mm256_cmp_ps::<GREATER_QUIET>(a[0], b[0]), then[0]),
            avx._mm256_and_ps(avx._mm256_cmp_ps::<GREATER_QUIET>(a[1], b[1]), then[1]),
        ]
    }

    #[inline(always)]
    fn load_u8(self, src: &[u8; N]) -> Self::F {
        let [low, high]: [i64; 2] = bytemuck::cast(*src);
        let (avx, avx2, sse2) = (self.0.avx, self.0.avx2, self.0.sse2);
        [
            avx._mm256_cvtepi32_ps(avx2._mm256_cvtepu8_epi32(sse2._mm_set_epi64x(0, low))),
            avx._mm256_cvtepi32_ps(avx2._mm256_cvtepu8_epi32(sse2._mm_set_epi64x(0, high))),
        ]
    }

    #[inline(always)]
    fn load_u16(self, src: &[u16; N]) -> Self::F {
        self.widen(bytemuck::cast(*src))
    }

    #[inline(always)]
    fn load_f32(self, src: &[f32; N]) -> Self::F {
        bytemuck::cast(*src)
    }

    #[inline(always)]
    fn pair_u8(self, a: &[u8; N], b: &[u8; N]) -> Self::F {
        self.widen(self.0.avx2._mm256_add_epi16(self.words(a), self.words(b)))
    }

    #[inline(always)]
    fn split_u8<const C: usize>(self, src: &[[u8; C]; N]) -> [Self::F; C] {
        // The size of a block is known from `C`, so that these slices cost nothing.
        let bytes = src.as_flattened();
        let quarter = load_quarters::<C>(bytes);
        let [low, high] = [[quarter[0], quarter[1]], [quarter[2], quarter[3]]];
        let mut channels = [self.splat(0.0); C];
        for (c, channel) in channels.iter_mut().enumerate() {
            *channel = [
                self.choose(low, const { split_table::<C>(0) }[c]),
                self.choose(high, const { split_table::<C>(2) }[c]),
            ];
        }
        channels
    }

    #[inline(always)]
    fn store_u8(self, value: Self::F, dst: &mut [u8; N]) {
        let avx2 = self.0.avx2;
        let [low, high] = self.round(value, 255.0);
        // Packing works on 128-bit halves: words come out as low, high, low, high quarters.
        let words = avx2._mm256_permute4x64_epi64::<0b11_01_10_00>(avx2._mm256_packs_epi32(low, high));
        let [first, second]: [__m128i; 2] = bytemuck::cast(words);
        let bytes = self.0.sse2._mm_packus_epi16(first, second);
        *dst = bytemuck::cast(bytes);
    }

    #[inline(always)]
    fn store_u16(self, value: Self::F, dst: &mut [u16; N]) {
        let avx2 = self.0.avx2;
        let [low, high] = self.round(value, 65535.0);
        let words = avx2._mm256_permute4x64_epi64::<0b11_01_10_00>(avx2._mm256_packus_epi32(low, high));
        *dst = bytemuck::cast(words);
    }

    #[inline(always)]
    fn store_f32(self, value: Self::F, dst: &mut [f32; N]) {
        *dst = bytemuck::cast(value);
    }
}
