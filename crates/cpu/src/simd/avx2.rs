use pulp::x86::V3;
use std::arch::x86_64::{__m128i, __m256, __m256i};

use super::Vector;

/// Sixteen lanes in two AVX registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(pub(crate) V3);

const N: usize = 16;

/// The first sixteen elements as an array.
#[inline(always)]
fn array<T: Copy>(src: &[T]) -> [T; N] {
    src[..N].try_into().expect("sixteen elements")
}

impl Avx2 {
    #[inline(always)]
    fn zip(a: [__m256; 2], b: [__m256; 2], f: impl Fn(__m256, __m256) -> __m256) -> [__m256; 2] {
        [f(a[0], b[0]), f(a[1], b[1])]
    }

    /// Sixteen 16-bit integers as binary32.
    #[inline(always)]
    fn widen(self, words: __m256i) -> [__m256; 2] {
        let [low, high]: [__m128i; 2] = bytemuck::cast(words);
        let (avx, avx2) = (self.0.avx, self.0.avx2);
        [low, high].map(
            #[inline(always)]
            |half| avx._mm256_cvtepi32_ps(avx2._mm256_cvtepu16_epi32(half)),
        )
    }

    /// Nearest integers (ties to even), at most `max`; NaN becomes the most negative integer, which the packs
    /// that follow saturate to 0 like every other negative one.
    #[inline(always)]
    fn round(self, value: [__m256; 2], max: f32) -> [__m256i; 2] {
        let avx = self.0.avx;
        let max = avx._mm256_set1_ps(max);
        // The second operand comes back when one is NaN.
        value.map(
            #[inline(always)]
            |v| avx._mm256_cvtps_epi32(avx._mm256_min_ps(max, v)),
        )
    }
}

impl Vector for Avx2 {
    const LANES: usize = N;
    type F = [__m256; 2];

    #[inline(always)]
    fn splat(self, value: f32) -> Self::F {
        [self.0.avx._mm256_set1_ps(value); 2]
    }

    #[inline(always)]
    fn add(self, a: Self::F, b: Self::F) -> Self::F {
        Self::zip(
            a,
            b,
            #[inline(always)]
            |a, b| self.0.avx._mm256_add_ps(a, b),
        )
    }

    #[inline(always)]
    fn sub(self, a: Self::F, b: Self::F) -> Self::F {
        Self::zip(
            a,
            b,
            #[inline(always)]
            |a, b| self.0.avx._mm256_sub_ps(a, b),
        )
    }

    #[inline(always)]
    fn mul(self, a: Self::F, b: Self::F) -> Self::F {
        Self::zip(
            a,
            b,
            #[inline(always)]
            |a, b| self.0.avx._mm256_mul_ps(a, b),
        )
    }

    #[inline(always)]
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        let fma = self.0.fma;
        [fma._mm256_fmadd_ps(a[0], b[0], c[0]), fma._mm256_fmadd_ps(a[1], b[1], c[1])]
    }

    #[inline(always)]
    fn sqrt(self, a: Self::F) -> Self::F {
        [self.0.avx._mm256_sqrt_ps(a[0]), self.0.avx._mm256_sqrt_ps(a[1])]
    }

    #[inline(always)]
    fn if_greater(self, a: Self::F, b: Self::F, then: Self::F) -> Self::F {
        const GREATER_QUIET: i32 = 0x1e;
        let avx = self.0.avx;
        let mask = Self::zip(
            a,
            b,
            #[inline(always)]
            |a, b| avx._mm256_cmp_ps::<GREATER_QUIET>(a, b),
        );
        Self::zip(
            mask,
            then,
            #[inline(always)]
            |m, t| avx._mm256_and_ps(m, t),
        )
    }

    #[inline(always)]
    fn load_u8(self, src: &[u8]) -> Self::F {
        let [low, high]: [[u8; 8]; 2] = bytemuck::cast(array(src));
        let (avx, avx2, sse2) = (self.0.avx, self.0.avx2, self.0.sse2);
        [low, high].map(
            #[inline(always)]
            |half| {
                let bytes = sse2._mm_set_epi64x(0, i64::from_ne_bytes(half));
                avx._mm256_cvtepi32_ps(avx2._mm256_cvtepu8_epi32(bytes))
            },
        )
    }

    #[inline(always)]
    fn load_u16(self, src: &[u16]) -> Self::F {
        self.widen(bytemuck::cast(array(src)))
    }

    #[inline(always)]
    fn load_f32(self, src: &[f32]) -> Self::F {
        bytemuck::cast(array(src))
    }

    #[inline(always)]
    fn pair_u8(self, a: &[u8], b: &[u8]) -> Self::F {
        let avx2 = self.0.avx2;
        let words = [a, b].map(
            #[inline(always)]
            |s| avx2._mm256_cvtepu8_epi16(bytemuck::cast(array(s))),
        );
        self.widen(avx2._mm256_add_epi16(words[0], words[1]))
    }

    #[inline(always)]
    fn store_u8(self, value: Self::F, dst: &mut [u8]) {
        let avx2 = self.0.avx2;
        let [low, high] = self.round(value, 255.0);
        // Packing works on 128-bit halves: words come out as low, high, low, high quarters.
        let words = avx2._mm256_permute4x64_epi64::<0b11_01_10_00>(avx2._mm256_packs_epi32(low, high));
        let [first, second]: [__m128i; 2] = bytemuck::cast(words);
        let bytes = self.0.sse2._mm_packus_epi16(first, second);
        dst[..N].copy_from_slice(&bytemuck::cast::<_, [u8; N]>(bytes));
    }

    #[inline(always)]
    fn store_u16(self, value: Self::F, dst: &mut [u16]) {
        let avx2 = self.0.avx2;
        let [low, high] = self.round(value, 65535.0);
        let words = avx2._mm256_permute4x64_epi64::<0b11_01_10_00>(avx2._mm256_packus_epi32(low, high));
        dst[..N].copy_from_slice(&bytemuck::cast::<_, [u16; N]>(words));
    }

    #[inline(always)]
    fn store_f32(self, value: Self::F, dst: &mut [f32]) {
        dst[..N].copy_from_slice(&bytemuck::cast::<_, [f32; N]>(value));
    }
}
