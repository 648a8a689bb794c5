//! Luma of bytes, the hot path of [`mip_plan::Op::Luma`].

use std::ops::Range;

use mip_core::{ImageDesc, Layout};

use super::row::RowMut;
use super::{Job, RowKernel};
use crate::simd::{Block, Level, LumaTable, Pixel, THOUSANDTH, THOUSANDTH_REST, Vector, chunks, chunks_mut};

/// Bytes of any colour format to gray.
#[derive(Debug)]
pub(crate) struct Gray {
    layout: Layout,
    step: usize,
    rgb: [usize; 3],
    table: LumaTable,
}

impl Gray {
    /// With the indices of red, green and blue.
    pub(crate) fn new(input: &ImageDesc, rgb: [usize; 3]) -> Self {
        let table = LumaTable::new(input.channels(), rgb);
        Self { layout: input.layout(), step: input.channels(), rgb, table }
    }
}

impl RowKernel for Gray {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        let (row, out) = (job.own(0), out.plane::<u8>(0));
        if self.layout == Layout::Chw {
            let planes = self.rgb.map(|p| row.plane(p));
            let width = out.len();
            job.level.drive(Planar { planes, out }, width);
            return;
        }
        let src = row.plane::<u8>(0);
        let done = self.blocks(job.level, src, out);
        let [r, g, b] = self.rgb;
        for range in [0..done.start, done.end..out.len()] {
            let src = &src[range.start * self.step..range.end * self.step];
            let pixels = src.chunks_exact(self.step).zip(&mut out[range]);
            pixels.for_each(|(p, out)| *out = u8::luma(p[r], p[g], p[b]));
        }
    }
}

impl Gray {
    /// Computes blocks of pixels with instructions made for them; which pixels that were.
    fn blocks(&self, level: Level, src: &[u8], out: &mut [u8]) -> Range<usize> {
        match (level, self.step) {
            #[cfg(target_arch = "x86_64")]
            (Level::Avx2(v3), 3) => crate::simd::luma_avx2::<3>(v3, &self.table, src, out),
            #[cfg(target_arch = "x86_64")]
            (Level::Avx2(v3), 4) => crate::simd::luma_avx2::<4>(v3, &self.table, src, out),
            _ => 0..0,
        }
    }
}

struct Planar<'a> {
    planes: [&'a [u8]; 3],
    out: &'a mut [u8],
}

impl Block for Planar<'_> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let [r, g, b] = self.planes;
        let (r, g, b) = (chunks(r, range.clone()), chunks(g, range.clone()), chunks(b, range.clone()));
        for (((out, r), g), b) in chunks_mut(self.out, range).iter_mut().zip(r).zip(g).zip(b) {
            // Integers below 2^24: exact.
            let n = v.mul(v.splat(299.0), v.load_u8(r));
            let n = v.fma(v.splat(587.0), v.load_u8(g), n);
            let n = v.fma(v.splat(114.0), v.load_u8(b), n);
            let luma = v.fma(n, v.splat(THOUSANDTH), v.mul(n, v.splat(THOUSANDTH_REST)));
            v.store_u8(luma, out);
        }
    }
}
