//! Resampling of interleaved RGB bytes by exactly 2:1, the step from 2160p to 1080p: the table kernel of
//! [`super::resample`] with its table in registers and all offsets known to the compiler.

use std::arch::x86_64::__m256i;

use pulp::x86::V3;

use super::resample::Round;
use crate::rows::byte_taps::{REACH, TwoToOne};

const SOURCE: usize = TwoToOne::SOURCE;
const OUTPUT: usize = TwoToOne::OUTPUT;

/// Weighs two rows; returns the number of output samples done.
pub(crate) fn two_to_one_avx2(
    v3: V3,
    table: &TwoToOne,
    rows: [&[u8]; 2],
    weights: [u16; 2],
    bits: u32,
    out: &mut [u8],
) -> usize {
    let [first, second] = [rows[0].as_chunks::<SOURCE>().0, rows[1].as_chunks::<SOURCE>().0];
    let out = out.as_chunks_mut::<OUTPUT>().0;
    let blocks = out.len().min(first.len());
    v3.vectorize(
        #[inline(always)]
        move || {
            let work = Work {
                v3,
                round: Round::new(v3, bits),
                weights: [
                    v3.avx._mm256_set1_epi8(weights[0] as i8),
                    v3.avx._mm256_set1_epi8(weights[1] as i8),
                ],
            };
            let [start, end] = table.choose;
            let choose: [__m256i; 2] = [bytemuck::cast([start, start]), bytemuck::cast([start, end])];
            // Six bytes of each eight are valid; their three pairs, then the three pairs of the next six.
            let mut pairs = [[0x80_u8; 16]; 2];
            for half in &mut pairs {
                for (i, index) in half.iter_mut().take(12).enumerate() {
                    *index = (i / 6 * 8 + i % 6) as u8;
                }
            }
            let close_up: __m256i = bytemuck::cast(pairs);
            let words: __m256i = bytemuck::cast([0_u32, 1, 2, 4, 5, 6, 3, 7]);
            for ((first, second), out) in first.iter().zip(second).zip(out) {
                // Output pixels 0, 1, 4, 5 and 2, 3, 6, 7, so that packing brings neighbours together.
                let outer = work.pixels::<0, 24>(choose[0], first, second);
                let inner = work.pixels::<12, { SOURCE - REACH }>(choose[1], first, second);
                let bytes = v3.avx2._mm256_packus_epi16(outer, inner);
                let bytes = v3.avx2._mm256_shuffle_epi8(bytes, close_up);
                let bytes: [u8; 32] = bytemuck::cast(v3.avx2._mm256_permutevar8x32_epi32(bytes, words));
                out.copy_from_slice(&bytes[..OUTPUT]);
            }
        },
    );
    blocks * OUTPUT
}

struct Work {
    v3: V3,
    round: Round,
    /// Of the rows; both pixels of a pair weigh 1.
    weights: [__m256i; 2],
}

impl Work {
    /// Two output pixels in each half, of the sixteen source bytes at `LOW` and at `HIGH`.
    #[inline(always)]
    fn pixels<const LOW: usize, const HIGH: usize>(
        &self,
        choose: __m256i,
        first: &[u8; SOURCE],
        second: &[u8; SOURCE],
    ) -> __m256i {
        let avx2 = self.v3.avx2;
        let sum = avx2._mm256_add_epi16(
            self.add::<LOW, HIGH>(choose, self.weights[0], first),
            self.add::<LOW, HIGH>(choose, self.weights[1], second),
        );
        self.round.shift(self.v3, sum)
    }

    #[inline(always)]
    fn add<const LOW: usize, const HIGH: usize>(
        &self,
        choose: __m256i,
        weights: __m256i,
        row: &[u8; SOURCE],
    ) -> __m256i {
        let low: [u8; REACH] = row[LOW..LOW + REACH].try_into().expect("sixteen bytes");
        let high: [u8; REACH] = row[HIGH..HIGH + REACH].try_into().expect("sixteen bytes");
        let chosen = self.v3.avx2._mm256_shuffle_epi8(bytemuck::cast([low, high]), choose);
        self.v3.avx2._mm256_maddubs_epi16(chosen, weights)
    }
}
