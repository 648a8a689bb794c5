//! Luma of interleaved bytes with shuffles, 32 pixels at a time.

/// Shuffles that bring the channels of eight pixels into pairs of 16-bit integers.
///
/// The pixels are loaded so that the first four end with the lower half of a register and the others begin with the
/// upper half: a load that starts up to four bytes before the first pixel, and needs no insertion of halves.
#[derive(Debug, Clone)]
pub(crate) struct LumaTable {
    /// (R, G) pairs.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "used by the x86 kernel alone"))]
    red_green: [u8; 32],
    /// (B, 0) pairs.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "used by the x86 kernel alone"))]
    blue: [u8; 32],
}

/// A shuffle's index that gives 0.
const ZERO: u8 = 0x80;

impl LumaTable {
    /// For pixels of `step` bytes, 3 or 4, with red, green and blue at the offsets `rgb`.
    pub(crate) fn new(step: usize, rgb: [usize; 3]) -> Self {
        let mut table = Self { red_green: [ZERO; 32], blue: [ZERO; 32] };
        for pixel in 0..8 {
            let skip = if pixel < 4 { 16 - 4 * step } else { 0 };
            let at = |channel: usize| (skip + pixel % 4 * step + rgb[channel]) as u8;
            table.red_green[4 * pixel] = at(0);
            table.red_green[4 * pixel + 2] = at(1);
            table.blue[4 * pixel] = at(2);
        }
        table
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::luma_avx2;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::__m256i;
    use std::ops::Range;

    use pulp::x86::V3;

    use super::LumaTable;
    use crate::simd::THOUSANDTH;

    const PIXELS: usize = 32;

    /// Luma of pixels of `STEP` bytes, 3 or 4; the pixels done: all but a few at both ends, or none of a short row.
    pub(crate) fn luma_avx2<const STEP: usize>(
        v3: V3,
        table: &LumaTable,
        src: &[u8],
        out: &mut [u8],
    ) -> Range<usize> {
        // Pixels at both ends that loads of their neighbours reach into.
        let margin = (16 - 4 * STEP).div_ceil(STEP);
        let Some(last) = out.len().checked_sub(PIXELS + margin).filter(|&last| last >= margin) else {
            return 0..0;
        };
        v3.vectorize(
            #[inline(always)]
            move || {
                let (weights, out) = (Weights::new(v3, table), out);
                let mut next = margin;
                while next < last + PIXELS {
                    // Overlapping at the ends, and aligned like the row between them.
                    let first = next.min(last);
                    next = (next / PIXELS + 1) * PIXELS;
                    let start = first * STEP - (16 - 4 * STEP);
                    let src = &src[start..start + 24 * STEP + 32];
                    let out = &mut out[first..first + PIXELS];
                    let mut eights = [weights.blue; 4];
                    for (i, eight) in eights.iter_mut().enumerate() {
                        *eight = weights.luma(v3, &src[8 * STEP * i..8 * STEP * i + 32]);
                    }
                    let low = words(v3, eights[0], eights[1]);
                    let high = words(v3, eights[2], eights[3]);
                    // Each register holds the pixels of both its halves in turns, four by four.
                    let bytes = v3.avx2._mm256_packus_epi16(low, high);
                    let order: __m256i = bytemuck::cast([0_u32, 4, 1, 5, 2, 6, 3, 7]);
                    let bytes: [u8; PIXELS] =
                        bytemuck::cast(v3.avx2._mm256_permutevar8x32_epi32(bytes, order));
                    out.copy_from_slice(&bytes);
                }
            },
        );
        margin..last + PIXELS
    }

    /// Where binary32 has a step of 1/1024: enough to tell thousandths from a half, too coarse for the error of 0.001.
    const BIAS: i16 = 8192;

    struct Weights {
        red_green: __m256i,
        blue: __m256i,
        factors: [__m256i; 2],
    }

    impl Weights {
        #[inline(always)]
        fn new(v3: V3, table: &LumaTable) -> Self {
            Self {
                red_green: bytemuck::cast(table.red_green),
                blue: bytemuck::cast(table.blue),
                // Two 16-bit factors in each 32-bit lane, the lower one first.
                factors: [v3.avx._mm256_set1_epi32(299 + 587 * 65536), v3.avx._mm256_set1_epi32(114)],
            }
        }

        /// Eight values of luma, plus [`BIAS`].
        #[inline(always)]
        fn luma(&self, v3: V3, pixels: &[u8]) -> __m256i {
            let avx2 = v3.avx2;
            let pixels: [u8; 32] = pixels.try_into().expect("32 bytes");
            let pixels: __m256i = bytemuck::cast(pixels);
            let red_green = avx2._mm256_shuffle_epi8(pixels, self.red_green);
            let blue = avx2._mm256_shuffle_epi8(pixels, self.blue);
            thousandths(
                v3,
                avx2._mm256_add_epi32(
                    avx2._mm256_madd_epi16(red_green, self.factors[0]),
                    avx2._mm256_madd_epi16(blue, self.factors[1]),
                ),
            )
        }
    }

    /// Without the bias, as 16-bit integers: half by half.
    #[inline(always)]
    fn words(v3: V3, first: __m256i, second: __m256i) -> __m256i {
        let words = v3.avx2._mm256_packs_epi32(first, second);
        v3.avx2._mm256_sub_epi16(words, v3.avx._mm256_set1_epi16(BIAS))
    }

    /// `n / 1000` to nearest, ties to even, plus [`BIAS`]. The sum of the bias and a product that is not quite exact
    /// lands on the half when and only when the quotient is a half. Tests run over every `n`.
    #[inline(always)]
    fn thousandths(v3: V3, n: __m256i) -> __m256i {
        let (factor, bias) = (v3.avx._mm256_set1_ps(THOUSANDTH), v3.avx._mm256_set1_ps(f32::from(BIAS)));
        v3.avx._mm256_cvtps_epi32(v3.fma._mm256_fmadd_ps(v3.avx._mm256_cvtepi32_ps(n), factor, bias))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn thousandths_are_rounded_to_even_for_every_sum() {
            let Some(v3) = V3::try_new() else { return };
            for first in (0..=255_000).step_by(8) {
                let n: [i32; 8] = std::array::from_fn(|i| first + i as i32);
                let got: [i32; 8] = bytemuck::cast(v3.vectorize(|| thousandths(v3, bytemuck::cast(n))));
                let expected = n.map(|n| (f64::from(n) / 1000.0).round_ties_even() as i32);
                assert_eq!(got.map(|value| value - i32::from(BIAS)), expected, "{n:?}");
            }
        }
    }
}
