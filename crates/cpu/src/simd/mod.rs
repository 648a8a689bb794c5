//! Vector arithmetic without `unsafe`: one trait of 16-lane operations, implemented for plain arrays and for
//! AVX2 with FMA, and the loop that drives a block of work over a row.
//!
//! Every implementation gives the same bits: additions, products, fused multiply-add, division and square
//! root are the correctly rounded IEEE operations, and quantisation is [`mip_core::Sample::from_f32`].

#[cfg(target_arch = "x86_64")]
mod avx2;
mod one;
mod pixel;
mod portable;

pub(crate) use one::One;
pub(crate) use pixel::Pixel;
pub(crate) use portable::Portable;

use crate::SimdLevel;

/// The instruction set chosen for a device.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Level {
    /// Plain Rust; what the target's baseline makes of it.
    Portable,
    /// AVX2 and FMA, found at run time.
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
}

/// A piece of work that is generic over the vector type.
pub(crate) trait WithVector {
    /// Does the work. Must be `#[inline(always)]` so that it is compiled with the vector's instructions.
    fn run<V: Vector>(self, v: V);
}

/// Work on a row, one block of [`Vector::LANES`] samples at a time.
pub(crate) trait Block {
    /// Whether the same samples may be computed twice, which lets the last block overlap its neighbour. False
    /// for work that reads what it writes.
    const OVERLAP: bool = true;

    /// Computes the samples `x .. x + LANES`.
    fn block<V: Vector>(&mut self, v: V, x: usize);
}

/// Operations on a block of binary32 lanes.
///
/// Slices given to loads and stores have at least [`Vector::LANES`] elements.
pub(crate) trait Vector: Copy {
    /// Samples in a block.
    const LANES: usize;
    /// A block of lanes.
    type F: Copy;

    fn splat(self, value: f32) -> Self::F;
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b + c`, rounded once.
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    fn sqrt(self, a: Self::F) -> Self::F;
    /// `a > b ? then : 0`, lane by lane; false for NaN.
    fn if_greater(self, a: Self::F, b: Self::F, then: Self::F) -> Self::F;

    fn load_u8(self, src: &[u8]) -> Self::F;
    fn load_u16(self, src: &[u16]) -> Self::F;
    fn load_f32(self, src: &[f32]) -> Self::F;
    /// `a + b` of samples; exact.
    fn pair_u8(self, a: &[u8], b: &[u8]) -> Self::F;
    /// Quantises and stores.
    fn store_u8(self, value: Self::F, dst: &mut [u8]);
    /// Quantises and stores.
    fn store_u16(self, value: Self::F, dst: &mut [u16]);
    fn store_f32(self, value: Self::F, dst: &mut [f32]);
}

impl Level {
    /// What this machine offers at the level asked for.
    pub(crate) fn new(level: SimdLevel) -> Self {
        match level {
            SimdLevel::Portable => Self::Portable,
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Native => pulp::x86::V3::try_new().map_or(Self::Portable, Self::Avx2),
            #[cfg(not(target_arch = "x86_64"))]
            SimdLevel::Native => Self::Portable,
        }
    }

    /// Name for descriptions of the device.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => "avx2",
        }
    }

    /// Compiles and runs `work` with this level's instructions.
    #[inline(always)]
    pub(crate) fn with<W: WithVector>(self, work: W) {
        match self {
            Self::Portable => work.run(Portable),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(v3) => v3.vectorize(
                #[inline(always)]
                || work.run(avx2::Avx2(v3)),
            ),
        }
    }

    /// Runs `work` with this level's instructions enabled, so that plain loops inside vectorise with them.
    #[inline(always)]
    pub(crate) fn vectorize<R>(self, work: impl FnOnce() -> R) -> R {
        match self {
            Self::Portable => work(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(v3) => v3.vectorize(work),
        }
    }

    /// Runs a block over `0..len`.
    #[inline(always)]
    pub(crate) fn drive<B: Block>(self, block: B, len: usize) {
        struct Drive<B>(B, usize);
        impl<B: Block> WithVector for Drive<B> {
            #[inline(always)]
            fn run<V: Vector>(mut self, v: V) {
                drive(v, &mut self.0, 0, self.1);
            }
        }
        self.with(Drive(block, len));
    }
}

/// Runs a block over `start..end`.
#[inline(always)]
pub(crate) fn drive<V: Vector, B: Block>(v: V, block: &mut B, start: usize, end: usize) {
    let mut x = start;
    while x + V::LANES <= end {
        block.block(v, x);
        x += V::LANES;
    }
    if x < end {
        if B::OVERLAP && end - start >= V::LANES {
            block.block(v, end - V::LANES);
        } else {
            while x < end {
                block.block(One, x);
                x += 1;
            }
        }
    }
}

/// `src[x .. x + LANES]`.
#[inline(always)]
pub(crate) fn at<V: Vector, T>(_: V, src: &[T], x: usize) -> &[T] {
    &src[x..x + V::LANES]
}

/// `dst[x .. x + LANES]`.
#[inline(always)]
pub(crate) fn at_mut<V: Vector, T>(_: V, dst: &mut [T], x: usize) -> &mut [T] {
    &mut dst[x..x + V::LANES]
}

#[cfg(test)]
mod tests;
