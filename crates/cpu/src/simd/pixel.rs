use mip_core::{Sample, f16};

use super::{Vector, split};

/// A dtype that blocks of lanes can be loaded from and stored to.
pub(crate) trait Pixel: Sample {
    /// Widened samples.
    fn load<const N: usize, V: Vector<N>>(v: V, src: &[Self; N]) -> V::F;
    /// Widened `a + b`; exact for integers, one rounding for f32.
    fn pair<const N: usize, V: Vector<N>>(v: V, a: &[Self; N], b: &[Self; N]) -> V::F;
    /// Quantises.
    fn store<const N: usize, V: Vector<N>>(v: V, value: V::F, dst: &mut [Self; N]);
    /// The channels of interleaved samples, each on its own, widened.
    #[inline(always)]
    fn split<const N: usize, V: Vector<N>, const C: usize>(v: V, src: &[[Self; C]; N]) -> [V::F; C] {
        split(v, src)
    }
    /// Luma as [`mip_plan::Point::convert`] defines it.
    fn luma(r: Self, g: Self, b: Self) -> Self;
}

impl Pixel for u8 {
    #[inline(always)]
    fn split<const N: usize, V: Vector<N>, const C: usize>(v: V, src: &[[Self; C]; N]) -> [V::F; C] {
        v.split_u8(src)
    }

    #[inline(always)]
    fn load<const N: usize, V: Vector<N>>(v: V, src: &[Self; N]) -> V::F {
        v.load_u8(src)
    }

    #[inline(always)]
    fn pair<const N: usize, V: Vector<N>>(v: V, a: &[Self; N], b: &[Self; N]) -> V::F {
        v.pair_u8(a, b)
    }

    #[inline(always)]
    fn store<const N: usize, V: Vector<N>>(v: V, value: V::F, dst: &mut [Self; N]) {
        v.store_u8(value, dst);
    }

    #[inline(always)]
    fn luma(r: Self, g: Self, b: Self) -> Self {
        let n = 299 * i32::from(r) + 587 * i32::from(g) + 114 * i32::from(b);
        Self::from_f32(thousandth(n as f32))
    }
}

/// `n / 1000` in binary32, correctly rounded for integers `0..=255000`: the reciprocal as a sum of two
/// numbers, at the price of two instructions instead of a division. Tests run over every `n`.
#[inline(always)]
pub(crate) fn thousandth(n: f32) -> f32 {
    n.mul_add(THOUSANDTH, n * THOUSANDTH_REST)
}

/// 1/1000 rounded to binary32.
pub(crate) const THOUSANDTH: f32 = 0.001;
/// What [`THOUSANDTH`] lacks.
pub(crate) const THOUSANDTH_REST: f32 = (0.001 - THOUSANDTH as f64) as f32;

impl Pixel for u16 {
    #[inline(always)]
    fn load<const N: usize, V: Vector<N>>(v: V, src: &[Self; N]) -> V::F {
        v.load_u16(src)
    }

    #[inline(always)]
    fn pair<const N: usize, V: Vector<N>>(v: V, a: &[Self; N], b: &[Self; N]) -> V::F {
        v.add(v.load_u16(a), v.load_u16(b))
    }

    #[inline(always)]
    fn store<const N: usize, V: Vector<N>>(v: V, value: V::F, dst: &mut [Self; N]) {
        v.store_u16(value, dst);
    }

    #[inline(always)]
    fn luma(r: Self, g: Self, b: Self) -> Self {
        let n = 299 * u32::from(r) + 587 * u32::from(g) + 114 * u32::from(b);
        let (q, rest) = (n / 1000, n % 1000);
        // Up when above the middle, or on it with an odd quotient.
        (q + u32::from(rest + (q & 1) > 500)) as Self
    }
}

/// For types without instructions of their own: their conversions have no branches, so that the compiler makes vector
/// code of these loops.
macro_rules! by_conversion {
    ($sample:ty, $luma:expr) => {
        impl Pixel for $sample {
            #[inline(always)]
            fn load<const N: usize, V: Vector<N>>(v: V, src: &[Self; N]) -> V::F {
                let mut wide = [0.0; N];
                wide.iter_mut().zip(src).for_each(|(wide, &sample)| *wide = Sample::to_f32(sample));
                v.load_f32(&wide)
            }

            #[inline(always)]
            fn pair<const N: usize, V: Vector<N>>(v: V, a: &[Self; N], b: &[Self; N]) -> V::F {
                v.add(Self::load(v, a), Self::load(v, b))
            }

            #[inline(always)]
            fn store<const N: usize, V: Vector<N>>(v: V, value: V::F, dst: &mut [Self; N]) {
                let mut wide = [0.0; N];
                v.store_f32(value, &mut wide);
                dst.iter_mut().zip(wide).for_each(|(dst, value)| *dst = Sample::from_f32(value));
            }

            #[inline(always)]
            fn luma(r: Self, g: Self, b: Self) -> Self {
                let [r, g, b] = [r, g, b].map(Sample::to_f32);
                Sample::from_f32($luma(r, g, b))
            }
        }
    };
}
by_conversion!(i16, mip_plan::luma);
by_conversion!(i32, mip_plan::luma);
by_conversion!(f16, f32::luma);

impl Pixel for f32 {
    #[inline(always)]
    fn load<const N: usize, V: Vector<N>>(v: V, src: &[Self; N]) -> V::F {
        v.load_f32(src)
    }

    #[inline(always)]
    fn pair<const N: usize, V: Vector<N>>(v: V, a: &[Self; N], b: &[Self; N]) -> V::F {
        v.add(v.load_f32(a), v.load_f32(b))
    }

    #[inline(always)]
    fn store<const N: usize, V: Vector<N>>(v: V, value: V::F, dst: &mut [Self; N]) {
        v.store_f32(value, dst);
    }

    #[inline(always)]
    fn luma(r: Self, g: Self, b: Self) -> Self {
        b.mul_add(0.114, g.mul_add(0.587, 0.299 * r))
    }
}
