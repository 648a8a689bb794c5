use mip_core::Sample;

use super::{Vector, split};

/// One register of every baseline (SSE2, NEON); more would only multiply the code.
const N: usize = 4;

/// Four lanes as a plain array; the compiler makes of it what the target's baseline offers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

// Plain loops rather than iterators and `array::from_fn`: these few lines are compiled hundreds of times.

#[inline(always)]
fn each(f: impl Fn(usize) -> f32) -> [f32; N] {
    let mut out = [0.0; N];
    let mut i = 0;
    while i < N {
        out[i] = f(i);
        i += 1;
    }
    out
}

#[inline(always)]
fn load<T: Sample>(src: &[T; N]) -> [f32; N] {
    each(|i| src[i].to_f32())
}

#[inline(always)]
fn store<T: Sample>(value: [f32; N], dst: &mut [T; N]) {
    let mut i = 0;
    while i < N {
        dst[i] = T::from_f32(value[i]);
        i += 1;
    }
}

impl Vector<N> for Portable {
    type F = [f32; N];

    #[inline(always)]
    fn splat(self, value: f32) -> Self::F {
        [value; N]
    }

    #[inline(always)]
    fn add(self, a: Self::F, b: Self::F) -> Self::F {
        each(|i| a[i] + b[i])
    }

    #[inline(always)]
    fn sub(self, a: Self::F, b: Self::F) -> Self::F {
        each(|i| a[i] - b[i])
    }

    #[inline(always)]
    fn mul(self, a: Self::F, b: Self::F) -> Self::F {
        each(|i| a[i] * b[i])
    }

    #[inline(always)]
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        each(|i| a[i].mul_add(b[i], c[i]))
    }

    #[inline(always)]
    fn sqrt(self, a: Self::F) -> Self::F {
        each(|i| a[i].sqrt())
    }

    #[inline(always)]
    fn if_greater(self, a: Self::F, b: Self::F, then: Self::F) -> Self::F {
        each(|i| if a[i] > b[i] { then[i] } else { 0.0 })
    }

    #[inline(always)]
    fn load_u8(self, src: &[u8; N]) -> Self::F {
        load(src)
    }

    #[inline(always)]
    fn load_u16(self, src: &[u16; N]) -> Self::F {
        load(src)
    }

    #[inline(always)]
    fn load_f32(self, src: &[f32; N]) -> Self::F {
        load(src)
    }

    #[inline(always)]
    fn pair_u8(self, a: &[u8; N], b: &[u8; N]) -> Self::F {
        each(|i| f32::from(u16::from(a[i]) + u16::from(b[i])))
    }

    #[inline(always)]
    fn split_u8<const C: usize>(self, src: &[[u8; C]; N]) -> [Self::F; C] {
        split(self, src)
    }

    #[inline(always)]
    fn store_u8(self, value: Self::F, dst: &mut [u8; N]) {
        store(value, dst);
    }

    #[inline(always)]
    fn store_u16(self, value: Self::F, dst: &mut [u16; N]) {
        store(value, dst);
    }

    #[inline(always)]
    fn store_f32(self, value: Self::F, dst: &mut [f32; N]) {
        *dst = value;
    }
}
