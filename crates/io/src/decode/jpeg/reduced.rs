//! The inverse DCT to fewer samples than coefficients, in the integer arithmetic of libjpeg (`jidctred.c`): samples of scaled
//! pictures are equal to those of libjpeg.

use super::idct::{FIRST_SHIFT, SECOND_SHIFT, flat};

/// Transforms a block, times its quantisers, to `side` samples across and down (4, 2 or 1), and writes them to the upper left of
/// `out`, whose rows are `stride` apart.
#[inline(always)]
pub(super) fn idct(block: &[i16; 64], quantisers: &[u16; 64], side: usize, out: &mut [u8], stride: usize) {
    match side {
        4 => transform::<4, FOUR_FIRST, FOUR_SECOND>(block, quantisers, four, out, stride),
        2 => transform::<2, TWO_FIRST, TWO_SECOND>(block, quantisers, two, out, stride),
        _ => out[0] = flat(block, quantisers),
    }
}

/// What each pass shifts its sums by: the factors of both transforms stand for halves and quarters.
const FOUR_FIRST: i32 = FIRST_SHIFT + 1;
const FOUR_SECOND: i32 = SECOND_SHIFT + 1;
const TWO_FIRST: i32 = FIRST_SHIFT + 2;
const TWO_SECOND: i32 = SECOND_SHIFT + 2;

/// Down each column, then across each row that is left.
#[inline(always)]
fn transform<const SIDE: usize, const FIRST: i32, const SECOND: i32>(
    block: &[i16; 64],
    quantisers: &[u16; 64],
    to: impl Fn([i32; 8]) -> [i32; SIDE],
    out: &mut [u8],
    stride: usize,
) {
    let mut rows = [[0; 8]; SIDE];
    for x in 0..8 {
        let column = std::array::from_fn(|y| {
            let at = 8 * y + x;
            i32::from(block[at]).wrapping_mul(i32::from(quantisers[at]))
        });
        for (row, sum) in rows.iter_mut().zip(to(column)) {
            row[x] = rounded::<FIRST>(sum);
        }
    }
    for (row, out) in rows.into_iter().zip(out.chunks_mut(stride)) {
        for (out, sum) in out.iter_mut().zip(to(row)) {
            *out = (rounded::<SECOND>(sum) + 128).clamp(0, 255) as u8;
        }
    }
}

#[inline(always)]
const fn rounded<const SHIFT: i32>(sum: i32) -> i32 {
    sum.wrapping_add(1 << (SHIFT - 1)) >> SHIFT
}

/// The sum of products. Sums wrap: only coefficients that no encoder writes come near.
#[inline(always)]
fn sum<const N: usize>(terms: [(i32, i32); N]) -> i32 {
    terms.iter().fold(0, |sum: i32, (value, factor)| sum.wrapping_add(value.wrapping_mul(*factor)))
}

/// Four samples of eight coefficients; the fifth one does not count.
#[inline(always)]
fn four(c: [i32; 8]) -> [i32; 4] {
    let mean = c[0].wrapping_mul(1 << 14);
    let even = sum([(c[2], 15_137), (c[6], -6270)]);
    let inner = sum([(c[7], -1730), (c[5], 11_893), (c[3], -17_799), (c[1], 8697)]);
    let outer = sum([(c[7], -4176), (c[5], -4926), (c[3], 7373), (c[1], 20_995)]);
    let (high, low) = (mean.wrapping_add(even), mean.wrapping_sub(even));
    [high.wrapping_add(outer), low.wrapping_add(inner), low.wrapping_sub(inner), high.wrapping_sub(outer)]
}

/// Two samples of eight coefficients, of which the even ones but for the first do not count.
#[inline(always)]
fn two(c: [i32; 8]) -> [i32; 2] {
    let mean = c[0].wrapping_mul(1 << 15);
    let odd = sum([(c[7], -5906), (c[5], 6967), (c[3], -10_426), (c[1], 29_692)]);
    [mean.wrapping_add(odd), mean.wrapping_sub(odd)]
}
