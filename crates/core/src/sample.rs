use bytemuck::Pod;

use crate::DType;

/// A dtype with the two conversions that fix this project's numbers.
///
/// Every operator computes in binary32 and ends with exactly one [`Sample::from_f32`]; every backend
/// reproduces these two functions bit for bit.
pub trait Sample: Pod + PartialOrd + Send + Sync + Default + std::fmt::Debug {
    /// The matching run-time tag.
    const DTYPE: DType;

    /// The exact value (u8 and u16 are integers below 2^24, so nothing is lost).
    fn to_f32(self) -> f32;

    /// u8/u16: nearest integer, ties to even, saturated, NaN becomes 0. f32: unchanged.
    fn from_f32(value: f32) -> Self;
}

/// 2^23: adding it to a value in `[0, 2^22]` leaves no bit for a fraction, so the addition itself rounds to
/// nearest even; subtracting it again gives the integer. Two additions on any machine, no rounding instruction.
const ROUNDER: f32 = 8_388_608.0;

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
    fn agrees_with_the_standard_library_on_a_dense_grid() {
        for i in -1000..300_000 {
            let v = i as f32 / 1000.0;
            assert_eq!(u8::from_f32(v), v.clamp(0.0, 255.0).round_ties_even() as u8, "{v}");
        }
    }
}
