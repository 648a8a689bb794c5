//! Long sums of [`mip_plan::Resample`], in binary64.

use mip_core::{ALIGNMENT, ImageDesc};
use mip_plan::AxisTaps;

use super::row::RowShape;
use crate::simd::{Level, Pixel};

/// Horizontal sums of pixels of `N` samples, each rounded to binary32 once.
#[inline(always)]
pub(crate) fn weigh_wide<I: Pixel, const N: usize>(table: &AxisTaps, src: &[I], out: &mut [f32]) {
    let (src, _) = src.as_chunks::<N>();
    let (out, _) = out.as_chunks_mut::<N>();
    for (o, (out, &start)) in out.iter_mut().zip(table.starts()).enumerate() {
        let weights = table.wide_weights(o);
        // As in binary32: `fma(w, p, -0)` is `w * p`.
        let mut sum = [-0.0_f64; N];
        for (pixel, &w) in src[start as usize..].iter().zip(weights) {
            if w == 0.0 {
                continue;
            }
            for c in 0..N {
                sum[c] = w.mul_add(f64::from(pixel[c].to_f32()), sum[c]);
            }
        }
        for c in 0..N {
            out[c] = sum[c] as f32;
        }
    }
}

/// How a row of binary64 sums lies in scratch memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WideRow {
    planes: usize,
    samples: usize,
}

impl WideRow {
    /// Columns whose sums stay in the nearest cache while rows are added to them.
    const COLUMNS: usize = 512;

    pub(crate) fn new(desc: &ImageDesc) -> Self {
        Self { planes: desc.planes(), samples: desc.row_samples() }
    }

    const fn stride(&self) -> usize {
        (self.samples * size_of::<f64>()).next_multiple_of(ALIGNMENT)
    }

    /// Bytes of all planes.
    pub(crate) const fn bytes(&self) -> usize {
        self.planes * self.stride()
    }

    /// Where the planes lie.
    pub(crate) const fn shape(&self) -> RowShape {
        RowShape { planes: self.planes, bytes: self.samples * size_of::<f64>(), stride: self.stride() }
    }

    /// The sums of a plane.
    pub(crate) fn plane<'a>(&self, scratch: &'a mut [u8], plane: usize) -> &'a mut [f64] {
        let bytes = self.samples * size_of::<f64>();
        bytemuck::cast_slice_mut(&mut scratch[plane * self.stride()..][..bytes])
    }

    /// Adds rows to the sums, or starts them.
    pub(crate) fn add(level: Level, rows: &[&[f32]], weights: &[f64], first: bool, acc: &mut [f64]) {
        level.vectorize(
            #[inline(always)]
            move || {
                let acc = acc;
                for (block, acc) in acc.chunks_mut(Self::COLUMNS).enumerate() {
                    if first {
                        acc.fill(-0.0);
                    }
                    for (row, &w) in rows.iter().zip(weights) {
                        let row = &row[block * Self::COLUMNS..][..acc.len()];
                        for (acc, &h) in acc.iter_mut().zip(row) {
                            *acc = w.mul_add(f64::from(h), *acc);
                        }
                    }
                }
            },
        );
    }

    /// Rounds the sums to binary32.
    pub(crate) fn round(acc: &[f64], sums: &mut [f32]) {
        for (sum, &acc) in sums.iter_mut().zip(acc) {
            *sum = acc as f32;
        }
    }
}
