//! Vector arithmetic without `unsafe`: one trait of operations on a block of lanes, implemented for plain
//! arrays and for AVX2 with FMA, and the loop that drives a block of work over a row.
//!
//! Every implementation gives the same bits: additions, products, fused multiply-add, division and square
//! root are the correctly rounded IEEE operations, and quantisation is [`mip_core::Sample::from_f32`].

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod blur;
mod luma;
mod one;
mod pixel;
mod portable;
#[cfg(target_arch = "x86_64")]
mod resample;
#[cfg(target_arch = "x86_64")]
mod shuffle;
#[cfg(target_arch = "x86_64")]
mod sobel;
#[cfg(target_arch = "x86_64")]
mod three_to_two;
#[cfg(target_arch = "x86_64")]
mod transpose;
#[cfg(target_arch = "x86_64")]
mod two_to_one;
mod whole;

#[cfg(target_arch = "x86_64")]
pub(crate) use blur::{BLURS_TOGETHER, MAX_TOGETHER, blur_columns_avx2, blur_four_avx2, blur_row_avx2};
pub(crate) use luma::LumaTable;
#[cfg(target_arch = "x86_64")]
pub(crate) use luma::luma_avx2;
pub(crate) use one::One;
pub(crate) use pixel::{Pixel, THOUSANDTH, THOUSANDTH_REST};
pub(crate) use portable::Portable;
#[cfg(target_arch = "x86_64")]
pub(crate) use resample::{pairs_avx2, sums_avx2};
#[cfg(target_arch = "x86_64")]
pub(crate) use shuffle::{Shuffle, interleave_avx2, mirror_avx2, pick_avx2};
#[cfg(target_arch = "x86_64")]
pub(crate) use sobel::gradient_avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use three_to_two::three_to_two_avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use transpose::{SIDE, TRIPLES, transpose_bytes_avx2, transpose_triples_avx2};
#[cfg(target_arch = "x86_64")]
pub(crate) use two_to_one::two_to_one_avx2;
pub(crate) use whole::{Integer, Ordered, WithOrdered, integers, sum_of_products};

use std::ops::Range;

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
    fn run<const N: usize, V: Vector<N>>(self, v: V);
}

/// Work on the samples of a row that does not depend on its neighbours' results.
pub(crate) trait Block {
    /// Whether the same samples may be computed twice, which lets the last block overlap its neighbour. False
    /// for work that reads what it writes.
    const OVERLAP: bool = true;

    /// Computes the samples `range`, whose length is a multiple of `N` and not 0.
    ///
    /// Loops over [`chunks`] of equal length, so that the compiler drops the bounds checks.
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>);
}

/// Operations on `N` lanes of binary32.
pub(crate) trait Vector<const N: usize>: Copy {
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

    fn load_u8(self, src: &[u8; N]) -> Self::F;
    fn load_u16(self, src: &[u16; N]) -> Self::F;
    fn load_f32(self, src: &[f32; N]) -> Self::F;
    /// `a + b` of samples; exact.
    fn pair_u8(self, a: &[u8; N], b: &[u8; N]) -> Self::F;
    /// The channels of interleaved bytes, each on its own.
    fn split_u8<const C: usize>(self, src: &[[u8; C]; N]) -> [Self::F; C];
    /// Quantises and stores.
    fn store_u8(self, value: Self::F, dst: &mut [u8; N]);
    /// Quantises and stores.
    fn store_u16(self, value: Self::F, dst: &mut [u16; N]);
    fn store_f32(self, value: Self::F, dst: &mut [f32; N]);
}

/// Blocks of a row: one column to the left, at the columns themselves, one to the right.
pub(crate) type Three<'a, T, const N: usize> = [&'a [T; N]; 3];

/// Gradient magnitude as [`mip_plan::Stencil::sobel`] defines it.
#[inline(always)]
pub(crate) fn gradient<const N: usize, V: Vector<N>, T: Pixel>(
    v: V,
    above: Three<'_, T, N>,
    here: Three<'_, T, N>,
    below: Three<'_, T, N>,
) -> V::F {
    let two = v.splat(2.0);
    let [d_above, d_here, d_below] = [
        v.sub(T::load(v, above[2]), T::load(v, above[0])),
        v.sub(T::load(v, here[2]), T::load(v, here[0])),
        v.sub(T::load(v, below[2]), T::load(v, below[0])),
    ];
    let gx = v.fma(two, d_here, v.add(d_above, d_below));
    let s_above = v.fma(two, T::load(v, above[1]), T::pair(v, above[0], above[2]));
    let s_below = v.fma(two, T::load(v, below[1]), T::pair(v, below[0], below[2]));
    let gy = v.sub(s_below, s_above);
    v.sqrt(v.fma(gx, gx, v.mul(gy, gy)))
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
    ///
    /// Closures here and in the kernels of AVX2 take what they write to by value (`let out = out`), so that they can
    /// be called only once. Only for such closures is `#[inline(always)]` a promise: around the body of any other
    /// the compiler puts a function of its own, which it may leave out of line and without the instructions.
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
            fn run<const N: usize, V: Vector<N>>(mut self, v: V) {
                drive(v, &mut self.0, 0..self.1);
            }
        }
        self.with(Drive(block, len));
    }
}

/// Runs a block over a range of any length.
#[inline(always)]
pub(crate) fn drive<const N: usize, V: Vector<N>, B: Block>(v: V, block: &mut B, range: Range<usize>) {
    let Range { start, end } = range;
    let full = end - (end - start) % N;
    if start < full {
        block.blocks(v, start..full);
    }
    if full < end {
        if B::OVERLAP && end - start >= N {
            block.blocks(v, end - N..end);
        } else {
            block.blocks(One, full..end);
        }
    }
}

/// The channels of interleaved samples, each on its own.
#[inline(always)]
fn split<const N: usize, V: Vector<N>, T: Pixel, const C: usize>(v: V, src: &[[T; C]; N]) -> [V::F; C] {
    let mut channels = [v.splat(0.0); C];
    for (c, channel) in channels.iter_mut().enumerate() {
        let mut samples = [T::default(); N];
        for (sample, pixel) in samples.iter_mut().zip(src) {
            *sample = pixel[c];
        }
        *channel = T::load(v, &samples);
    }
    channels
}

/// The samples `range` in blocks.
#[inline(always)]
pub(crate) fn chunks<T, const N: usize>(src: &[T], range: Range<usize>) -> &[[T; N]] {
    src[range].as_chunks().0
}

/// The samples `range` in writable blocks.
#[inline(always)]
pub(crate) fn chunks_mut<T, const N: usize>(dst: &mut [T], range: Range<usize>) -> &mut [[T; N]] {
    dst[range].as_chunks_mut().0
}

#[cfg(test)]
mod tests;
