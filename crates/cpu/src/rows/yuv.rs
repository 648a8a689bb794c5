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
            for (channel, place) in self.order.into_iter().enumerate() {
                let to = out.plane::<u8>(place);
                job.level.drive(Color { factors, samples, channel, to }, width);
            }
            return;
        }
        let colors = &mut scratch[..3 * width];
        for (channel, to) in colors.chunks_exact_mut(width).enumerate() {
            job.level.drive(Color { factors, samples, channel, to }, width);
        }
        let mut planes: [&[u8]; 3] = [&[]; 3];
        for (place, plane) in self.order.into_iter().zip(colors.chunks_exact(width)) {
            planes[place] = plane;
        }
        interleave(job.level, planes, out.plane::<u8>(0));
    }
}

/// One colour of a row.
struct Color<'a> {
    factors: &'a YuvFactors,
    samples: [&'a [u8]; 3],
    channel: usize,
    to: &'a mut [u8],
}

impl Block for Color<'_> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let Self { factors, samples: [y, us, vs], channel, to } = self;
        let YuvFactors { luma, middle, red_v, green, blue_u } = factors;
        let [factor, offset] = luma.map(|number| v.splat(number));
        let middle = v.splat(*middle);
        let (y, to) = (chunks(y, range.clone()), chunks_mut(to, range.clone()));
        let (us, vs) = (chunks(us, range.clone()), chunks(vs, range));
        match channel {
            0 | 2 => {
                let (chroma, by) = if *channel == 0 { (vs, *red_v) } else { (us, *blue_u) };
                let by = v.splat(by);
                for ((to, y), chroma) in to.iter_mut().zip(y).zip(chroma) {
                    let luma = v.fma(v.load_u8(y), factor, offset);
                    let chroma = v.sub(v.load_u8(chroma), middle);
                    v.store_u8(v.fma(chroma, by, luma), to);
                }
            }
            _ => {
                let [by_u, by_v] = green.map(|number| v.splat(number));
                for (((to, y), u_sample), v_sample) in to.iter_mut().zip(y).zip(us).zip(vs) {
                    let luma = v.fma(v.load_u8(y), factor, offset);
                    let of_v = v.fma(v.sub(v.load_u8(v_sample), middle), by_v, luma);
                    v.store_u8(v.fma(v.sub(v.load_u8(u_sample), middle), by_u, of_v), to);
                }
            }
        }
    }
}
