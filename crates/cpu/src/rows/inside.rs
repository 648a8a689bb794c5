use std::marker::PhantomData;
use std::ops::Range;

use mip_core::ImageDesc;
use mip_plan::Point;

use super::row::RowMut;
use super::{Job, RowKernel};
use crate::simd::Pixel;

/// [`Point::inside`]: pixels are copied inside a rectangle and filled outside.
#[derive(Debug)]
pub(crate) struct Inside<T> {
    input: ImageDesc,
    output: ImageDesc,
    /// Where `left`, `right`, `top` and `bottom` are among the uniforms.
    edges: [usize; 4],
    /// Where the fill of each channel is, by its index in memory.
    fills: Vec<usize>,
    sample: PhantomData<T>,
}

impl<T: Pixel> Inside<T> {
    /// For a kernel that [`Point::is_inside`].
    pub(crate) fn new(input: ImageDesc, output: ImageDesc) -> Self {
        let kernel = Point::inside(output.format());
        let names = kernel.expr.uniforms();
        let place = |name: &str| names.iter().position(|n| n == name).unwrap_or_default();
        let mut fills = vec![place("fill"); output.channels()];
        if let Some([r, g, b]) = output.format().color_indices() {
            let channels = [(r, "fill_r"), (g, "fill_g"), (b, "fill_b"), (3, "fill_a")];
            channels.into_iter().take(fills.len()).for_each(|(index, name)| fills[index] = place(name));
        }
        let edges = ["left", "right", "top", "bottom"].map(place);
        Self { input, output, edges, fills, sample: PhantomData }
    }
}

/// The whole numbers `first <= i < end` of `0..count`.
fn inside(first: f32, end: f32, count: u32) -> Range<usize> {
    let below = |limit: f32| {
        let near = f64::from(limit).ceil().clamp(0.0, f64::from(count)) as u32;
        // Coordinates are compared as binary32 numbers, which only those up to 2^24 are.
        let rounded = 256 * u32::from(count > 1 << 24);
        let (low, high) = (near.saturating_sub(rounded), near.saturating_add(rounded).min(count));
        (low..high).find(|&i| i as f32 >= limit).unwrap_or(high) as usize
    };
    if first.is_nan() || end.is_nan() {
        return 0..0;
    }
    let (first, end) = (below(first), below(end));
    first..end.max(first)
}

/// Fills pixels of samples that lie side by side.
fn fill<T: Pixel>(out: &mut [T], pixel: &[T]) {
    match *pixel {
        [one] => out.fill(one),
        [first, ..] if pixel.iter().all(|&sample| sample == first) => out.fill(first),
        _ => out.chunks_exact_mut(pixel.len()).for_each(|out| out.copy_from_slice(pixel)),
    }
}

impl<T: Pixel + PartialEq> RowKernel for Inside<T> {
    fn compute(&self, job: &Job<'_>, _: &mut [u8], out: &mut RowMut<'_>) {
        let [left, right, top, bottom] = self.edges.map(|edge| job.uniforms[edge]);
        let (width, y) = (self.output.width(), job.y as f32);
        let columns = if y >= top && y < bottom { inside(left, right, width) } else { 0..0 };
        let (row, step) = (job.own(0), self.output.pixel_step());
        let samples = columns.start * step..columns.end * step;
        let mut pixel = [T::default(); 4];
        for (sample, &fill) in pixel.iter_mut().zip(&self.fills) {
            *sample = T::from_f32(job.uniforms[fill]);
        }
        for plane in 0..self.output.planes() {
            let out = out.plane::<T>(plane);
            let pixel = if step == 1 { &pixel[plane..=plane] } else { &pixel[..step] };
            fill(&mut out[..samples.start], pixel);
            fill(&mut out[samples.end..], pixel);
            if samples.is_empty() {
                continue;
            }
            if self.input.layout() == self.output.layout() {
                out[samples.clone()].copy_from_slice(&row.plane::<T>(plane)[samples.clone()]);
                continue;
            }
            for (channel, place) in (0..self.fills.len()).map(|c| (c, super::point::strided(&self.output, c)))
            {
                let (from, first, from_step) = super::point::strided(&self.input, channel);
                if place.0 == plane {
                    let values = row.plane::<T>(from)[first..].iter().step_by(from_step);
                    let samples = out[place.1..].iter_mut().step_by(place.2);
                    let pairs = samples.zip(values).skip(columns.start).take(columns.len());
                    pairs.for_each(|(sample, &value)| *sample = value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn edges_need_not_be_whole_and_may_lie_anywhere() {
        assert_eq!(inside(2.0, 5.0, 9), 2..5);
        assert_eq!(inside(1.5, 4.5, 9), 2..5);
        assert_eq!(inside(-3.0, 99.0, 9), 0..9);
        assert_eq!(inside(7.0, 3.0, 9), 7..7);
        assert_eq!(inside(f32::NAN, 3.0, 9), 0..0);
        assert_eq!(inside(f32::NEG_INFINITY, f32::INFINITY, 9), 0..9);
        let large = (1 << 24) + 1;
        assert_eq!(
            inside(16_777_216.0, 3e7, large + 8).start,
            1 << 24,
            "and its neighbour, which is rounded to it"
        );
    }
}
