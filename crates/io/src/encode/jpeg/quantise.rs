//! The forward DCT and what rounds its coefficients, in the integer arithmetic of libjpeg's accurate one (`jfdctint.c`,
//! after Loeffler, Ligtenberg and Moschytz, ICASSP 1989), so that files are those of libjpeg.

/// Bits behind the point in the factors, and in what the first pass leaves.
pub(super) const FACTOR_BITS: i32 = 13;
pub(super) const PASS_BITS: i32 = 2;

/// What coefficients are divided by, in rows.
pub(crate) struct Quantisers {
    /// Eight times the file's quantisers: the transform leaves coefficients eight times as large.
    divisors: [u16; 64],
    /// A quotient is `(n + correction) * reciprocal / 2^16 * scale / 2^16` of 16 bits, rounded down twice: division by
    /// an invariant integer, of the absolute value with half the divisor added.
    pub(super) corrections: [u16; 64],
    pub(super) reciprocals: [u16; 64],
    pub(super) scales: [u16; 64],
}

impl Quantisers {
    pub(super) fn new(file: &[u8; 64]) -> Self {
        let divisors = file.map(|quantiser| 8 * u16::from(quantiser));
        let parts = divisors.map(parts);
        Self {
            divisors,
            corrections: parts.map(|[correction, _, _]| correction),
            reciprocals: parts.map(|[_, reciprocal, _]| reciprocal),
            scales: parts.map(|[_, _, scale]| scale),
        }
    }

    /// Rounded to the nearest, halves away from 0.
    #[inline(always)]
    fn quotient(&self, place: usize, value: i32) -> i16 {
        let divisor = i32::from(self.divisors[place]);
        let quotient = (value.abs() + divisor / 2) / divisor;
        (if value < 0 { -quotient } else { quotient }) as i16
    }
}

/// Correction, reciprocal and scale of a divisor of 8 or more.
fn parts(divisor: u16) -> [u16; 3] {
    let divisor = u32::from(divisor);
    let mut shift = 16 + divisor.ilog2();
    let (mut reciprocal, rest) = ((1 << shift) / divisor, (1 << shift) % divisor);
    let mut correction = divisor / 2;
    if rest == 0 {
        // A power of two, whose reciprocal would not fit.
        (reciprocal, shift) = (reciprocal / 2, shift - 1);
    } else if rest <= divisor / 2 {
        // The reciprocal is too small by little enough that one more makes up for it.
        correction += 1;
    } else {
        reciprocal += 1;
    }
    [correction as u16, reciprocal as u16, (1_u32 << (32 - shift)) as u16]
}

/// Quantised coefficients of a block of samples whose rows are `stride` apart, in rows; and which of them are not 0,
/// the first at the lowest bit.
#[inline(always)]
pub(super) fn coefficients(
    samples: &[u8],
    stride: usize,
    quantisers: &Quantisers,
    out: &mut [i16; 64],
) -> u64 {
    let mut block = [0; 64];
    for (y, row) in block.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let samples: [i32; 8] = std::array::from_fn(|x| i32::from(samples[y * stride + x]) - 128);
        *row = transform::<{ FACTOR_BITS - PASS_BITS }>(samples, |sum| sum << PASS_BITS);
    }
    for x in 0..8 {
        let column = std::array::from_fn(|y| block[8 * y + x]);
        let done = transform::<{ FACTOR_BITS + PASS_BITS }>(column, rounded::<PASS_BITS>);
        for y in 0..8 {
            block[8 * y + x] = done[y];
        }
    }
    let mut nonzero = 0;
    for place in 0..64 {
        out[place] = quantisers.quotient(place, block[place]);
        nonzero |= u64::from(out[place] != 0) << place;
    }
    nonzero
}

#[inline(always)]
fn rounded<const SHIFT: i32>(sum: i32) -> i32 {
    (sum + (1 << (SHIFT - 1))) >> SHIFT
}

/// One dimension; `plain` scales the two sums that no factor takes part in.
#[inline(always)]
fn transform<const SHIFT: i32>(s: [i32; 8], plain: impl Fn(i32) -> i32) -> [i32; 8] {
    let sums: [i32; 4] = std::array::from_fn(|i| s[i] + s[7 - i]);
    let d: [i32; 4] = std::array::from_fn(|i| s[i] - s[7 - i]);
    let (outer, inner) = (sums[0] + sums[3], sums[1] + sums[2]);
    let (a, b) = (sums[0] - sums[3], sums[1] - sums[2]);
    let rotated = (a + b) * 4433;
    // d[3], d[2], d[1], d[0] are the paper's 4 to 7.
    let (z3, z4) = (d[3] + d[1], d[2] + d[0]);
    let both = (z3 + z4) * 9633;
    let (z3, z4) = (both - z3 * 16069, both - z4 * 3196);
    let (z1, z2) = ((d[3] + d[0]) * -7373, (d[2] + d[1]) * -20995);
    [
        plain(outer + inner),
        rounded::<SHIFT>(d[0] * 12299 + z1 + z4),
        rounded::<SHIFT>(rotated + a * 6270),
        rounded::<SHIFT>(d[1] * 25172 + z2 + z3),
        plain(outer - inner),
        rounded::<SHIFT>(d[2] * 16819 + z2 + z4),
        rounded::<SHIFT>(rotated - b * 15137),
        rounded::<SHIFT>(d[3] * 2446 + z1 + z3),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplying_by_reciprocals_divides() {
        for quantiser in 1..=255_u8 {
            let q = Quantisers::new(&[quantiser; 64]);
            let [correction, reciprocal, scale] =
                [q.corrections[0], q.reciprocals[0], q.scales[0]].map(u32::from);
            for value in -32_767..=32_767_i32 {
                let high = ((value.unsigned_abs() + correction) * reciprocal) >> 16;
                let quotient = (high * scale) >> 16;
                assert_eq!(i32::from(q.quotient(0, value)).unsigned_abs(), quotient, "{value} {quantiser}");
            }
        }
    }

    /// Against the definition (T.81 A.3.3) in f64: what fixed-point factors may be off by.
    #[test]
    fn coefficients_are_those_of_the_definition() {
        let quantisers = Quantisers::new(&[1; 64]);
        let mut state = 1_u32;
        for round in 0..200 {
            let samples: [u8; 64] = std::array::from_fn(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if round % 3 == 0 { (state >> 31) as u8 * 255 } else { (state >> 24) as u8 }
            });
            let mut out = [0; 64];
            let nonzero = coefficients(&samples, 8, &quantisers, &mut out);
            for (place, value) in out.iter().enumerate() {
                let (v, u) = ((place / 8) as f64, (place % 8) as f64);
                let mut sum = 0.0;
                for (at, sample) in samples.iter().enumerate() {
                    let (y, x) = ((at / 8) as f64, (at % 8) as f64);
                    let wave = |x: f64, u: f64| ((2.0 * x + 1.0) * u * std::f64::consts::PI / 16.0).cos();
                    sum += (f64::from(*sample) - 128.0) * wave(x, u) * wave(y, v);
                }
                let half = |u: f64| if u == 0.0 { 0.5_f64.sqrt() } else { 1.0 };
                let expected = sum * half(u) * half(v) / 4.0;
                assert!((f64::from(*value) - expected).abs() < 0.7, "{place}: {value} for {expected}");
                assert_eq!(nonzero >> place & 1 == 1, *value != 0);
            }
        }
    }
}
