use mip_core::Sample;

use super::{Vector, split};

/// A single lane: tails of rows and rows shorter than a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct One;

impl Vector<1> for One {
    type F = f32;

    #[inline(always)]
    fn splat(self, value: f32) -> f32 {
        value
    }

    #[inline(always)]
    fn add(self, a: f32, b: f32) -> f32 {
        a + b
    }

    #[inline(always)]
    fn sub(self, a: f32, b: f32) -> f32 {
        a - b
    }

    #[inline(always)]
    fn mul(self, a: f32, b: f32) -> f32 {
        a * b
    }

    #[inline(always)]
    fn fma(self, a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }

    #[inline(always)]
    fn sqrt(self, a: f32) -> f32 {
        a.sqrt()
    }

    #[inline(always)]
    fn if_greater(self, a: f32, b: f32, then: f32) -> f32 {
        if a > b { then } else { 0.0 }
    }

    #[inline(always)]
    fn load_u8(self, src: &[u8; 1]) -> f32 {
        src[0].to_f32()
    }

    #[inline(always)]
    fn load_u16(self, src: &[u16; 1]) -> f32 {
        src[0].to_f32()
    }

    #[inline(always)]
    fn load_f32(self, src: &[f32; 1]) -> f32 {
        src[0]
    }

    #[inline(always)]
    fn pair_u8(self, a: &[u8; 1], b: &[u8; 1]) -> f32 {
        f32::from(u16::from(a[0]) + u16::from(b[0]))
    }

    #[inline(always)]
    fn split_u8<const C: usize>(self, src: &[[u8; C]; 1]) -> [Self::F; C] {
        split(self, src)
    }

    #[inline(always)]
    fn store_u8(self, value: f32, dst: &mut [u8; 1]) {
        dst[0] = Sample::from_f32(value);
    }

    #[inline(always)]
    fn store_u16(self, value: f32, dst: &mut [u16; 1]) {
        dst[0] = Sample::from_f32(value);
    }

    #[inline(always)]
    fn store_f32(self, value: f32, dst: &mut [f32; 1]) {
        dst[0] = value;
    }
}
