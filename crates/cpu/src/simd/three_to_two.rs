//! Resampling of interleaved RGB bytes by exactly 3:2, the step from 1080p to 720p: the table kernel of
//! [`super::resample`] with its table in registers and all offsets known to the compiler.

use std::arch::x86_64::{__m128i, __m256i};

use pulp::x86::V3;

use super::resample::SmallRound;
use crate::rows::byte_taps::{REACH, ThreeToTwo};

/// Source bytes of a block, and output samples made of them.
const BLOCK: (usize, usize) = (ThreeToTwo::SOURCE, ThreeToTwo::OUTPUT);

/// Weighs two rows; returns the number of output samples done.
pub(crate) fn three_to_two_avx2(
    v3: V3,
    table: &ThreeToTwo,
    rows: [&[u8]; 2],
    weights: [u16; 2],
    bits: u32,
    out: &mut [u8],
) -> usize {
    let [first, second] = [rows[0].as_chunks::<{ BLOCK.0 }>().0, rows[1].as_chunks::<{ BLOCK.0 }>().0];
    let out = out.as_chunks_mut::<{ BLOCK.1 }>().0;
    let blocks = out.len().min(first.len());
    v3.vectorize(
        #[inline(always)]
        move || {
            let work = Work { v3, round: SmallRound::new(v3, bits) };
            let parts =
                [Part::new(table, 0, weights), Part::new(table, 1, weights), Part::new(table, 2, weights)];
            for ((first, second), out) in first.iter().zip(second).zip(out) {
                let bytes = [
                    work.sixteen::<0>(&parts[0], first, second),
                    work.sixteen::<1>(&parts[1], first, second),
                    work.sixteen::<2>(&parts[2], first, second),
                ];
                *out = bytemuck::cast(bytes);
            }
        },
    );
    blocks * BLOCK.1
}

/// Shuffle of sixteen output samples, and for each row their weights in both directions at once: at most 9.
struct Part {
    choose: __m256i,
    weights: [__m256i; 2],
}

impl Part {
    #[inline(always)]
    fn new(table: &ThreeToTwo, part: usize, rows: [u16; 2]) -> Self {
        let mut weights = [table.weights[part]; 2];
        for (weights, row) in weights.iter_mut().zip(rows) {
            weights.as_flattened_mut().iter_mut().for_each(|weight| *weight *= row as i8);
        }
        let [first, second] = weights;
        Self {
            choose: bytemuck::cast(table.choose[part]),
            weights: [bytemuck::cast(first), bytemuck::cast(second)],
        }
    }
}

struct Work {
    v3: V3,
    round: SmallRound,
}

impl Work {
    /// Output samples `16 * PART ..` of a block.
    #[inline(always)]
    fn sixteen<const PART: usize>(
        &self,
        part: &Part,
        first: &[u8; BLOCK.0],
        second: &[u8; BLOCK.0],
    ) -> [u8; 16] {
        let avx2 = self.v3.avx2;
        let sum = avx2._mm256_add_epi16(
            self.weigh::<PART>(part.choose, part.weights[0], first),
            self.weigh::<PART>(part.choose, part.weights[1], second),
        );
        let [low, high]: [__m128i; 2] = bytemuck::cast(self.round.shift(self.v3, sum));
        bytemuck::cast(self.v3.sse2._mm_packus_epi16(low, high))
    }

    #[inline(always)]
    fn weigh<const PART: usize>(&self, choose: __m256i, weights: __m256i, row: &[u8; BLOCK.0]) -> __m256i {
        let bases = const { ThreeToTwo::BASES[PART] };
        let low: [u8; REACH] = row[bases[0]..bases[0] + REACH].try_into().expect("sixteen bytes");
        let high: [u8; REACH] = row[bases[1]..bases[1] + REACH].try_into().expect("sixteen bytes");
        let chosen = self.v3.avx2._mm256_shuffle_epi8(bytemuck::cast([low, high]), choose);
        self.v3.avx2._mm256_maddubs_epi16(chosen, weights)
    }
}
