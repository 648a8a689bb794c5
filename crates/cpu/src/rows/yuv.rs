//! Colours of YUV video of bytes, the hot path of [`mip_plan::Point::yuv_to_rgb`].

use std::ops::Range;

use mip_core::{ImageDesc, Layout};
use mip_plan::YuvFactors;

use super::merge::interleave;
use super::row::RowMut;
use super::{Job, RowKernel};
use crate::simd::{Block, Vector, chunks, chunks_mut};

/// Three planes of bytes to red, green and blue.
#[derive(Debug)]
pub(crate) struct Yuv {
    factors: YuvFactors,
    output: ImageDesc,
    /// Where red, green and blue are in memory.
    order: [usize; 3],
}

impl Yuv {
    /// For an output of three channels.
    pub(crate) fn new(factors: YuvFactors, output: ImageDesc) -> Option<Self> {
        Some(Self { factors, output, order: output.format().rgb_indices()? })
    }
}

impl RowKernel for Yuv {
    fn scratch_bytes(&self) -> usize {
        // Colours in planes of their own, before they are interleaved.
        if self.output.layout() == Layout::Hwc { 3 * self.output.width() as usize } else { 0 }
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let samples = [0, 1, 2].map(|slot| job.own(slot).plane::<u8>(0));
        let (factors, width) = (&self.factors, self.output.width() as usize);
        if self.output.layout() == Layout::Chw {
            let mut planes = out.planes::<u8, 3>().map(Some);
            let to = self.order.map(|place| planes[place].take().unwrap_or_default());
            job.level.drive(Colors { factors, samples, to }, width);
            return;
        }
        let colors = &mut scratch[..3 * width];
        let (red, others) = colors.split_at_mut(width);
        let (green, blue) = others.split_at_mut(width);
        job.level.drive(Colors { factors, samples, to: [red, green, blue] }, width);
        let mut planes: [&[u8]; 3] = [&[]; 3];
        for (place, plane) in self.order.into_iter().zip(colors.chunks_exact(width)) {
            planes[place] = plane;
        }
        interleave(job.level, planes, out.plane::<u8>(0));
    }
}

/// Red, green and blue of a row.
struct Colors<'a> {
    factors: &'a YuvFactors,
    samples: [&'a [u8]; 3],
    to: [&'a mut [u8]; 3],
}

impl Block for Colors<'_> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let Self { factors, samples, to: [reds, greens, blues] } = self;
        let YuvFactors { luma, middle, red_v, green, blue_u } = factors;
        let [factor, offset] = luma.map(|number| v.splat(number));
        let [middle, red_v, blue_u] = [*middle, *red_v, *blue_u].map(|number| v.splat(number));
        let [by_u, by_v] = green.map(|number| v.splat(number));
        let [ys, us, vs] = samples.map(|samples| chunks(samples, range.clone()));
        let (reds, greens) = (chunks_mut(reds, range.clone()), chunks_mut(greens, range.clone()));
        let colors = reds.iter_mut().zip(greens).zip(chunks_mut(blues, range));
        for (((red, green), blue), (y, (u, chroma))) in colors.zip(ys.iter().zip(us.iter().zip(vs))) {
            let luma = v.fma(v.load_u8(y), factor, offset);
            let (u, chroma) = (v.sub(v.load_u8(u), middle), v.sub(v.load_u8(chroma), middle));
            v.store_u8(v.fma(chroma, red_v, luma), red);
            v.store_u8(v.fma(u, by_u, v.fma(chroma, by_v, luma)), green);
            v.store_u8(v.fma(u, blue_u, luma), blue);
        }
    }
}
