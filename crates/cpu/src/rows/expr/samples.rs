//! From samples to blocks of numbers.

use std::ops::Range;

use mip_core::{ImageDesc, Layout};
use mip_plan::Border;

use super::Around;
use super::walk::Reads;
use crate::simd::{Pixel, Vector, WithVector};

/// The value outside a constant border; only such a border has rows and columns outside.
pub(super) fn outside_of(around: Option<Around>) -> f32 {
    match around.map(|around| around.border) {
        Some(Border::Constant(value)) => value,
        Some(Border::Reflect101 | Border::Reflect | Border::Replicate | Border::Wrap) | None => {
            unreachable!("all other borders name a pixel")
        }
    }
}

/// Whether the channels of pixels lie beside each other and are wanted apart: `plane` is that of a flat row.
pub(super) fn is_interleaved(desc: &ImageDesc, plane: Option<usize>) -> bool {
    plane.is_none() && desc.layout() == Layout::Hwc && desc.channels() > 1
}

/// Places of a row, some perhaps outside.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    start: isize,
    count: usize,
    /// Places of a pixel, and pixels of the row.
    pixel: usize,
    width: u32,
    around: Option<Around>,
}

impl Source {
    pub(super) fn new(desc: &ImageDesc, reads: &Reads, start: isize, count: usize) -> Self {
        let pixel = if reads.flat { desc.row_samples() / desc.width() as usize } else { 1 };
        Self { start, count, pixel, width: desc.width(), around: reads.around }
    }

    /// The value outside.
    pub(super) fn constant(&self) -> f32 {
        outside_of(self.around)
    }

    /// Places, inside and outside.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// Places that lie in the row.
    pub(super) fn inside(&self) -> Range<usize> {
        let length = self.width as usize * self.pixel;
        let clamped = |place: isize| place.max(0).unsigned_abs().min(length);
        clamped(self.start)..clamped(self.start + self.count as isize)
    }

    /// How many places lie left of the row.
    pub(super) fn left(&self) -> usize {
        self.start.min(0).unsigned_abs().min(self.count)
    }

    /// What lies left of the row, in it, and right of it.
    pub(super) fn parts<'a, T>(&self, to: &'a mut [T]) -> [&'a mut [T]; 3] {
        let (left, rest) = to.split_at_mut(self.left());
        let (middle, right) = rest.split_at_mut(self.inside().len());
        [left, middle, right]
    }

    /// The places from the `first` on whose samples do not lie in the row: `sample` reads one by its place, `constant` makes one.
    pub(super) fn outside<T>(
        &self,
        first: usize,
        to: &mut [T],
        sample: impl Fn(usize) -> T,
        constant: impl Fn(f32) -> T,
    ) {
        for (to, index) in to.iter_mut().zip(first..) {
            *to = match self.stand_in(index) {
                Some(place) => sample(place),
                None => constant(self.constant()),
            };
        }
    }

    /// The place in the row that stands for one outside. Compiled once, not for every type.
    #[inline(never)]
    fn stand_in(&self, index: usize) -> Option<usize> {
        let border = self.around.map_or(Border::Replicate, |around| around.border);
        let (place, pixel) = (self.start + index as isize, self.pixel as isize);
        let column = border.index(place.div_euclid(pixel) as i64, self.width)?;
        Some(column as usize * self.pixel + place.rem_euclid(pixel) as usize)
    }
}

/// Samples side by side.
pub(super) struct Load<'a, T> {
    pub(super) src: &'a [T],
    pub(super) source: Source,
    pub(super) to: &'a mut [f32],
}

impl<T: Pixel> WithVector for Load<'_, T> {
    #[inline(always)]
    fn run<const N: usize, V: Vector<N>>(self, v: V) {
        let Self { src, source, to } = self;
        let [left, middle, right] = source.parts(to);
        let sample = |index: usize| src[index].to_f32();
        source.outside(0, left, sample, |value| value);
        source.outside(left.len() + middle.len(), right, sample, |value| value);
        let (blocks, rest) = src[source.inside()].as_chunks::<N>();
        let done = blocks.len() * N;
        for (block, to) in blocks.iter().zip(middle.as_chunks_mut::<N>().0) {
            f32::store(v, T::load(v, block), to);
        }
        rest.iter().zip(&mut middle[done..]).for_each(|(sample, to)| *to = sample.to_f32());
    }
}

/// Channels of interleaved pixels, those that have room.
pub(super) struct Split<'a, T, const C: usize> {
    pub(super) src: &'a [T],
    pub(super) source: Source,
    pub(super) to: [Option<&'a mut [f32]>; 4],
}

impl<T: Pixel, const C: usize> WithVector for Split<'_, T, C> {
    #[inline(always)]
    fn run<const N: usize, V: Vector<N>>(self, v: V) {
        let Self { src, source, mut to } = self;
        let (Range { start, end }, left) = (source.inside(), source.left());
        let right = left + (end - start);
        for (channel, to) in to.iter_mut().enumerate() {
            let Some(to) = to else { continue };
            let sample = |place: usize| src[C * place + channel].to_f32();
            source.outside(0, &mut to[..left], sample, |value| value);
            source.outside(right, &mut to[right..], sample, |value| value);
        }
        let pixels = src[C * start..C * end].as_chunks::<C>().0;
        let (blocks, rest) = pixels.as_chunks::<N>();
        for (i, block) in blocks.iter().enumerate() {
            let at = left + i * N;
            for (values, to) in T::split(v, block).into_iter().zip(&mut to) {
                if let Some(to) = to {
                    f32::store(v, values, &mut to[at..at + N].as_chunks_mut::<N>().0[0]);
                }
            }
        }
        let done = left + blocks.len() * N;
        for (pixel, at) in rest.iter().zip(done..) {
            for (sample, to) in pixel.iter().zip(&mut to) {
                if let Some(to) = to {
                    to[at] = sample.to_f32();
                }
            }
        }
    }
}
