//! [`mip_plan::Resample`] of colours with alpha where weights may be negative: all of it in binary64.

use std::marker::PhantomData;

use mip_core::{DType, ImageDesc, Layout};
use mip_plan::{AxisTaps, Resample};

use super::row::RowMut;
use super::taps::Taps;
use super::wide_sums::WideRow;
use super::{Job, RowKernel};
use crate::simd::Pixel;

/// Channels of a pixel; the last one is alpha.
const CHANNELS: usize = 4;

/// Rows of binary64 sums, which take the place of twice as many columns of binary32.
pub(crate) fn sums_desc(output: &ImageDesc, height: u32) -> Option<ImageDesc> {
    output.with_size(output.width().checked_mul(2)?, height).ok()?.with_dtype(DType::F32).ok()
}

/// Horizontal sums of premultiplied pixels.
#[derive(Debug)]
pub(crate) struct Horizontal<T> {
    layout: Layout,
    taps: AxisTaps,
    sample: PhantomData<T>,
}

impl<T: Pixel> Horizontal<T> {
    pub(crate) fn new(input: &ImageDesc, taps: AxisTaps) -> Self {
        Self { layout: input.layout(), taps, sample: PhantomData }
    }
}

impl<T: Pixel> RowKernel for Horizontal<T> {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        let (row, taps) = (job.own(0), &self.taps);
        match self.layout {
            Layout::Hwc => {
                let (pixels, _) = row.plane::<T>(0).as_chunks::<CHANNELS>();
                let (out, _) = out.plane::<f64>(0).as_chunks_mut::<CHANNELS>();
                job.level.vectorize(
                    #[inline(always)]
                    move || {
                        for (o, out) in out.iter_mut().enumerate() {
                            *out = sum(taps, o, |i| pixels[i].map(|sample| f64::from(sample.to_f32())));
                        }
                    },
                );
            }
            Layout::Chw => {
                let planes: [&[T]; CHANNELS] = std::array::from_fn(|p| row.plane(p));
                let mut out = out.planes::<f64, CHANNELS>();
                for o in 0..taps.outputs() {
                    let sums = sum(taps, o, |i| planes.map(|plane| f64::from(plane[i].to_f32())));
                    out.iter_mut().zip(sums).for_each(|(out, sum)| out[o] = sum);
                }
            }
        }
    }
}

/// The sum of one output over its pixels, premultiplied. A tap of weight 0 is none.
#[inline(always)]
fn sum(taps: &AxisTaps, output: usize, pixel: impl Fn(usize) -> [f64; CHANNELS]) -> [f64; CHANNELS] {
    let start = taps.starts()[output] as usize;
    let mut sums = [-0.0_f64; CHANNELS];
    for (k, &weight) in taps.wide_weights(output).iter().enumerate() {
        if weight == 0.0 {
            continue;
        }
        let [r, g, b, alpha] = pixel(start + k);
        for (sum, value) in sums.iter_mut().zip([r * alpha, g * alpha, b * alpha, alpha]) {
            *sum = weight.mul_add(value, *sum);
        }
    }
    sums
}

/// Vertical sums, colours divided by alpha.
#[derive(Debug)]
pub(crate) struct Vertical<T> {
    taps: AxisTaps,
    output: ImageDesc,
    sums: WideRow,
    sample: PhantomData<T>,
}

impl<T: Pixel> Vertical<T> {
    pub(crate) fn new(output: ImageDesc, taps: AxisTaps) -> Self {
        Self { taps, output, sums: WideRow::new(&output), sample: PhantomData }
    }

    fn finish(&self, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let shape = self.sums.shape();
        let sums = shape.row(scratch);
        let clear = Resample::clear(T::DTYPE);
        match self.output.layout() {
            Layout::Hwc => {
                let (sums, _) = sums.plane::<f64>(0).as_chunks::<CHANNELS>();
                let (out, _) = out.plane::<T>(0).as_chunks_mut::<CHANNELS>();
                out.iter_mut()
                    .zip(sums)
                    .for_each(|(out, &sums)| *out = straight(sums, clear).map(T::from_f32));
            }
            Layout::Chw => {
                let sums: [&[f64]; CHANNELS] = std::array::from_fn(|p| sums.plane(p));
                let mut out = out.planes::<T, CHANNELS>();
                for x in 0..self.output.width() as usize {
                    let pixel = straight(sums.map(|plane| plane[x]), clear).map(T::from_f32);
                    out.iter_mut().zip(pixel).for_each(|(out, sample)| out[x] = sample);
                }
            }
        }
    }
}

/// Each rounded to binary32 once.
#[inline(always)]
fn straight([r, g, b, alpha]: [f64; CHANNELS], clear: f64) -> [f32; CHANNELS] {
    let color = |sum: f64| if alpha > clear { (sum / alpha) as f32 } else { 0.0 };
    [color(r), color(g), color(b), alpha as f32]
}

impl<T: Pixel> RowKernel for Vertical<T> {
    fn scratch_bytes(&self) -> usize {
        self.sums.bytes()
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let weights = self.taps.wide_weights(job.y as usize);
        let first = job.pass * Taps::RANGE;
        let count = (weights.len() - first).min(Taps::RANGE);
        for plane in 0..self.output.planes() {
            let acc = self.sums.plane(scratch, plane);
            job.level.vectorize(
                #[inline(always)]
                move || {
                    let acc = acc;
                    if first == 0 {
                        acc.fill(-0.0);
                    }
                    for (k, &weight) in weights[first..first + count].iter().enumerate() {
                        let Some(row) = job.tap(k).filter(|_| weight != 0.0) else { continue };
                        for (acc, &sum) in acc.iter_mut().zip(row.plane::<f64>(plane)) {
                            *acc = weight.mul_add(sum, *acc);
                        }
                    }
                },
            );
        }
        if first + count == weights.len() {
            self.finish(scratch, out);
        }
    }
}
