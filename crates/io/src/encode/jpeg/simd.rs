//! The steps that the compiler does not turn into good vector code by itself, as far as the machine goes.

use super::quantise::Quantisers;
use super::{colors, quantise};
use crate::vector::Portable;

/// What a machine can do.
pub(crate) trait Level: Copy {
    /// See [`quantise::coefficients`].
    fn coefficients(self, samples: &[u8], stride: usize, quantisers: &Quantisers, out: &mut [i16; 64])
    -> u64;
    /// See [`colors::ycc`].
    fn ycc(self, rgb: &[u8], out: [&mut [u8]; 3]);
}

impl Level for Portable {
    #[inline(always)]
    fn coefficients(
        self,
        samples: &[u8],
        stride: usize,
        quantisers: &Quantisers,
        out: &mut [i16; 64],
    ) -> u64 {
        quantise::coefficients(samples, stride, quantisers, out)
    }

    #[inline(always)]
    fn ycc(self, rgb: &[u8], out: [&mut [u8]; 3]) {
        colors::ycc(rgb, out);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__m128i, __m256i};

    use bytemuck::cast;
    use pulp::x86::V3;

    use super::{Level, colors};
    use crate::encode::jpeg::quantise::{FACTOR_BITS, PASS_BITS, Quantisers};
    use crate::vector::{Lanes, transpose};

    impl Level for V3 {
        #[inline(always)]
        fn coefficients(
            self,
            samples: &[u8],
            stride: usize,
            quantisers: &Quantisers,
            out: &mut [i16; 64],
        ) -> u64 {
            let samples = &samples[..7 * stride + 8];
            let middle = self.avx._mm256_set1_epi32(128);
            let mut rows = [self.avx._mm256_setzero_si256(); 8];
            for (y, row) in rows.iter_mut().enumerate() {
                let bytes: [u8; 8] = *samples[y * stride..].first_chunk().unwrap_or(&[0; 8]);
                let wide = self.avx2._mm256_cvtepu8_epi32(cast([bytes, [0; 8]]));
                *row = self.avx2._mm256_sub_epi32(wide, middle);
            }
            let columns = pass::<{ FACTOR_BITS - PASS_BITS }, false>(self, transpose(self, rows));
            let rows = pass::<{ FACTOR_BITS + PASS_BITS }, true>(self, transpose(self, columns));
            quantised(self, rows, quantisers, out)
        }

        #[inline(always)]
        fn ycc(self, rgb: &[u8], out: [&mut [u8]; 3]) {
            let [y, cb, cr] = out;
            let pixels = rgb.as_chunks::<48>().0;
            let whole = y.as_chunks_mut::<16>().0.iter_mut().zip(cb.as_chunks_mut::<16>().0);
            let whole = whole.zip(cr.as_chunks_mut::<16>().0);
            for (pixels, ((y, cb), cr)) in pixels.iter().zip(whole) {
                [*y, *cb, *cr] = sixteen(self, pixels);
            }
            let done = 16 * pixels.len();
            colors::ycc(&rgb[3 * done..], [&mut y[done..], &mut cb[done..], &mut cr[done..]]);
        }
    }

    /// One dimension of eight rows or columns at once; in the second pass the plain sums are rounded as well.
    #[inline(always)]
    fn pass<const SHIFT: i32, const SECOND: bool>(v3: V3, s: [__m256i; 8]) -> [__m256i; 8] {
        let v = Lanes(v3);
        let half = v3.avx._mm256_set1_epi32(1 << (SHIFT - 1));
        let (s0, s1, s2, s3) = (v.add(s[0], s[7]), v.add(s[1], s[6]), v.add(s[2], s[5]), v.add(s[3], s[4]));
        let (d0, d1, d2, d3) = (v.sub(s[0], s[7]), v.sub(s[1], s[6]), v.sub(s[2], s[5]), v.sub(s[3], s[4]));
        let (outer, inner) = (v.add(s0, s3), v.add(s1, s2));
        let (a, b) = (v.sub(s0, s3), v.sub(s1, s2));
        let rotated = v.add(v.mul(v.add(a, b), 4433), half);
        let (z3, z4) = (v.add(d3, d1), v.add(d2, d0));
        let both = v.add(v.mul(v.add(z3, z4), 9633), half);
        let (z3, z4) = (v.sub(both, v.mul(z3, 16069)), v.sub(both, v.mul(z4, 3196)));
        let (z1, z2) = (v.mul(v.add(d3, d0), -7373), v.mul(v.add(d2, d1), -20995));
        let (sum, difference) = (v.add(outer, inner), v.sub(outer, inner));
        let (first, fifth) = if SECOND {
            let half = v3.avx._mm256_set1_epi32(1 << (PASS_BITS - 1));
            (v.down::<PASS_BITS>(v.add(sum, half)), v.down::<PASS_BITS>(v.add(difference, half)))
        } else {
            (v.up::<PASS_BITS>(sum), v.up::<PASS_BITS>(difference))
        };
        [
            first,
            v.down::<SHIFT>(v.add(v.add(v.mul(d0, 12299), z1), z4)),
            v.down::<SHIFT>(v.add(rotated, v.mul(a, 6270))),
            v.down::<SHIFT>(v.add(v.add(v.mul(d1, 25172), z2), z3)),
            fifth,
            v.down::<SHIFT>(v.add(v.add(v.mul(d2, 16819), z2), z4)),
            v.down::<SHIFT>(v.sub(rotated, v.mul(b, 15137))),
            v.down::<SHIFT>(v.add(v.add(v.mul(d3, 2446), z1), z3)),
        ]
    }

    /// Sixteen entries of a table.
    #[inline(always)]
    fn part(table: &[u16; 64], at: usize) -> __m256i {
        cast(table.as_chunks::<16>().0[at])
    }

    #[inline(always)]
    fn quantised(v3: V3, rows: [__m256i; 8], quantisers: &Quantisers, out: &mut [i16; 64]) -> u64 {
        let avx2 = v3.avx2;
        let zero = v3.avx._mm256_setzero_si256();
        let mut zeros = [zero; 4];
        for at in 0..4 {
            // The halves of either row lie apart after packing.
            let packed = avx2._mm256_packs_epi32(rows[2 * at], rows[2 * at + 1]);
            let two = avx2._mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
            let raised = avx2._mm256_add_epi16(avx2._mm256_abs_epi16(two), part(&quantisers.corrections, at));
            let high = avx2._mm256_mulhi_epu16(raised, part(&quantisers.reciprocals, at));
            let quotient = avx2._mm256_mulhi_epu16(high, part(&quantisers.scales, at));
            let signed = avx2._mm256_sign_epi16(quotient, two);
            zeros[at] = avx2._mm256_cmpeq_epi16(signed, zero);
            out.as_chunks_mut::<16>().0[at] = cast(signed);
        }
        let mut mask = 0;
        for (half, zeros) in zeros.as_chunks::<2>().0.iter().enumerate() {
            let bytes = avx2._mm256_packs_epi16(zeros[0], zeros[1]);
            let bytes = avx2._mm256_permute4x64_epi64::<0b11_01_10_00>(bytes);
            mask |= u64::from(avx2._mm256_movemask_epi8(bytes) as u32) << (32 * half);
        }
        !mask
    }

    /// For 16 bytes of one color of 16 pixels, where they come from in each third of these; 128 is nowhere.
    const THIRDS: [[[u8; 16]; 3]; 3] = {
        let mut thirds = [[[128; 16]; 3]; 3];
        let mut at = 0;
        while at < 48 {
            thirds[at % 3][at / 16][at / 3] = (at % 16) as u8;
            at += 1;
        }
        thirds
    };

    /// Sixteen pixels.
    #[inline(always)]
    fn sixteen(v3: V3, pixels: &[u8; 48]) -> [[u8; 16]; 3] {
        let avx2 = v3.avx2;
        let thirds = pixels.as_chunks::<16>().0;
        let mut colors = [v3.avx._mm256_setzero_si256(); 3];
        for (color, places) in colors.iter_mut().zip(&THIRDS) {
            let mut sum = v3.sse2._mm_setzero_si128();
            for (third, place) in thirds.iter().zip(places) {
                sum = v3.sse2._mm_or_si128(sum, v3.ssse3._mm_shuffle_epi8(cast(*third), cast(*place)));
            }
            *color = avx2._mm256_cvtepu8_epi16(sum);
        }
        let [r, g, b] = colors;
        let low = component_sums(v3, avx2._mm256_unpacklo_epi16(r, g), avx2._mm256_unpacklo_epi16(b, g));
        let high = component_sums(v3, avx2._mm256_unpackhi_epi16(r, g), avx2._mm256_unpackhi_epi16(b, g));
        let mut out = [[0; 16]; 3];
        for ((out, low), high) in out.iter_mut().zip(low).zip(high) {
            let words = avx2._mm256_packs_epi32(low, high);
            let [low, high]: [__m128i; 2] = cast(words);
            *out = cast(v3.sse2._mm_packus_epi16(low, high));
        }
        out
    }

    /// Two factors of 16 bits, each for one of a pair.
    #[inline(always)]
    fn factors(v3: V3, first: i16, second: i16) -> __m256i {
        v3.avx._mm256_set1_epi32(i32::from(first as u16) | i32::from(second) << 16)
    }

    /// The first of each pair times 2^15.
    #[inline(always)]
    fn first_half(v3: V3, pair: __m256i) -> __m256i {
        v3.avx2._mm256_srli_epi32::<1>(v3.avx2._mm256_slli_epi32::<16>(pair))
    }

    /// The components of eight pixels, from pairs of red and green and of blue and green.
    ///
    /// A factor of 16 bits is below 2^15: that of green in luma is taken in two parts, and 2^15 is a shift.
    #[inline(always)]
    fn component_sums(v3: V3, rg: __m256i, bg: __m256i) -> [__m256i; 3] {
        let (v, avx2) = (Lanes(v3), v3.avx2);
        let luma = v.add(
            avx2._mm256_madd_epi16(rg, factors(v3, 19595, 22086)),
            avx2._mm256_madd_epi16(bg, factors(v3, 7471, 16384)),
        );
        let blue = v.add(avx2._mm256_madd_epi16(rg, factors(v3, -11059, -21709)), first_half(v3, bg));
        let red = v.add(avx2._mm256_madd_epi16(bg, factors(v3, -5329, -27439)), first_half(v3, rg));
        [
            v.down::<16>(v.add(luma, v3.avx._mm256_set1_epi32(colors::ADDED[0]))),
            v.down::<16>(v.add(blue, v3.avx._mm256_set1_epi32(colors::ADDED[1]))),
            v.down::<16>(v.add(red, v3.avx._mm256_set1_epi32(colors::ADDED[2]))),
        ]
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use pulp::x86::V3;

    use super::{Level, Portable, Quantisers};
    use crate::vector::{self, Job, run};

    struct Block<'a> {
        samples: &'a [u8],
        quantisers: &'a Quantisers,
        out: &'a mut [i16; 64],
    }

    impl Job for Block<'_> {
        type Output = u64;

        #[inline(always)]
        fn run<L: vector::Level>(self, level: L) -> u64 {
            level.coefficients(self.samples, 11, self.quantisers, self.out)
        }
    }

    struct Pixels<'a> {
        rgb: &'a [u8],
        out: [&'a mut [u8]; 3],
    }

    impl Job for Pixels<'_> {
        type Output = ();

        #[inline(always)]
        fn run<L: vector::Level>(self, level: L) {
            level.ycc(self.rgb, self.out);
        }
    }

    #[test]
    fn vector_code_gives_what_portable_code_does() {
        assert!(V3::try_new().is_some(), "this test needs a machine with AVX2");
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as u32
        };
        for round in 0..4000 {
            let mut samples = [0; 7 * 11 + 8];
            match round % 4 {
                0 => samples.fill(random() as u8),
                1 => samples.fill_with(|| if random() & 1 == 0 { 0 } else { 255 }),
                2 => samples.fill_with(|| 100 + (random() & 7) as u8),
                _ => samples.fill_with(|| random() as u8),
            }
            let quantisers = Quantisers::new(&[(); 64].map(|()| (random() as u8 >> (round % 8)).max(1)));
            let [mut vector, mut portable] = [[0; 64]; 2];
            let nonzero = run(Block { samples: &samples, quantisers: &quantisers, out: &mut vector });
            let expected = Portable.coefficients(&samples, 11, &quantisers, &mut portable);
            assert_eq!((vector, nonzero), (portable, expected));
        }
        for width in 0..100 {
            let rgb = [(); 300].map(|()| random() as u8);
            let [mut vector, mut portable] = [[[0; 100]; 3]; 2];
            let out = vector.each_mut().map(|plane| &mut plane[..width]);
            run(Pixels { rgb: &rgb[..3 * width], out });
            Portable.ycc(&rgb[..3 * width], portable.each_mut().map(|plane| &mut plane[..width]));
            assert_eq!(vector, portable, "{width}");
        }
    }
}
