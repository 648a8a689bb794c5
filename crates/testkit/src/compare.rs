//! Does a result keep the numeric contract?
//!
//! * u8, u16, i16: the nearest integer to the exact value, ties to even, saturated, NaN 0. Where the exact value lies
//!   within [`tie_band`] of a tie, the integer on the other side of that tie is accepted as well.
//! * i32: the same; and where the exact value is so large that binary32 rounds it, what is within the bound of f32.
//! * f16: the nearest binary16, or another that is within its half unit and the bound of f32.
//! * f32: within [`F32_TOLERANCE`] times `max(1, |exact|)`; NaN for NaN, infinity for infinity or overflow.

use std::fmt;

use mip_core::{DType, ImageBuffer, f16};

use crate::Real;
use crate::real::round_to;

/// Allowed deviation of an f32 result, relative to the exact value, or absolute where that is below full scale
/// (1.0): some 80 units in the last place, which covers sums of a thousand products of values around 1.
pub const F32_TOLERANCE: f64 = 1e-5;

/// How near a tie an exact value must lie for either neighbour to be right: 1/128 for u8, 1/8 for u16, i16 and i32.
pub const fn tie_band(dtype: DType) -> f64 {
    match dtype {
        DType::U8 => 1.0 / 128.0,
        DType::U16 | DType::I16 | DType::I32 => 1.0 / 8.0,
        DType::F16 | DType::F32 => 0.0,
    }
}

/// Whether `got` is a right result of type `dtype` for the exact value.
pub fn accepts(got: f64, exact: f64, dtype: DType) -> bool {
    accepts_sum(got, exact, dtype, 1.0)
}

/// The same of a sum of terms whose magnitudes add up to `magnitude`, where a float's deviation is relative to that: the terms
/// may cancel.
fn accepts_sum(got: f64, exact: f64, dtype: DType, magnitude: f64) -> bool {
    match dtype {
        DType::I32 => {
            let near = F32_TOLERANCE * exact.abs().min(dtype.full_scale()).max(magnitude);
            nearest_integer(got, exact, dtype)
                || (exact.is_finite() && (got - round_to(exact, dtype)).abs() <= near)
        }
        DType::U8 | DType::U16 | DType::I16 => nearest_integer(got, exact, dtype),
        DType::F16 => {
            let nearest = round_to(exact, dtype);
            // Half a unit in the last place, which is 2^-24 for the smallest numbers.
            let half = exact.abs().max(f64::from(f16::MIN_POSITIVE)) * 2.0_f64.powi(-11);
            let near = half + F32_TOLERANCE * exact.abs().max(magnitude);
            let edge = (exact.abs() - 65520.0).abs() <= near;
            got == nearest
                || (got.is_nan() && nearest.is_nan())
                || (got.is_finite() && (got - exact).abs() <= near)
                || (edge && got.is_infinite() && got.signum() == exact.signum())
        }
        DType::F32 => {
            let nearest = f64::from(exact as f32);
            if nearest.is_finite() {
                (got - exact).abs() <= F32_TOLERANCE * exact.abs().max(magnitude)
            } else {
                got == nearest || (got.is_nan() && nearest.is_nan())
            }
        }
    }
}

/// Whether an integer is the nearest one, or that on the other side of a tie that is near.
fn nearest_integer(got: f64, exact: f64, dtype: DType) -> bool {
    let expected = round_to(exact, dtype);
    if got == expected {
        return true;
    }
    let tie = exact.floor() + 0.5;
    let other = if exact.floor() == expected { exact.ceil() } else { exact.floor() };
    (exact - tie).abs() <= tie_band(dtype) && got == round_to(other, dtype)
}

/// Samples that break the contract.
#[derive(Debug, Clone, PartialEq)]
pub struct Violations {
    /// The first ones, row by row.
    pub first: Vec<Violation>,
    /// How many there are.
    pub count: usize,
    /// Samples compared.
    pub samples: usize,
    /// Largest distance between result and expectation.
    pub largest: f64,
}

/// One sample that breaks the contract.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// Column.
    pub x: usize,
    /// Row.
    pub y: usize,
    /// Channel.
    pub channel: usize,
    /// The exact value.
    pub exact: f64,
    /// What the contract makes of it.
    pub expected: f64,
    /// The result.
    pub got: f64,
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} of {} samples wrong, by {} at most", self.count, self.samples, self.largest)?;
        for v in &self.first {
            let Violation { x, y, channel, exact, expected, got } = v;
            writeln!(f, "  x {x}, y {y}, channel {channel}: exact {exact}, expected {expected}, got {got}")?;
        }
        let left = self.count - self.first.len();
        if left > 0 { writeln!(f, "  and {left} more") } else { Ok(()) }
    }
}

/// Compares one image (the first of the batch) with the exact values; `dtype` is the type it should have.
///
/// # Errors
/// The samples that break the contract.
///
/// # Panics
/// When type or shape differ: that is no matter of numbers.
pub fn check_contract(actual: &ImageBuffer, exact: &Real, dtype: DType) -> Result<(), Box<Violations>> {
    check_sums(actual, exact, dtype, 1.0)
}

/// The same of sums of terms whose magnitudes add up to `magnitude`: what a float may deviate by is relative to that.
///
/// # Errors
/// As [`check_contract`].
///
/// # Panics
/// As [`check_contract`].
pub fn check_sums(
    actual: &ImageBuffer,
    exact: &Real,
    dtype: DType,
    magnitude: f64,
) -> Result<(), Box<Violations>> {
    let desc = actual.desc();
    assert_eq!(desc.dtype(), dtype, "dtype of the result {desc}");
    compare_with(
        &Real::from_buffer(actual),
        exact,
        |got, exact| accepts_sum(got, exact, dtype, magnitude),
        |exact| round_to(exact, dtype),
    )
}

/// Like [`check_contract`], for tests.
///
/// # Panics
/// With the list of violations.
#[track_caller]
pub fn assert_contract(actual: &ImageBuffer, exact: &Real, dtype: DType) {
    if let Err(violations) = check_contract(actual, exact, dtype) {
        panic!("{}: {violations}", actual.desc());
    }
}

/// Compares with another image's samples, allowing each to differ by `tolerance` in sample units.
///
/// # Errors
/// The samples that differ by more.
///
/// # Panics
/// When the shapes differ.
pub fn check_within(actual: &Real, expected: &Real, tolerance: f64) -> Result<(), Box<Violations>> {
    let near = |got: f64, expected: f64| got == expected || (got - expected).abs() <= tolerance;
    compare_with(actual, expected, near, |expected| expected)
}

fn compare_with(
    actual: &Real,
    exact: &Real,
    accepts: impl Fn(f64, f64) -> bool,
    expected: impl Fn(f64) -> f64,
) -> Result<(), Box<Violations>> {
    const SHOWN: usize = 8;
    let shape = |r: &Real| (r.width, r.height, r.channels);
    assert_eq!(shape(actual), shape(exact), "width, height, channels of the result");
    let mut found = Violations { first: vec![], count: 0, samples: exact.data.len(), largest: 0.0 };
    for y in 0..exact.height {
        for x in 0..exact.width {
            for channel in 0..exact.channels {
                let (got, exact) = (actual.at(x, y, channel), exact.at(x, y, channel));
                if accepts(got, exact) {
                    continue;
                }
                let expected = expected(exact);
                found.count += 1;
                found.largest = found.largest.max((got - expected).abs());
                if found.first.len() < SHOWN {
                    found.first.push(Violation { x, y, channel, exact, expected, got });
                }
            }
        }
    }
    if found.count == 0 { Ok(()) } else { Err(Box::new(found)) }
}

/// Whether two images are the same to the byte, except that one NaN is as good as another: which one arithmetic gives depends on the
/// instruction chosen.
pub fn same_pixels(a: &ImageBuffer, b: &ImageBuffer) -> bool {
    let numbers = || {
        let (a, b) = (Real::from_buffer(a).data, Real::from_buffer(b).data);
        a.len() == b.len()
            && a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
    };
    a == b || a.desc() == b.desc() && a.desc().dtype().is_float() && numbers()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mip_core::{ImageDesc, PixelFormat};

    #[test]
    fn integers_must_be_nearest_but_near_a_tie_either_will_do() {
        let u8 = |got, exact| accepts(got, exact, DType::U8);
        assert!(u8(3.0, 3.4) && !u8(4.0, 3.4) && !u8(2.0, 3.4));
        assert!(u8(4.0, 3.6) && !u8(3.0, 3.6));
        assert!(u8(4.0, 3.5) && u8(3.0, 3.5) && !u8(5.0, 3.5) && !u8(2.0, 3.5));
        assert!(u8(4.0, 3.5 - 0.007) && u8(3.0, 3.5 + 0.007));
        assert!(!u8(4.0, 3.5 - 0.008) && !u8(3.0, 3.5 + 0.008));
        assert!(u8(2.0, 2.5) && u8(3.0, 2.5) && !u8(1.0, 2.5));
        assert!(u8(7.0, 7.0) && !u8(8.0, 7.0));
    }

    #[test]
    fn wide_integers_have_a_wider_band() {
        let u16 = |got, exact| accepts(got, exact, DType::U16);
        assert!(u16(1001.0, 1000.38) && !u16(1001.0, 1000.37));
        assert!(u16(1000.0, 1000.62) && !u16(1000.0, 1000.63) && !u16(1002.0, 1001.2));
    }

    #[test]
    fn sums_are_rounded_as_binary32_is() {
        let i32 = |got, exact| accepts(got, exact, DType::I32);
        assert!(i32(1000.0, 1000.3) && !i32(1001.0, 1000.3) && !i32(999.0, 1000.0));
        assert!(i32(2_000_000_128.0, 2e9) && !i32(2_000_100_000.0, 2e9));
        assert!(i32(2_147_483_647.0, 1e30) && i32(-2_147_483_648.0, -1e30) && !i32(0.0, 1e30));
        assert!(i32(0.0, f64::NAN) && !i32(1.0, f64::NAN));
    }

    #[test]
    fn saturation_and_nan() {
        let u8 = |got, exact| accepts(got, exact, DType::U8);
        assert!(u8(255.0, 1e9) && !u8(254.0, 1e9) && u8(0.0, -5.0) && !u8(1.0, -5.0));
        assert!(u8(0.0, f64::NAN) && !u8(1.0, f64::NAN) && u8(255.0, f64::INFINITY));
        assert!(u8(255.0, 255.5) && !u8(254.0, 255.5) && u8(0.0, -0.5) && !u8(1.0, -0.5));
        assert!(u8(254.0, 254.5) && u8(255.0, 254.5));
    }

    #[test]
    fn floats_are_relative_above_one_and_absolute_below() {
        let f32 = |got, exact| accepts(got, exact, DType::F32);
        assert!(f32(1000.005, 1000.0) && !f32(1000.02, 1000.0));
        assert!(f32(0.000_005, 0.0) && !f32(0.000_02, 0.0));
        assert!(f32(f64::NAN, f64::NAN) && !f32(0.0, f64::NAN) && !f32(f64::NAN, 0.0));
        assert!(f32(f64::INFINITY, 1e300) && !f32(f64::INFINITY, 1e30) && !f32(1e30, f64::NEG_INFINITY));
    }

    #[test]
    fn a_single_wrong_sample_is_found_and_named() {
        let desc = ImageDesc::new(4, 3, PixelFormat::Rgb, DType::U8).unwrap();
        let exact = Real::from_fn(4, 3, 3, |x, y, c| (40 * c + 10 * y + x) as f64 + 0.25);
        let mut actual = exact.to_buffer(desc);
        assert_contract(&actual, &exact, DType::U8);
        actual.view_mut().row_mut(0, 0, 2)[3 + 1] += 1;
        let violations = check_contract(&actual, &exact, DType::U8).unwrap_err();
        let expected = Violation { x: 1, y: 2, channel: 1, exact: 61.25, expected: 61.0, got: 62.0 };
        assert_eq!((violations.count, &violations.first), (1, &vec![expected]));
        assert_eq!(
            violations.to_string(),
            "1 of 36 samples wrong, by 1 at most\n  x 1, y 2, channel 1: exact 61.25, expected 61, got 62\n"
        );
    }

    #[test]
    #[should_panic(expected = "36 of 36 samples wrong, by 9 at most")]
    fn the_assertion_fails_with_counts() {
        let desc = ImageDesc::new(4, 3, PixelFormat::Rgb, DType::U8).unwrap();
        assert_contract(&ImageBuffer::new(desc).unwrap(), &Real::from_fn(4, 3, 3, |_, _, _| 9.0), DType::U8);
    }

    #[test]
    #[should_panic(expected = "width, height, channels")]
    fn another_shape_is_no_result() {
        let desc = ImageDesc::new(4, 3, PixelFormat::Gray, DType::U8).unwrap();
        assert_contract(&ImageBuffer::new(desc).unwrap(), &Real::from_fn(3, 4, 1, |_, _, _| 0.0), DType::U8);
    }

    #[test]
    fn a_tolerance_is_a_limit_for_each_sample() {
        let a = Real::from_fn(3, 1, 1, |x, _, _| x as f64);
        let b = Real::from_fn(3, 1, 1, |x, _, _| [0.0, 2.0, 4.0][x]);
        assert_eq!(check_within(&a, &b, 1.0).unwrap_err().count, 1);
        assert!(check_within(&a, &b, 2.0).is_ok() && check_within(&a, &a, 0.0).is_ok());
        assert!(check_within(&a.map(|_| f64::NAN), &a, 2.0).is_err());
    }
}
