//! A number taken apart into its binary exponent and significand, and powers of two: bit operations, exact for every number.
//! Elementary functions ([`super::Function`]) are made of them.

/// Makes every subnormal number a normal one.
const SCALE: f32 = 16_777_216.0;
const SCALE_EXPONENT: i32 = 24;

/// Bits of a significand behind the point.
const FRACTION_BITS: u32 = 23;
const BIAS: i32 = 127;

/// The bits of `|a|` and what its exponent is biased by, of subnormal numbers scaled to normal ones.
#[inline(always)]
fn normal(a: f32) -> (u32, i32) {
    let (a, subnormal) = (a.abs(), a.abs() < f32::MIN_POSITIVE);
    let scaled = if subnormal { a * SCALE } else { a };
    (scaled.to_bits(), if subnormal { BIAS + SCALE_EXPONENT } else { BIAS })
}

/// See [`super::Unary::Exponent`].
#[inline(always)]
pub(super) fn exponent(a: f32) -> f32 {
    let (bits, bias) = normal(a);
    let exponent = ((bits >> FRACTION_BITS) as i32 - bias) as f32;
    let finite = if a == 0.0 { f32::NEG_INFINITY } else { exponent };
    if a.abs() < f32::INFINITY { finite } else { a.abs() }
}

/// See [`super::Unary::Significand`].
#[inline(always)]
pub(super) fn significand(a: f32) -> f32 {
    let (bits, _) = normal(a);
    let fraction = bits & ((1 << FRACTION_BITS) - 1);
    let significand = f32::from_bits(fraction | (BIAS as u32) << FRACTION_BITS);
    if a.is_nan() { a } else { significand }
}

/// See [`super::Unary::PowerOfTwo`].
#[inline(always)]
pub(super) fn power_of_two(a: f32) -> f32 {
    /// Adding it rounds to a whole number.
    const ROUNDER: f32 = 12_582_912.0;
    let low = if a > -150.0 { a } else { -150.0 };
    let within = if low < 128.0 { low } else { 128.0 };
    let whole = ((within + ROUNDER) - ROUNDER) as i32;
    // Two factors: what is below the least normal number is rounded once, by their product.
    let power = |n: i32| f32::from_bits(((n + BIAS) as u32) << FRACTION_BITS);
    let power = power(whole.max(1 - BIAS)) * power((whole + BIAS - 1).min(0));
    if a.is_nan() { a } else { power }
}
