//! Resampling of interleaved RGB bytes by exactly 2:1, the step from 2160p to 1080p: the table kernel of
//! [`super::resample`] with its table in registers and all offsets known to the compiler.

use std::arch::x86_64::__m256i;
use std::ops::Range;

use pulp::x86::V3;

use super::resample::SmallRound;
use crate::rows::byte_taps::TwoToOne;

/// Source bytes of a block, and output samples made of them.
const BLOCK: (usize, usize) = (TwoToOne::SOURCE, TwoToOne::OUTPUT);
/// Bytes that are loaded before and after a block.
const MARGIN: usize = TwoToOne::LEAD;

/// Weighs two rows; returns which output samples are done: all but those of a pixel at both ends, or none of a short
/// row. `bits` is at most 7.
pub(crate) fn two_to_one_avx2(
    v3: V3,
    table: &TwoToOne,
    rows: [&[u8]; 2],
    weights: [u16; 2],
    bits: u32,
    out: &mut [u8],
) -> Range<usize> {
    const PIXEL: usize = 3;
    let Some(last) = out.len().checked_sub(BLOCK.1 + PIXEL).filter(|&last| last >= PIXEL) else {
        return 0..0;
    };
    v3.vectorize(
        #[inline(always)]
        move || {
            let out = out;
            let work = Work {
                v3,
                choose: bytemuck::cast(table.choose),
                round: SmallRound::new(v3, bits),
                weights: [
                    v3.avx._mm256_set1_epi8(weights[0] as i8),
                    v3.avx._mm256_set1_epi8(weights[1] as i8),
                ],
            };
            // Six bytes of each eight are valid: they move together, first within the halves.
            let mut close_up = [[0x80_u8; 16]; 2];
            for half in &mut close_up {
                for (i, index) in half.iter_mut().take(12).enumerate() {
                    *index = (i / 6 * 8 + i % 6) as u8;
                }
            }
            let close_up: __m256i = bytemuck::cast(close_up);
            let words: __m256i = bytemuck::cast([0_u32, 1, 2, 4, 5, 6, 3, 7]);
            let mut next = PIXEL;
            while next < last + BLOCK.1 {
                // The last block overlaps the one before.
                let first = next.min(last);
                next += BLOCK.1;
                let start = 2 * first - MARGIN;
                let end = start + BLOCK.0 + 2 * MARGIN;
                let sources = [&rows[0][start..end], &rows[1][start..end]];
                let out = &mut out[first..first + BLOCK.1];
                // Output pixels 0, 1 and 2, 3; then 4, 5 and 6, 7.
                let bytes = v3.avx2._mm256_packus_epi16(work.pixels(sources, 0), work.pixels(sources, 24));
                let bytes = v3.avx2._mm256_permute4x64_epi64::<0b11_01_10_00>(bytes);
                let bytes = v3.avx2._mm256_shuffle_epi8(bytes, close_up);
                let bytes: [u8; 32] = bytemuck::cast(v3.avx2._mm256_permutevar8x32_epi32(bytes, words));
                out.copy_from_slice(&bytes[..BLOCK.1]);
            }
        },
    );
    PIXEL..last + BLOCK.1
}

struct Work {
    v3: V3,
    choose: __m256i,
    round: SmallRound,
    /// Of the rows; both pixels of a pair weigh 1.
    weights: [__m256i; 2],
}

impl Work {
    /// Two output pixels in each half, of the 32 bytes at `at` of each row.
    #[inline(always)]
    fn pixels(&self, rows: [&[u8]; 2], at: usize) -> __m256i {
        let (first, second) = (self.add(rows, 0, at), self.add(rows, 1, at));
        self.round.shift(self.v3, self.v3.avx2._mm256_add_epi16(first, second))
    }

    #[inline(always)]
    fn add(&self, rows: [&[u8]; 2], row: usize, at: usize) -> __m256i {
        let bytes: [u8; 32] = rows[row][at..at + 32].try_into().expect("32 bytes");
        let chosen = self.v3.avx2._mm256_shuffle_epi8(bytemuck::cast(bytes), self.choose);
        self.v3.avx2._mm256_maddubs_epi16(chosen, self.weights[row])
    }
}
