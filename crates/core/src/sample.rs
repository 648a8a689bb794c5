use bytemuck::Pod;
use half::f16;

use crate::DType;

/// A dtype with the two conversions that fix this project's numbers.
///
/// Every operator computes in binary32 and ends with exactly one [`Sample::from_f32`]; every backend
/// reproduces these two functions bit for bit. Sealed: backends know all there are.
pub trait Sample: sealed::Sealed + Pod + PartialOrd + Send + Sync + Default + std::fmt::Debug {
    /// The matching run-time tag.
    const DTYPE: DType;

    /// The exact value; of i32 the nearest binary32, ties to even, which is exact up to 2^24.
    fn to_f32(self) -> f32;

    /// Integers: the nearest, ties to even, saturated, NaN becomes 0. f16: the nearest, ties to even, infinite beyond
    /// its range, NaN stays NaN. f32: unchanged.
    fn from_f32(value: f32) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for u16 {}
    impl Sealed for i16 {}
    impl Sealed for i32 {}
    impl Sealed for half::f16 {}
    impl Sealed for f32 {}
}

impl DType {
    /// The value of a sample that was made from `value` by [`Sample::from_f32`].
    pub fn rounded(self, value: f32) -> f32 {
        match self {
            Self::U8 => u8::from_f32(value).to_f32(),
            Self::U16 => u16::from_f32(value).to_f32(),
            Self::I16 => i16::from_f32(value).to_f32(),
            Self::I32 => i32::from_f32(value).to_f32(),
            Self::F16 => Sample::to_f32(<f16 as Sample>::from_f32(value)),
            Self::F32 => value,
        }
    }
}

/// 2^23: adding it to a value in `[0, 2^22]` leaves no bit for a fraction, so the addition itself rounds to
/// nearest even; subtracting it again gives the integer. Two additions on any machine, no rounding instruction.
const ROUNDER: f32 = 8_388_608.0;

/// 2^112, the distance of the biases of binary32 and binary16.
const HALF_BIAS: f32 = f32::from_bits((127 + 112) << 23);

/// Nearest integer (ties to even) of `value` clamped to `[0, max]`; NaN gives 0. `max` is at most 65535.
#[inline(always)]
fn round_clamped(value: f32, max: f32) -> f32 {
    // Written as selects so that NaN fails both comparisons' "keep" side and ends at 0.
    let low = if value > 0.0 { value } else { 0.0 };
    let clamped = if low < max { low } else { max };
    (clamped + ROUNDER) - ROUNDER
}

impl Sample for u8 {
    const DTYPE: DType = DType::U8;

    #[inline(always)]
    fn to_f32(self) -> f32 {
        f32::from(self)
    }

    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        round_clamped(value, 255.0) as i32 as Self
    }
}

impl Sample for u16 {
    const DTYPE: DType = DType::U16;

    #[inline(always)]
    fn to_f32(self) -> f32 {
        f32::from(self)
    }

    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        round_clamped(value, 65535.0) as i32 as Self
    }
}

impl Sample for i16 {
    const DTYPE: DType = DType::I16;

    #[inline(always)]
    fn to_f32(self) -> f32 {
        f32::from(self)
    }

    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        // Selects as in `round_clamped`: NaN is on neither side and goes to 0 first.
        let number = if value.is_nan() { 0.0 } else { value };
        let low = if number > -32768.0 { number } else { -32768.0 };
        let clamped = if low < 32767.0 { low } else { 32767.0 };
        // One and a half times 2^23: both signs of the value leave the number's exponent alone.
        ((clamped + 1.5 * ROUNDER) - 1.5 * ROUNDER) as i32 as Self
    }
}

impl Sample for i32 {
    const DTYPE: DType = DType::I32;

    #[inline(always)]
    fn to_f32(self) -> f32 {
        self as f32
    }

    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        // Above 2^22 a binary32 has no more than the half of a unit; above 2^23 it is whole. The conversion saturates, and makes
        // 0 of NaN.
        value.round_ties_even() as Self
    }
}

// Written without branches, so that loops over samples become vector instructions on every machine; tests compare
// them with those of `half`.
impl Sample for f16 {
    const DTYPE: DType = DType::F16;

    #[inline(always)]
    fn to_f32(self) -> f32 {
        let bits = u32::from(self.to_bits());
        // Exponent and fraction moved to where binary32 has them; the product puts the bias right, exactly, for
        // subnormal numbers too.
        let moved = (bits & 0x7fff) << 13;
        let value = (f32::from_bits(moved) * HALF_BIAS).to_bits();
        let special = if moved >= 0x0f80_0000 { 0x7f80_0000 } else { 0 };
        f32::from_bits(value | special | (bits & 0x8000) << 16)
    }

    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        let sign = (value.to_bits() >> 16) & 0x8000;
        let size = value.to_bits() & 0x7fff_ffff;
        // Below 2^-14 the unit is 2^-24, that of a half: the addition rounds.
        let subnormal = (f32::from_bits(size) + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
        // The bias of the other format, and what rounds to nearest even when the last 13 bits are dropped; the carry
        // may make it infinite.
        let odd = (size >> 13) & 1;
        let normal = size.wrapping_add(0x0fff + odd).wrapping_sub(112 << 23) >> 13;
        let special = if size > 0x7f80_0000 { 0x7e00 } else { 0x7c00 };
        let finite = if size < 113 << 23 { subnormal } else { normal };
        let rounded = if size >= 143 << 23 { special } else { finite };
        Self::from_bits((rounded | sign) as u16)
    }
}

impl Sample for f32 {
    const DTYPE: DType = DType::F32;

    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }

    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_to_nearest_even_saturated_and_nan_is_zero() {
        let cases = [
            (0.5, 0),
            (1.5, 2),
            (2.5, 2),
            (254.5, 254),
            (254.500_02, 255),
            (255.4, 255),
            (1e9, 255),
            (-0.0, 0),
            (-3.0, 0),
            (f32::INFINITY, 255),
            (f32::NEG_INFINITY, 0),
            (f32::NAN, 0),
            (0.499_999_97, 0),
        ];
        for (value, expected) in cases {
            assert_eq!(u8::from_f32(value), expected, "{value}");
        }
        assert_eq!(u16::from_f32(65534.5), 65534);
        assert_eq!(u16::from_f32(1e9), 65535);
        assert_eq!(u16::from_f32(f32::NAN), 0);
    }

    #[test]
    fn signed_integers_round_to_nearest_even_saturate_and_turn_nan_into_zero() {
        let cases = [
            (-0.5, 0),
            (-1.5, -2),
            (-2.5, -2),
            (2.5, 2),
            (32766.5, 32766),
            (32767.4, 32767),
            (-32768.5, -32768),
            (1e9, 32767),
            (-1e9, -32768),
            (f32::NEG_INFINITY, -32768),
            (f32::NAN, 0),
        ];
        for (value, expected) in cases {
            assert_eq!(i16::from_f32(value), expected, "{value}");
        }
        for sample in i16::MIN..=i16::MAX {
            assert_eq!(i16::from_f32(sample.to_f32()), sample);
        }
    }

    #[test]
    fn halves_keep_every_value_and_round_to_nearest_even() {
        for bits in 0..=u16::MAX {
            let sample = f16::from_bits(bits);
            let wide = <f16 as Sample>::to_f32(sample);
            let back = <f16 as Sample>::from_f32(wide);
            assert!(
                back.to_bits() == bits || (sample.is_nan() && back.is_nan() && wide.is_nan()),
                "{bits:x}"
            );
        }
        let cases = [
            (1.0, 0x3c00),
            (65504.0, 0x7bff),
            (65519.99, 0x7bff),
            (65520.0, 0x7c00),
            (-1e9, 0xfc00),
            (2048.0 + 1.0, 0x6800),
            (2048.0 + 3.0, 0x6802),
            (2.0_f32.powi(-24), 1),
            (2.0_f32.powi(-25), 0),
            (2.0_f32.powi(-25) * 1.000_001, 1),
            (-0.0, 0x8000),
        ];
        for (value, bits) in cases {
            assert_eq!(<f16 as Sample>::from_f32(value).to_bits(), bits, "{value}");
        }
        assert!(<f16 as Sample>::from_f32(f32::NAN).is_nan());
        for bits in (0..=u32::MAX).step_by(997) {
            let (value, library) = (f32::from_bits(bits), f16::from_f32_const(f32::from_bits(bits)));
            let ours = <f16 as Sample>::from_f32(value);
            assert!(ours.to_bits() == library.to_bits() || (value.is_nan() && ours.is_nan()), "{value:e}");
        }
    }

    #[test]
    fn wide_integers_are_read_as_the_nearest_binary32_and_stored_to_the_nearest() {
        let read = [
            (1 << 24, 16_777_216.0),
            ((1 << 24) + 1, 16_777_216.0),
            ((1 << 24) + 3, 16_777_220.0),
            (i32::MAX, 2_147_483_648.0),
            (i32::MIN, -2_147_483_648.0),
            (-((1 << 24) + 1), -16_777_216.0),
        ];
        for (sample, expected) in read {
            assert_eq!(Sample::to_f32(sample), expected, "{sample}");
        }
        let stored = [
            (0.5, 0),
            (1.5, 2),
            (-2.5, -2),
            (8_388_607.5, 8_388_608),
            (16_777_217.0, 16_777_216),
            (2_147_483_520.0, 2_147_483_520),
            (2_147_483_648.0, i32::MAX),
            (-1e30, i32::MIN),
            (f32::INFINITY, i32::MAX),
            (f32::NAN, 0),
            (-0.0, 0),
        ];
        for (value, expected) in stored {
            assert_eq!(i32::from_f32(value), expected, "{value}");
        }
    }

    #[test]
    fn agrees_with_the_standard_library_on_a_dense_grid() {
        for i in -1000..300_000 {
            let v = i as f32 / 1000.0;
            assert_eq!(u8::from_f32(v), v.clamp(0.0, 255.0).round_ties_even() as u8, "{v}");
        }
    }
}
