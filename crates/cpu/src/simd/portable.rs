use mip_core::Sample;

use super::Vector;

const N: usize = 16;

/// Sixteen lanes as a plain array; the compiler makes of it what the target's baseline offers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

#[inline(always)]
fn zip(a: [f32; N], b: [f32; N], f: impl Fn(f32, f32) -> f32) -> [f32; N] {
    std::array::from_fn(|i| f(a[i], b[i]))
}

#[inline(always)]
fn load<T: Sample>(src: &[T]) -> [f32; N] {
    let src = &src[..N];
    std::array::from_fn(|i| src[i].to_f32())
}

#[inline(always)]
fn store<T: Sample>(value: [f32; N], dst: &mut [T]) {
    for (d, v) in dst[..N].iter_mut().zip(value) {
        *d = T::from_f32(v);
    }
}

impl Vector for Portable {
    const LANES: usize = N;
    type F = [f32; N];

    #[inline(always)]
    fn splat(self, value: f32) -> Self::F {
        [value; N]
    }

    #[inline(always)]
    fn add(self, a: Self::F, b: Self::F) -> Self::F {
        zip(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, a: Self::F, b: Self::F) -> Self::F {
        zip(a, b, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, a: Self::F, b: Self::F) -> Self::F {
        zip(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        std::array::from_fn(|i| a[i].mul_add(b[i], c[i]))
    }

    #[inline(always)]
    fn sqrt(self, a: Self::F) -> Self::F {
        a.map(f32::sqrt)
    }

    #[inline(always)]
    fn if_greater(self, a: Self::F, b: Self::F, then: Self::F) -> Self::F {
        std::array::from_fn(|i| if a[i] > b[i] { then[i] } else { 0.0 })
    }

    #[inline(always)]
    fn load_u8(self, src: &[u8]) -> Self::F {
        load(src)
    }

    #[inline(always)]
    fn load_u16(self, src: &[u16]) -> Self::F {
        load(src)
    }

    #[inline(always)]
    fn load_f32(self, src: &[f32]) -> Self::F {
        load(src)
    }

    #[inline(always)]
    fn pair_u8(self, a: &[u8], b: &[u8]) -> Self::F {
        let (a, b) = (&a[..N], &b[..N]);
        std::array::from_fn(|i| f32::from(u16::from(a[i]) + u16::from(b[i])))
    }

    #[inline(always)]
    fn store_u8(self, value: Self::F, dst: &mut [u8]) {
        store(value, dst);
    }

    #[inline(always)]
    fn store_u16(self, value: Self::F, dst: &mut [u16]) {
        store(value, dst);
    }

    #[inline(always)]
    fn store_f32(self, value: Self::F, dst: &mut [f32]) {
        dst[..N].copy_from_slice(&value);
    }
}
