//! Luma of interleaved bytes with shuffles, sixteen pixels at a time.

/// Shuffles that bring the channels of four pixels into pairs of 16-bit integers.
#[derive(Debug, Clone)]
pub(crate) struct LumaTable {
    /// For each half of a register, for loads of the first and second quarters of eight pixels: (R, G) pairs.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "used by the x86 kernel alone"))]
    red_green: [[u8; 32]; 2],
    /// The same: (B, 0) pairs.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "used by the x86 kernel alone"))]
    blue: [[u8; 32]; 2],
}

/// A shuffle's index that gives 0.
const ZERO: u8 = 0x80;

impl LumaTable {
    /// For pixels of `step` bytes with red, green and blue at the offsets `rgb`.
    pub(crate) fn new(step: usize, rgb: [usize; 3]) -> Self {
        let mut table = Self { red_green: [[ZERO; 32]; 2], blue: [[ZERO; 32]; 2] };
        for quarter in 0..4 {
            // Quarters 0 and 2 lie in the halves of the first register, 1 and 3 in those of the second.
            let (register, half) = (quarter % 2, quarter / 2);
            let skip = quarter * 4 * step - load_offset(16 * step, quarter);
            for pixel in 0..4 {
                let at = |channel: usize| (skip + pixel * step + rgb[channel]) as u8;
                let lane = 16 * half + 4 * pixel;
                table.red_green[register][lane] = at(0);
                table.red_green[register][lane + 2] = at(1);
                table.blue[register][lane] = at(2);
            }
        }
        table
    }
}

/// Where the sixteen bytes that hold a quarter of a block are loaded from: never beyond the block's end.
pub(super) const fn load_offset(block: usize, quarter: usize) -> usize {
    let offset = quarter * block / 4;
    if offset + 16 > block { block - 16 } else { offset }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::luma_avx2;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__m128i, __m256i};

    use pulp::x86::V3;

    use super::{LumaTable, load_offset};
    use crate::simd::{THOUSANDTH, THOUSANDTH_REST};

    /// Luma of blocks of sixteen pixels in `BYTES` bytes (48 or 64); the number of pixels done.
    pub(crate) fn luma_avx2<const BYTES: usize>(
        v3: V3,
        table: &LumaTable,
        src: &[u8],
        out: &mut [u8],
    ) -> usize {
        let (src, out) = (src.as_chunks::<BYTES>().0, out.as_chunks_mut::<16>().0);
        v3.vectorize(
            #[inline(always)]
            || {
                let weights = Weights::new(v3, table);
                for (src, out) in src.iter().zip(out) {
                    let first = weights.luma(v3, 0, [quarter(src, 0), quarter(src, 2)]);
                    let second = weights.luma(v3, 1, [quarter(src, 1), quarter(src, 3)]);
                    let words = v3.avx2._mm256_packs_epi32(first, second);
                    let [low, high]: [__m128i; 2] = bytemuck::cast(words);
                    *out = bytemuck::cast(v3.sse2._mm_packus_epi16(low, high));
                }
            },
        );
        src.len() * 16
    }

    #[inline(always)]
    fn quarter<const BYTES: usize>(src: &[u8; BYTES], quarter: usize) -> [u8; 16] {
        let offset = load_offset(BYTES, quarter);
        src[offset..offset + 16].try_into().expect("sixteen bytes")
    }

    struct Weights {
        red_green: [__m256i; 2],
        blue: [__m256i; 2],
        factors: [__m256i; 2],
    }

    impl Weights {
        #[inline(always)]
        fn new(v3: V3, table: &LumaTable) -> Self {
            Self {
                red_green: [bytemuck::cast(table.red_green[0]), bytemuck::cast(table.red_green[1])],
                blue: [bytemuck::cast(table.blue[0]), bytemuck::cast(table.blue[1])],
                // Two 16-bit factors in each 32-bit lane, the lower one first.
                factors: [v3.avx._mm256_set1_epi32(299 + 587 * 65536), v3.avx._mm256_set1_epi32(114)],
            }
        }

        /// Eight values of luma as 32-bit integers.
        #[inline(always)]
        fn luma(&self, v3: V3, register: usize, quarters: [[u8; 16]; 2]) -> __m256i {
            let (avx, avx2) = (v3.avx, v3.avx2);
            let pixels: __m256i = bytemuck::cast(quarters);
            let red_green = avx2._mm256_shuffle_epi8(pixels, self.red_green[register]);
            let blue = avx2._mm256_shuffle_epi8(pixels, self.blue[register]);
            let n = avx2._mm256_add_epi32(
                avx2._mm256_madd_epi16(red_green, self.factors[0]),
                avx2._mm256_madd_epi16(blue, self.factors[1]),
            );
            let n = avx._mm256_cvtepi32_ps(n);
            let rest = avx._mm256_mul_ps(n, avx._mm256_set1_ps(THOUSANDTH_REST));
            avx._mm256_cvtps_epi32(v3.fma._mm256_fmadd_ps(n, avx._mm256_set1_ps(THOUSANDTH), rest))
        }
    }
}
