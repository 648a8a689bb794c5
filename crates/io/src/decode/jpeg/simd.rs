//! The two steps that the compiler does not turn into good vector code by itself, as far as the machine goes.

use super::{color, idct};
use crate::vector::Portable;

/// What a machine can do.
pub(crate) trait Level: Copy {
    /// See [`idct::idct`].
    fn idct(self, block: &[i16; 64], quantisers: &[u16; 64], last: usize, out: &mut [u8], stride: usize);
    /// See [`color::interleave`].
    fn interleave(self, rgb: [&[u8]; 3], out: &mut [u8]);
}

impl Level for Portable {
    #[inline(always)]
    fn idct(self, block: &[i16; 64], quantisers: &[u16; 64], last: usize, out: &mut [u8], stride: usize) {
        idct::idct(block, quantisers, last, out, stride);
    }

    #[inline(always)]
    fn interleave(self, rgb: [&[u8]; 3], out: &mut [u8]) {
        color::interleave(rgb, out);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__m128i, __m256i};

    use bytemuck::cast;
    use pulp::x86::V3;

    use super::{Level, color, idct};
    use crate::vector::{Lanes, transpose};

    impl Level for V3 {
        #[inline(always)]
        fn idct(self, block: &[i16; 64], quantisers: &[u16; 64], last: usize, out: &mut [u8], stride: usize) {
            let samples: [[u8; 8]; 8] = match last {
                0 => [[idct::flat(block, quantisers); 8]; 8],
                1..=idct::LAST_OF_QUARTER => transformed::<4>(self, block, quantisers),
                _ => transformed::<8>(self, block, quantisers),
            };
            idct::store(&samples, out, stride);
        }

        #[inline(always)]
        fn interleave(self, rgb: [&[u8]; 3], out: &mut [u8]) {
            let [r, g, b] = rgb.map(|plane| plane.as_chunks::<16>().0);
            let (whole, rest) = out.as_chunks_mut::<48>();
            for (((r, g), b), out) in r.iter().zip(g).zip(b).zip(whole.iter_mut()) {
                let colors: [__m128i; 3] = [cast(*r), cast(*g), cast(*b)];
                for (third, out) in THIRDS.iter().zip(out.as_chunks_mut::<16>().0) {
                    let mut sum = self.ssse3._mm_shuffle_epi8(colors[0], cast(third[0]));
                    for (color, place) in colors.iter().zip(third).skip(1) {
                        sum = self.sse2._mm_or_si128(sum, self.ssse3._mm_shuffle_epi8(*color, cast(*place)));
                    }
                    *out = cast(sum);
                }
            }
            let done = 16 * whole.len();
            color::interleave(rgb.map(|plane| plane.get(done..).unwrap_or_default()), rest);
        }
    }

    /// For each 16 bytes of 16 pixels, where they come from in each color; 128 is nowhere.
    const THIRDS: [[[u8; 16]; 3]; 3] = {
        let mut thirds = [[[128; 16]; 3]; 3];
        let mut at = 0;
        while at < 48 {
            thirds[at / 16][at % 3][at % 16] = (at / 3) as u8;
            at += 1;
        }
        thirds
    };

    /// Columns at once, then rows; all but the first `SIDE` rows and columns of coefficients are 0.
    #[inline(always)]
    fn transformed<const SIDE: usize>(v3: V3, block: &[i16; 64], quantisers: &[u16; 64]) -> [[u8; 8]; 8] {
        let avx2 = v3.avx2;
        let zero = v3.avx._mm256_setzero_si256();
        let (rows, factors) = (block.as_chunks::<8>().0, quantisers.as_chunks::<8>().0);
        let mut columns = [zero; 8];
        for y in 0..SIDE {
            let row = avx2._mm256_cvtepi16_epi32(cast(rows[y]));
            columns[y] = avx2._mm256_mullo_epi32(row, avx2._mm256_cvtepu16_epi32(cast(factors[y])));
        }
        let first = pass::<{ idct::FIRST_SHIFT }>(v3, columns, 0);
        let mut turned = transpose(v3, first);
        turned[SIDE..].fill(zero);
        let second = pass::<{ idct::SECOND_SHIFT }>(v3, turned, 128);
        bytes(v3, second)
    }

    /// Columns of samples to rows of bytes.
    #[inline(always)]
    fn bytes(v3: V3, columns: [__m256i; 8]) -> [[u8; 8]; 8] {
        const TURN: [u8; 16] = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];
        let avx2 = v3.avx2;
        let turn: __m256i = cast([TURN; 2]);
        let mut fours = [turn; 2];
        for (four, c) in fours.iter_mut().zip(columns.as_chunks::<4>().0) {
            // Rows 0 to 3 in the lower half, 4 to 7 in the upper one.
            let (left, right) = (avx2._mm256_packs_epi32(c[0], c[1]), avx2._mm256_packs_epi32(c[2], c[3]));
            *four = avx2._mm256_shuffle_epi8(avx2._mm256_packus_epi16(left, right), turn);
        }
        let [left, right] = fours;
        let [[r0, r1], [r4, r5]]: [[[u8; 8]; 2]; 2] = cast(avx2._mm256_unpacklo_epi32(left, right));
        let [[r2, r3], [r6, r7]]: [[[u8; 8]; 2]; 2] = cast(avx2._mm256_unpackhi_epi32(left, right));
        [r0, r1, r2, r3, r4, r5, r6, r7]
    }

    /// [`idct::transform`] of eight columns at once. `SHIFT` is an `i32` because the instruction has it so.
    #[inline(always)]
    fn pass<const SHIFT: i32>(v3: V3, c: [__m256i; 8], offset: i32) -> [__m256i; 8] {
        let v = Lanes(v3);
        let rounded = v3.avx._mm256_set1_epi32((1 << (SHIFT - 1)) + (offset << SHIFT));

        let rotated = v.mul(v.add(c[2], c[6]), 4433);
        let low = v.sub(rotated, v.mul(c[6], 15137));
        let high = v.add(rotated, v.mul(c[2], 6270));
        let sum = v.add(v.up::<{ idct::FACTOR_BITS }>(v.add(c[0], c[4])), rounded);
        let difference = v.add(v.up::<{ idct::FACTOR_BITS }>(v.sub(c[0], c[4])), rounded);
        let even = [v.add(sum, high), v.add(difference, low), v.sub(difference, low), v.sub(sum, high)];

        let (s73, s51) = (v.add(c[7], c[3]), v.add(c[5], c[1]));
        let both = v.mul(v.add(s73, s51), 9633);
        let (a, b) = (v.sub(both, v.mul(s51, 3196)), v.sub(both, v.mul(s73, 16069)));
        let (d, e) = (v.mul(v.add(c[7], c[1]), -7373), v.mul(v.add(c[5], c[3]), -20995));
        let odd = [
            v.add(v.add(v.mul(c[1], 12299), d), a),
            v.add(v.add(v.mul(c[3], 25172), e), b),
            v.add(v.add(v.mul(c[5], 16819), e), a),
            v.add(v.add(v.mul(c[7], 2446), d), b),
        ];
        let mut out = c;
        for i in 0..4 {
            out[i] = v3.avx2._mm256_srai_epi32::<SHIFT>(v.add(even[i], odd[i]));
            out[7 - i] = v3.avx2._mm256_srai_epi32::<SHIFT>(v.sub(even[i], odd[i]));
        }
        out
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use pulp::x86::V3;

    use super::Level;
    use crate::vector;
    use crate::vector::{Job, Portable, run};

    /// The same bytes on every machine, also for coefficients that no encoder writes.
    #[test]
    fn vector_code_gives_the_bytes_of_the_portable_code() {
        assert!(V3::try_new().is_some(), "this test needs a machine with AVX2");
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as u32
        };
        for round in 0..4000 {
            let (bits, last) = ([4, 8, 11, 16][round % 4], [0, 1, 5, 9, 10, 30, 63][round % 7]);
            let mut block = [0; 64];
            for place in &super::idct::NATURAL[..=last] {
                block[*place] = (random() as i16) >> (16 - bits);
            }
            let quantisers = [(); 64].map(|()| (random() as u16) >> (16 - bits));
            let [mut vector, mut portable] = [[0; 7 * 11 + 8]; 2];
            run(Transform { block, quantisers, last, out: &mut vector });
            Portable.idct(&block, &quantisers, last, &mut portable, 11);
            assert_eq!(vector, portable, "{block:?} {quantisers:?}");
        }
        for width in 0..100 {
            let planes = [(); 3].map(|()| [(); 100].map(|()| random() as u8));
            let [mut vector, mut portable] = [[0; 300]; 2];
            run(Pixels { planes: planes.each_ref().map(|p| &p[..width]), out: &mut vector[..3 * width] });
            Portable.interleave(planes.each_ref().map(|p| &p[..width]), &mut portable[..3 * width]);
            assert_eq!(vector, portable, "{width}");
        }
    }

    struct Transform<'a> {
        block: [i16; 64],
        quantisers: [u16; 64],
        last: usize,
        out: &'a mut [u8],
    }

    impl Job for Transform<'_> {
        type Output = ();

        #[inline(always)]
        fn run<L: vector::Level>(self, level: L) {
            level.idct(&self.block, &self.quantisers, self.last, self.out, 11);
        }
    }

    struct Pixels<'a> {
        planes: [&'a [u8]; 3],
        out: &'a mut [u8],
    }

    impl Job for Pixels<'_> {
        type Output = ();

        #[inline(always)]
        fn run<L: vector::Level>(self, level: L) {
            level.interleave(self.planes, self.out);
        }
    }
}
