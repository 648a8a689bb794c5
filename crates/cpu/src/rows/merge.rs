//! Gray images that become the channels of one: `merge`, and expressions that do the same.

use mip_core::{DType, ImageDesc, Layout, PixelFormat};
use mip_plan::{Channel, Offset, Op, Point, Results};

use super::row::RowMut;
use super::{Job, RowKernel};
use crate::simd::Level;
#[cfg(target_arch = "x86_64")]
use crate::simd::{interleave_avx2, pick_avx2};

/// Of bytes: for each of three interleaved channels the input that it is.
#[derive(Debug)]
pub(crate) struct Merge([usize; 3]);

impl Merge {
    /// `None` for everything else.
    pub(crate) fn new(kernel: &Point, inputs: &[ImageDesc], output: &ImageDesc) -> Option<Self> {
        let gray = |desc: &ImageDesc| (desc.format(), desc.dtype()) == (PixelFormat::Gray, DType::U8);
        let made = (output.channels(), output.dtype(), output.layout()) == (3, DType::U8, Layout::Hwc);
        if !made || !inputs.iter().all(gray) {
            return None;
        }
        let resolved = kernel.expr.resolve(inputs, output).ok()?;
        let Results::Channels(results) = resolved.results() else { return None };
        let slot = |result: &u16| match resolved.ops()[usize::from(*result)] {
            Op::Input { slot, channel: Channel::Index(0), at: Offset::NONE } => Some(usize::from(slot)),
            _ => None,
        };
        let slots: Vec<usize> = results.iter().map(slot).collect::<Option<_>>()?;
        Some(Self(slots.try_into().ok()?))
    }
}

impl RowKernel for Merge {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        let planes = self.0.map(|slot| job.own(slot).plane::<u8>(0));
        interleave(job.level, planes, out.plane::<u8>(0));
    }
}

/// Bytes of three planes that take turns.
pub(super) fn interleave(level: Level, [a, b, c]: [&[u8]; 3], out: &mut [u8]) {
    let done = match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(v3) => interleave_avx2(v3, [a, b, c], out),
        Level::Portable => 0,
    };
    let rest = a[done..].iter().zip(b[done..].iter().zip(&c[done..]));
    for (out, (&a, (&b, &c))) in out[3 * done..].chunks_exact_mut(3).zip(rest) {
        out.copy_from_slice(&[a, b, c]);
    }
}

/// Pixels of three bytes, taken apart into planes as long as they are many.
pub(super) fn split(level: Level, src: &[u8], planes: [&mut [u8]; 3]) {
    for (channel, plane) in planes.into_iter().enumerate() {
        pick(level, src, channel, plane);
    }
}

/// One channel of pixels of three bytes.
pub(super) fn pick(level: Level, src: &[u8], channel: usize, out: &mut [u8]) {
    let done = match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(v3) => pick_avx2(v3, src, channel, out),
        Level::Portable => 0,
    };
    for (out, pixel) in out[done..].iter_mut().zip(src[3 * done..].chunks_exact(3)) {
        *out = pixel[channel];
    }
}
