//! Whole numbers in vectors: minima and maxima of samples, and sums of 16 bits.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m256i;

#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;

use super::Level;

/// Vectors of `N` samples that can be compared.
pub(crate) trait Ordered<T, const N: usize>: Copy {
    type V: Copy;

    fn load(self, src: &[T; N]) -> Self::V;
    fn store(self, value: Self::V, dst: &mut [T; N]);
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
}

/// A piece of work that is generic over such vectors.
pub(crate) trait WithOrdered<T> {
    /// Does the work. Must be `#[inline(always)]` so that it is compiled with the vector's instructions.
    fn run<const N: usize, O: Ordered<T, N>>(self, o: O);
}

/// Integer samples, of which there are such vectors.
pub(crate) trait Integer: super::Pixel + Ord {
    /// Runs the work with registers of AVX2.
    #[cfg(target_arch = "x86_64")]
    fn with_avx2(v3: V3, work: impl WithOrdered<Self>);

    /// Runs the work with a level's vectors.
    fn with(level: Level, work: impl WithOrdered<Self>);
}

/// Plain arrays, as long as a register of every baseline.
#[derive(Debug, Clone, Copy)]
struct Arrays;

#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
struct Registers(V3);

#[inline(always)]
fn each<T: Copy, const N: usize>(mut a: [T; N], b: [T; N], f: impl Fn(T, T) -> T) -> [T; N] {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = f(*a, b));
    a
}

macro_rules! integer {
    ($T:ty, $short:literal, $long:literal, $min:ident, $max:ident) => {
        impl Ordered<$T, $short> for Arrays {
            type V = [$T; $short];

            #[inline(always)]
            fn load(self, src: &[$T; $short]) -> Self::V {
                *src
            }

            #[inline(always)]
            fn store(self, value: Self::V, dst: &mut [$T; $short]) {
                *dst = value;
            }

            #[inline(always)]
            fn min(self, a: Self::V, b: Self::V) -> Self::V {
                each(a, b, Ord::min)
            }

            #[inline(always)]
            fn max(self, a: Self::V, b: Self::V) -> Self::V {
                each(a, b, Ord::max)
            }
        }

        #[cfg(target_arch = "x86_64")]
        impl Ordered<$T, $long> for Registers {
            type V = __m256i;

            #[inline(always)]
            fn load(self, src: &[$T; $long]) -> Self::V {
                bytemuck::cast(*src)
            }

            #[inline(always)]
            fn store(self, value: Self::V, dst: &mut [$T; $long]) {
                *dst = bytemuck::cast(value);
            }

            #[inline(always)]
            fn min(self, a: Self::V, b: Self::V) -> Self::V {
                self.0.avx2.$min(a, b)
            }

            #[inline(always)]
            fn max(self, a: Self::V, b: Self::V) -> Self::V {
                self.0.avx2.$max(a, b)
            }
        }

        impl Integer for $T {
            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn with_avx2(v3: V3, work: impl WithOrdered<Self>) {
                v3.vectorize(
                    #[inline(always)]
                    || work.run(Registers(v3)),
                );
            }

            #[inline(always)]
            fn with(level: Level, work: impl WithOrdered<Self>) {
                match level {
                    Level::Portable => work.run(Arrays),
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2(v3) => Self::with_avx2(v3, work),
                }
            }
        }
    };
}
integer!(u8, 16, 32, _mm256_min_epu8, _mm256_max_epu8);
integer!(u16, 8, 16, _mm256_min_epu16, _mm256_max_epu16);
integer!(i16, 8, 16, _mm256_min_epi16, _mm256_max_epi16);

/// Products of 16 bits added to a start, from `first` on if there is one: all modulo 2^16. Blocks are as long as `to`, a multiple of
/// 64, and each has its factor.
pub(crate) fn sum_of_products(
    level: Level,
    start: i16,
    first: Option<&[i16]>,
    (from, factors): (&[&[i16]], &[i16]),
    to: &mut [i16],
) {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(v3) => v3.vectorize(
            #[inline(always)]
            || in_registers(v3, start, first, (from, factors), to),
        ),
        Level::Portable => {
            match first {
                Some(first) => to.copy_from_slice(first),
                None => to.fill(start),
            }
            for (from, factor) in from.iter().zip(factors) {
                for (to, from) in to.iter_mut().zip(*from) {
                    *to = to.wrapping_add(from.wrapping_mul(*factor));
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn in_registers(
    v3: V3,
    start: i16,
    first: Option<&[i16]>,
    (from, factors): (&[&[i16]], &[i16]),
    to: &mut [i16],
) {
    type Four = [[i16; 16]; 4];
    #[inline(always)]
    fn fours(block: &[i16]) -> &[Four] {
        block.as_chunks::<16>().0.as_chunks::<4>().0
    }
    let avx2 = v3.avx2;
    let load = bytemuck::cast::<[i16; 16], __m256i>;
    let start = v3.avx._mm256_set1_epi16(start);
    for (i, to) in to.as_chunks_mut::<16>().0.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let mut sum = [start; 4];
        if let Some(first) = first {
            let [a, b, c, d] = fours(first)[i];
            sum = [load(a), load(b), load(c), load(d)];
        }
        for (from, &factor) in from.iter().zip(factors) {
            let [a, b, c, d] = fours(from)[i];
            let from = [load(a), load(b), load(c), load(d)];
            let [a, b, c, d] = from;
            let [p, q, r, s] = sum;
            // Most factors are one of these two.
            sum = match factor {
                1 => [
                    avx2._mm256_add_epi16(p, a),
                    avx2._mm256_add_epi16(q, b),
                    avx2._mm256_add_epi16(r, c),
                    avx2._mm256_add_epi16(s, d),
                ],
                -1 => [
                    avx2._mm256_sub_epi16(p, a),
                    avx2._mm256_sub_epi16(q, b),
                    avx2._mm256_sub_epi16(r, c),
                    avx2._mm256_sub_epi16(s, d),
                ],
                _ => {
                    let factor = v3.avx._mm256_set1_epi16(factor);
                    [
                        avx2._mm256_add_epi16(p, avx2._mm256_mullo_epi16(a, factor)),
                        avx2._mm256_add_epi16(q, avx2._mm256_mullo_epi16(b, factor)),
                        avx2._mm256_add_epi16(r, avx2._mm256_mullo_epi16(c, factor)),
                        avx2._mm256_add_epi16(s, avx2._mm256_mullo_epi16(d, factor)),
                    ]
                }
            };
        }
        let [p, q, r, s] = sum;
        *to = [bytemuck::cast(p), bytemuck::cast(q), bytemuck::cast(r), bytemuck::cast(s)];
    }
}

/// As `as i32` makes them, of numbers without fractions; of NaN any. The compiler does that one by one.
#[inline(always)]
pub(crate) fn integers<const N: usize>(level: Level, from: &[f32; N], to: &mut [i32; N]) {
    #[cfg(target_arch = "x86_64")]
    const AT_LEAST: i32 = 0x1d;
    #[cfg(target_arch = "x86_64")]
    if let Level::Avx2(v3) = level {
        const { assert!(N.is_multiple_of(8)) }
        let avx = v3.avx;
        let end = avx._mm256_set1_ps(2_147_483_648.0);
        for (to, from) in to.as_chunks_mut::<8>().0.iter_mut().zip(from.as_chunks::<8>().0) {
            let from = bytemuck::cast(*from);
            // The least integer stands for all that are too low or too high; its complement is the greatest.
            let high = avx._mm256_castps_si256(avx._mm256_cmp_ps::<AT_LEAST>(from, end));
            *to = bytemuck::cast(v3.avx2._mm256_xor_si256(avx._mm256_cvttps_epi32(from), high));
        }
        return;
    }
    to.iter_mut().zip(from).for_each(|(to, &from)| *to = from as i32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimdLevel;

    #[test]
    fn numbers_beyond_32_bits_become_the_nearest() {
        let ends = [0.0, -0.0, 1.0, -1.0, 8_388_607.0, -16_777_216.0, 2_147_483_520.0, 2_147_483_648.0];
        let more = [
            -2_147_483_520.0,
            -2_147_483_648.0,
            3e9,
            -3e9,
            f32::MAX,
            f32::MIN,
            f32::INFINITY,
            -f32::INFINITY,
        ];
        let from: [f32; 16] = std::array::from_fn(|i| if i < 8 { ends[i] } else { more[i - 8] });
        for level in [SimdLevel::Portable, SimdLevel::Native] {
            let mut to = [7; 16];
            let level = Level::new(level);
            level.vectorize(|| integers(level, &from, &mut to));
            assert_eq!(to, from.map(|number| number as i32));
        }
    }
}
