//! Resampling rows of bytes with shuffles.

use std::arch::x86_64::{__m128i, __m256i};

use pulp::x86::V3;

use crate::rows::byte_taps::{PairEntry, PairTable, REACH, SumTable};

#[inline(always)]
fn load(row: &[u8], base: usize) -> [u8; REACH] {
    row[base..base + REACH].try_into().expect("sixteen bytes")
}

/// Weighs pairs of bytes along each row, then the rows, rounds to nearest even and stores. All in integers:
/// `bits` is the sum of the bits of both directions, 1 to 8, and every weight sum at most 1.
///
/// Returns the number of output samples done.
pub(crate) fn pairs_avx2<const ROWS: usize>(
    v3: V3,
    table: &PairTable,
    rows: [&[u8]; ROWS],
    weights: [u16; ROWS],
    bits: u32,
    out: &mut [u8],
) -> usize {
    let lanes = table.lanes;
    // Every half stores eight bytes, of which the next one overwrites those beyond its lanes.
    let halves = out.len().checked_sub(8).map_or(0, |room| room / lanes + 1);
    let usable = halves / 2;
    let entries = &table.entries[..usable.min(table.entries.len())];
    v3.vectorize(
        #[inline(always)]
        move || {
            let (round, out) = (Round::new(v3, bits), out);
            let mut factors = [round.one; ROWS];
            for (factor, weight) in factors.iter_mut().zip(weights) {
                *factor = v3.avx._mm256_set1_epi16(weight as i16);
            }
            // One length, so that one bounds check serves all rows.
            let (mut rows, len) = (rows, rows[0].len());
            for row in &mut rows {
                *row = &row[..len];
            }
            if lanes == 8 {
                for (entry, out) in entries.iter().zip(out.as_chunks_mut::<16>().0) {
                    *out = sixteen(v3, entry, &rows, &factors, &round);
                }
            } else {
                for (i, entry) in entries.iter().enumerate() {
                    let bytes = sixteen(v3, entry, &rows, &factors, &round);
                    let out = &mut out[2 * i * lanes..2 * i * lanes + lanes + 8];
                    out[..8].copy_from_slice(&bytes[..8]);
                    out[lanes..].copy_from_slice(&bytes[8..]);
                }
            }
        },
    );
    entries.len() * 2 * lanes
}

/// The output samples of an entry, eight a half.
#[inline(always)]
fn sixteen<const ROWS: usize>(
    v3: V3,
    entry: &PairEntry,
    rows: &[&[u8]; ROWS],
    factors: &[__m256i; ROWS],
    round: &Round,
) -> [u8; 16] {
    let mut sum = v3.avx2._mm256_mullo_epi16(factors[0], weigh(v3, entry, rows[0]));
    for k in 1..ROWS {
        let row = v3.avx2._mm256_mullo_epi16(factors[k], weigh(v3, entry, rows[k]));
        sum = v3.avx2._mm256_add_epi16(sum, row);
    }
    let [low, high]: [__m128i; 2] = bytemuck::cast(round.shift(v3, sum));
    bytemuck::cast(v3.sse2._mm_packus_epi16(low, high))
}

/// Horizontal sums.
#[inline(always)]
fn weigh(v3: V3, entry: &PairEntry, row: &[u8]) -> __m256i {
    let bytes: __m256i =
        bytemuck::cast([load(row, entry.bases[0] as usize), load(row, entry.bases[1] as usize)]);
    let chosen = v3.avx2._mm256_shuffle_epi8(bytes, bytemuck::cast(entry.choose));
    v3.avx2._mm256_maddubs_epi16(chosen, bytemuck::cast(entry.weights))
}

/// Division by a power of two, to nearest, ties to even.
pub(super) struct Round {
    /// Half the divisor, less one: an odd quotient adds the one again.
    bias: __m256i,
    one: __m256i,
    bits: __m128i,
}

/// The same with fewer instructions for sums below 2^15: `bits` is at most 7.
pub(super) struct SmallRound {
    zero: __m256i,
    /// The last bit of the quotient.
    odd: __m256i,
    /// What a rounding product multiplies by.
    factor: __m256i,
}

impl SmallRound {
    #[inline(always)]
    pub(super) fn new(v3: V3, bits: u32) -> Self {
        Self {
            zero: v3.avx._mm256_setzero_si256(),
            odd: v3.avx._mm256_set1_epi16(1 << bits),
            factor: v3.avx._mm256_set1_epi16(1 << (15 - bits)),
        }
    }

    /// The product rounds ties up, so an even quotient lacks one before it.
    #[inline(always)]
    pub(super) fn shift(&self, v3: V3, sum: __m256i) -> __m256i {
        let avx2 = v3.avx2;
        let less = avx2._mm256_cmpeq_epi16(avx2._mm256_and_si256(sum, self.odd), self.zero);
        avx2._mm256_mulhrs_epi16(avx2._mm256_add_epi16(sum, less), self.factor)
    }
}

impl Round {
    #[inline(always)]
    pub(super) fn new(v3: V3, bits: u32) -> Self {
        Self {
            bias: v3.avx._mm256_set1_epi16((1 << (bits - 1)) - 1),
            one: v3.avx._mm256_set1_epi16(1),
            bits: v3.sse2._mm_set_epi64x(0, i64::from(bits)),
        }
    }

    #[inline(always)]
    pub(super) fn shift(&self, v3: V3, sum: __m256i) -> __m256i {
        let avx2 = v3.avx2;
        let odd = avx2._mm256_and_si256(avx2._mm256_srl_epi16(sum, self.bits), self.one);
        let biased = avx2._mm256_add_epi16(avx2._mm256_add_epi16(sum, self.bias), odd);
        avx2._mm256_srl_epi16(biased, self.bits)
    }
}

/// Weighted sums of bytes in binary32, in the order of the taps. Returns the number of output samples done.
pub(crate) fn sums_avx2(v3: V3, table: &SumTable, row: &[u8], out: &mut [f32]) -> usize {
    match table.taps {
        2 if table.pairs => v3.vectorize(
            #[inline(always)]
            move || {
                let out = out;
                pair_sums(v3, table, row, out);
            },
        ),
        2 => v3.vectorize(
            #[inline(always)]
            move || {
                let out = out;
                sums::<2>(v3, table, row, out);
            },
        ),
        _ => v3.vectorize(
            #[inline(always)]
            move || {
                let out = out;
                sums::<0>(v3, table, row, out);
            },
        ),
    }
    table.entries.len() * 8
}

/// Two taps of one load.
#[inline(always)]
fn pair_sums(v3: V3, table: &SumTable, row: &[u8], out: &mut [f32]) {
    let (avx, avx2) = (v3.avx, v3.avx2);
    // Lanes that choose nothing still do.
    let step = avx._mm256_set1_epi8(table.step as i8);
    let weights = table.weights.as_chunks::<2>().0;
    for ((entry, weights), out) in table.entries.iter().zip(weights).zip(out.as_chunks_mut::<8>().0) {
        let near: __m256i = bytemuck::cast(entry.choose);
        let (low, high) = (entry.bases[0] as usize, entry.bases[1] as usize);
        let bytes: __m256i = bytemuck::cast([load(row, low), load(row, high)]);
        let first = avx._mm256_cvtepi32_ps(avx2._mm256_shuffle_epi8(bytes, near));
        let far = avx2._mm256_add_epi8(near, step);
        let second = avx._mm256_cvtepi32_ps(avx2._mm256_shuffle_epi8(bytes, far));
        let sum = avx._mm256_mul_ps(bytemuck::cast(weights[0]), first);
        *out = bytemuck::cast(v3.fma._mm256_fmadd_ps(bytemuck::cast(weights[1]), second, sum));
    }
}

/// `K` taps, or as many as the table says when it is 0.
#[inline(always)]
fn sums<const K: usize>(v3: V3, table: &SumTable, row: &[u8], out: &mut [f32]) {
    let taps = if K == 0 { table.taps } else { K };
    let weights = table.weights.chunks_exact(taps);
    for ((entry, weights), out) in table.entries.iter().zip(weights).zip(out.as_chunks_mut::<8>().0) {
        let choose: __m256i = bytemuck::cast(entry.choose);
        let (low, high) = (entry.bases[0] as usize, entry.bases[1] as usize);
        let mut sum = v3.avx._mm256_setzero_ps();
        for (k, weights) in weights.iter().enumerate() {
            let shift = k * table.step;
            let bytes: __m256i = bytemuck::cast([load(row, low + shift), load(row, high + shift)]);
            let samples = v3.avx._mm256_cvtepi32_ps(v3.avx2._mm256_shuffle_epi8(bytes, choose));
            let weights = bytemuck::cast(*weights);
            sum = if k == 0 {
                v3.avx._mm256_mul_ps(weights, samples)
            } else {
                v3.fma._mm256_fmadd_ps(weights, samples, sum)
            };
        }
        *out = bytemuck::cast(sum);
    }
}
