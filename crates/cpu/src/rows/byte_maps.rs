//! Point operations on bytes where a shorter way gives the same bytes as the definition.

use crate::simd::Level;

/// `v > limit ? value : 0` in bytes.
pub(crate) fn threshold(level: Level, src: &[u8], limit: f32, value: u8, out: &mut [u8]) {
    let Some(first) = first_above(limit) else {
        out.fill(0);
        return;
    };
    level.vectorize(
        #[inline(always)]
        move || {
            let out = out;
            for (out, &byte) in out.iter_mut().zip(src) {
                *out = if byte >= first { value } else { 0 };
            }
        },
    );
}

/// The smallest byte above `limit`.
fn first_above(limit: f32) -> Option<u8> {
    if limit < 0.0 {
        return Some(0);
    }
    // False for NaN too.
    (limit < 255.0).then(|| limit as u8 + 1)
}

/// Weights of a blend that are multiples of a small power of two, not negative, and together at most 1.
///
/// Both products and the sum are then multiples of `2^-bits` below 256, which binary32 and 16-bit integers hold
/// exactly; the only rounding is the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FixedPointWeights {
    numerators: [u16; 2],
}

/// The weights' common denominator is `2^BITS`.
const BITS: u32 = 7;

impl FixedPointWeights {
    /// `None` when the weights are not such.
    pub(crate) fn new(weights: [f32; 2]) -> Option<Self> {
        let scaled = weights.map(|w| w * (1 << BITS) as f32);
        let whole = scaled.iter().all(|&w| (0.0..=(1 << BITS) as f32).contains(&w) && w.fract() == 0.0);
        (whole && scaled[0] + scaled[1] <= (1 << BITS) as f32)
            .then(|| Self { numerators: scaled.map(|w| w as u16) })
    }

    /// Blends, to the nearest integer, ties to even.
    pub(crate) fn blend(self, level: Level, a: &[u8], b: &[u8], out: &mut [u8]) {
        const BELOW_HALF: u16 = (1 << (BITS - 1)) - 1;
        let [wa, wb] = self.numerators;
        if self.numerators == [1 << (BITS - 1); 2] {
            mean(level, a, b, out);
            return;
        }
        level.vectorize(
            #[inline(always)]
            move || {
                let out = out;
                for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
                    let sum = u16::from(a) * wa + u16::from(b) * wb;
                    // One more for an odd quotient, so that ties go to even.
                    *out = ((sum + BELOW_HALF + ((sum >> BITS) & 1)) >> BITS) as u8;
                }
            },
        );
    }
}

/// `(a + b) / 2` to the nearest integer, ties to even, without leaving bytes: there is an instruction that rounds up.
fn mean(level: Level, a: &[u8], b: &[u8], out: &mut [u8]) {
    level.vectorize(
        #[inline(always)]
        move || {
            let out = out;
            for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
                let up = ((u16::from(a) + u16::from(b) + 1) >> 1) as u8;
                *out = up - ((a ^ b) & up & 1);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use mip_core::Sample;

    use super::*;
    use crate::SimdLevel;

    fn levels() -> [Level; 2] {
        [Level::new(SimdLevel::Portable), Level::new(SimdLevel::Native)]
    }

    #[test]
    fn thresholds_are_those_of_the_definition() {
        let bytes: Vec<u8> = (0..=255).collect();
        let around = (-2..=514).map(|i| i as f32 * 0.5).flat_map(|v| [v, v.next_up(), v.next_down()]);
        for limit in around.chain([f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e9, -1e9]) {
            for level in levels() {
                let mut out = vec![7; 256];
                threshold(level, &bytes, limit, 200, &mut out);
                for (&byte, &out) in bytes.iter().zip(&out) {
                    assert_eq!(out, if f32::from(byte) > limit { 200 } else { 0 }, "{byte} > {limit}");
                }
            }
        }
    }

    #[test]
    fn shares_blend_as_binary32_does() {
        for wa in 0..=128_u16 {
            for wb in [0, 1, 2, 63, 64, 128 - wa] {
                if wa + wb > 128 {
                    continue;
                }
                let weights = [wa, wb].map(|w| f32::from(w) / 128.0);
                let fixed = FixedPointWeights::new(weights).expect("fixed-point weights");
                for a in 0..=255_u8 {
                    let (a, b): (Vec<u8>, Vec<u8>) = (vec![a; 256], (0..=255).collect());
                    let mut out = vec![0; 256];
                    fixed.blend(levels()[usize::from(a[0] % 2)], &a, &b, &mut out);
                    for (b, &out) in b.iter().zip(&out) {
                        let exact = f32::from(*b).mul_add(weights[1], f32::from(a[0]) * weights[0]);
                        assert_eq!(out, u8::from_f32(exact), "{} and {b} with {weights:?}", a[0]);
                    }
                }
            }
        }
    }

    #[test]
    fn other_weights_are_left_to_binary32() {
        for weights in [[0.3, 0.7], [0.75, 0.5], [-0.5, 0.5], [f32::NAN, 0.5], [0.5, 0.501], [1.5, 0.0]] {
            assert_eq!(FixedPointWeights::new(weights), None, "{weights:?}");
        }
    }
}
