//! From blocks of numbers to samples of the result.

use mip_core::{DType, ImageDesc, Layout, f16};

use super::walk::Place;
use crate::rows::point::strided;
use crate::rows::row::RowMut;
#[cfg(target_arch = "x86_64")]
use crate::simd::interleave_avx2;
use crate::simd::{Level, Pixel, Vector, WithVector};

/// Numbers of the longest block that is taken apart into channels.
pub(super) const LONGEST: usize = 512;

/// Planes of a row and their places: pixels, or samples where all are alike.
pub(super) fn extent(output: &ImageDesc, flat: bool) -> [usize; 2] {
    if flat { [output.planes(), output.row_samples()] } else { [1, output.width() as usize] }
}

/// Writes the channels of a block, of which `narrow` makes samples; of a flat row there is one.
pub(super) fn put<T: Pixel>(
    level: Level,
    output: &ImageDesc,
    flat: bool,
    at: Place,
    out: &mut RowMut<'_>,
    narrow: &mut dyn FnMut(usize, &mut [T]),
) {
    let places = at.start..at.start + at.count;
    let channels = output.channels();
    if flat {
        return narrow(0, &mut out.plane::<T>(at.plane)[places]);
    }
    if output.layout() == Layout::Chw || channels == 1 {
        return (0..channels)
            .for_each(|c| narrow(c, &mut out.plane::<T>(strided(output, c).0)[places.clone()]));
    }
    let mut apart = [[T::default(); LONGEST]; 4];
    for (c, samples) in apart.iter_mut().take(channels).enumerate() {
        narrow(c, &mut samples[..at.count]);
    }
    let out = &mut out.plane::<T>(0)[channels * places.start..channels * places.end];
    let done = if channels == 3 { interleave(level, &apart, at.count, out) } else { 0 };
    for (c, samples) in apart.iter().take(channels).enumerate() {
        let out = out[done * channels..].iter_mut().skip(c).step_by(channels);
        out.zip(&samples[done..at.count]).for_each(|(out, &sample)| *out = sample);
    }
}

/// Three channels of bytes; how many pixels are done.
fn interleave<T: Pixel>(level: Level, apart: &[[T; LONGEST]; 4], count: usize, out: &mut [T]) -> usize {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(v3) if T::DTYPE == DType::U8 => {
            let plane = |c: usize| &bytemuck::cast_slice::<T, u8>(&apart[c])[..count];
            interleave_avx2(v3, [plane(0), plane(1), plane(2)], bytemuck::cast_slice_mut(out))
        }
        _ => 0,
    }
}

/// Writes blocks of binary32.
pub(super) fn floats(
    level: Level,
    output: &ImageDesc,
    flat: bool,
    at: Place,
    results: [&[f32]; 4],
    out: &mut RowMut<'_>,
) {
    macro_rules! of {
        ($T:ty) => {
            put::<$T>(level, output, flat, at, out, &mut |c, out| level.with(Store { from: results[c], out }))
        };
    }
    match output.dtype() {
        DType::U8 => of!(u8),
        DType::U16 => of!(u16),
        DType::I16 => of!(i16),
        DType::I32 => of!(i32),
        DType::F16 => of!(f16),
        DType::F32 => of!(f32),
    }
}

struct Store<'a, T> {
    from: &'a [f32],
    out: &'a mut [T],
}

impl<T: Pixel> WithVector for Store<'_, T> {
    #[inline(always)]
    fn run<const N: usize, V: Vector<N>>(self, v: V) {
        let Self { from, out } = self;
        let (blocks, rest) = from.as_chunks::<N>();
        let done = blocks.len() * N;
        for (to, from) in out.as_chunks_mut::<N>().0.iter_mut().zip(blocks) {
            T::store(v, f32::load(v, from), to);
        }
        out[done..].iter_mut().zip(rest).for_each(|(out, &value)| *out = T::from_f32(value));
    }
}
