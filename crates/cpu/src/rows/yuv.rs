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
            let mut to = out.planes::<u8, 3>();
            // Red, green, blue or the other way round.
            if self.order[0] != 0 {
                to.reverse();
            }
            job.level.drive(Colors { factors, samples, to }, width);
            return;
        }
        let colors = &mut scratch[..3 * width];
        let (red, rest) = colors.split_at_mut(width);
        let (green, blue) = rest.split_at_mut(width);
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
        let Self { factors, samples: [y, us, vs], to: [red, green, blue] } = self;
        let YuvFactors { luma: [factor, offset], middle, red_v, green: [green_u, green_v], blue_u } =
            **factors;
        let (factor, offset, middle) = (v.splat(factor), v.splat(offset), v.splat(middle));
        let (red_v, blue_u) = (v.splat(red_v), v.splat(blue_u));
        let (green_u, green_v) = (v.splat(green_u), v.splat(green_v));
        let (red, green) = (chunks_mut(red, range.clone()), chunks_mut(green, range.clone()));
        let (blue, y) = (chunks_mut(blue, range.clone()), chunks(y, range.clone()));
        let (us, vs) = (chunks(us, range.clone()), chunks(vs, range));
        let colors = red.iter_mut().zip(green).zip(blue);
        for (((red, green), blue), ((y, of_u), of_v)) in colors.zip(y.iter().zip(us).zip(vs)) {
            let luma = v.fma(v.load_u8(y), factor, offset);
            let (of_u, of_v) = (v.sub(v.load_u8(of_u), middle), v.sub(v.load_u8(of_v), middle));
            v.store_u8(v.fma(of_v, red_v, luma), red);
            v.store_u8(v.fma(of_u, green_u, v.fma(of_v, green_v, luma)), green);
            v.store_u8(v.fma(of_u, blue_u, luma), blue);
        }
    }
}
