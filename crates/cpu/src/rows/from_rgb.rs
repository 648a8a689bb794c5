//! Samples of YUV video of interleaved bytes, the hot path of [`mip_plan::Point::rgb_to_yuv`].

use std::ops::Range;

use mip_core::{ImageDesc, Layout, PixelFormat};
use mip_plan::YuvSample;

use super::merge::pick;
use super::row::{Row, RowMut};
use super::{Job, RowKernel};
use crate::simd::{Block, Vector, chunks, chunks_mut};

/// A sample of each pixel.
#[derive(Debug)]
pub(crate) struct FromRgb {
    sample: YuvSample,
    /// Where red, green and blue are in memory.
    order: [usize; 3],
}

/// Chroma of every two pixels, of one row or of two.
#[derive(Debug)]
pub(crate) struct SharedChroma {
    sample: YuvSample,
    order: [usize; 3],
    input: ImageDesc,
    /// Rows that share a sample, as a power of two.
    down: u32,
}

/// Red, green and blue in memory, of images that there are fast ways for.
pub(crate) fn order(input: &ImageDesc) -> Option<[usize; 3]> {
    let fits = matches!(input.format(), PixelFormat::Rgb | PixelFormat::Bgr) && input.layout() == Layout::Hwc;
    input.format().rgb_indices().filter(|_| fits && input.dtype() == mip_core::DType::U8)
}

impl FromRgb {
    pub(crate) const fn new(sample: YuvSample, order: [usize; 3]) -> Self {
        Self { sample, order }
    }
}

impl RowKernel for FromRgb {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        let (pixels, _) = job.own(0).plane::<u8>(0).as_chunks::<3>();
        let to = out.plane::<u8>(0);
        let len = to.len();
        job.level.drive(Each { sample: self.sample, order: self.order, pixels, to }, len);
    }
}

struct Each<'a> {
    sample: YuvSample,
    order: [usize; 3],
    pixels: &'a [[u8; 3]],
    to: &'a mut [u8],
}

impl Block for Each<'_> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let pixels = chunks::<_, N>(self.pixels, range.clone());
        for (to, pixels) in chunks_mut(self.to, range).iter_mut().zip(pixels) {
            let channels = v.split_u8(pixels);
            v.store_u8(sample(v, &self.sample, self.order.map(|c| channels[c])), to);
        }
    }
}

/// The definition, of red, green and blue.
#[inline(always)]
fn sample<const N: usize, V: Vector<N>>(v: V, sample: &YuvSample, [red, green, blue]: [V::F; 3]) -> V::F {
    match *sample {
        YuvSample::Luma { factors: [of_red, of_green, of_blue], offset } => {
            let blue = v.fma(blue, v.splat(of_blue), v.splat(offset));
            v.fma(red, v.splat(of_red), v.fma(green, v.splat(of_green), blue))
        }
        YuvSample::Chroma { is_u, by, middle } => {
            let [x, y, z] = if is_u { [blue, red, green] } else { [red, green, blue] };
            let rest = v.fma(v.sub(x, z), v.splat(by[1]), v.splat(middle));
            v.fma(v.sub(x, y), v.splat(by[0]), rest)
        }
    }
}

impl SharedChroma {
    pub(crate) fn new(sample: YuvSample, input: ImageDesc, down: u32) -> Option<Self> {
        Some(Self { sample, order: order(&input)?, input, down })
    }

    /// The rows that share the samples of an output row; where there is only one of two, twice that.
    fn rows<'a>(&self, job: &Job<'a>) -> [Row<'a>; 2] {
        let row = |k| job.tap(k).expect("rows inside the image");
        match (self.down > 0 && self.input.height() > 1, 2 * job.y + 1 < self.input.height()) {
            (false, _) => [row(0), row(0)],
            (true, true) => [row(0), row(1)],
            // The table of rows begins one row earlier, so as not to end outside.
            (true, false) => [row(1), row(1)],
        }
    }
}

impl RowKernel for SharedChroma {
    fn scratch_bytes(&self) -> usize {
        // One colour of a row or two, then three colours of each sample.
        let (width, samples) = (self.input.width() as usize, self.input.width().div_ceil(2) as usize);
        (2 * width).next_multiple_of(64) + 3 * 2 * samples
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let [above, below] = self.rows(job).map(|row| row.plane::<u8>(0));
        let width = self.input.width() as usize;
        let to = out.plane::<u8>(0);
        let samples = to.len();
        let (picked, colors) = scratch.split_at_mut((2 * width).next_multiple_of(64));
        let (first, second) = picked[..2 * width].split_at_mut(width);
        let colors: &mut [u16] = bytemuck::cast_slice_mut(&mut colors[..6 * samples]);
        for (sums, place) in colors.chunks_exact_mut(samples).zip(self.order) {
            pick(job.level, above, place, first);
            let second = (self.down > 0).then(|| {
                pick(job.level, below, place, second);
                &*second
            });
            let first = &*first;
            job.level.vectorize(
                #[inline(always)]
                move || add_up(first, second, sums),
            );
        }
        let (red, rest) = colors.split_at(samples);
        let (green, blue) = rest.split_at(samples);
        job.level.drive(Sums { sample: self.sample, colors: [red, green, blue], to }, samples);
    }
}

/// Sums of every two bytes of a row, or of every four of two rows; a single last byte counts twice.
#[inline(always)]
fn add_up(above: &[u8], below: Option<&[u8]>, sums: &mut [u16]) {
    // A pair is a word, so that a vector of pairs is added up in two instructions.
    let both = |pair: [u8; 2]| {
        let word = u16::from_le_bytes(pair);
        (word & 0xFF) + (word >> 8)
    };
    let ((above, single), sums) = (above.as_chunks::<2>(), sums);
    if let ([byte], [.., last]) = (single, &mut *sums) {
        *last = 2 * u16::from(*byte);
    }
    sums.iter_mut().zip(above).for_each(|(sum, pair)| *sum = both(*pair));
    let Some(below) = below else { return };
    let (below, single) = below.as_chunks::<2>();
    if let ([byte], [.., last]) = (single, &mut *sums) {
        *last += 2 * u16::from(*byte);
    }
    sums.iter_mut().zip(below).for_each(|(sum, pair)| *sum += both(*pair));
}

struct Sums<'a> {
    sample: YuvSample,
    colors: [&'a [u16]; 3],
    to: &'a mut [u8],
}

impl Block for Sums<'_> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let [red, green, blue] = self.colors.map(|color| chunks::<_, N>(color, range.clone()));
        let colors = red.iter().zip(green).zip(blue);
        for (to, ((red, green), blue)) in chunks_mut(self.to, range).iter_mut().zip(colors) {
            let colors = [v.load_u16(red), v.load_u16(green), v.load_u16(blue)];
            v.store_u8(sample(v, &self.sample, colors), to);
        }
    }
}
