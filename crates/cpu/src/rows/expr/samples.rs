//! From samples to blocks of numbers and back.

use std::ops::Range;

use mip_core::ImageDesc;
use mip_plan::{Border, Offset};

use super::{Around, BLOCK, Place, Values};
use crate::simd::{Pixel, Vector, WithVector};

/// Which samples of a row a block takes.
pub(super) struct Source {
    at: Place,
    /// Index of the first pixel's sample, and samples from a pixel to the next.
    first: usize,
    step: usize,
    /// Places of [`Place`] that are one pixel.
    pixel: usize,
    /// Pixels to the right of the own one, in a row of so many pixels, and what lies outside.
    dx: isize,
    width: u32,
    around: Option<Around>,
}

pub(super) struct Load<'a, T> {
    pub(super) src: &'a [T],
    pub(super) place: Source,
    pub(super) to: &'a mut Values,
}

impl<T: Pixel> WithVector for Load<'_, T> {
    #[inline(always)]
    fn run<const N: usize, V: Vector<N>>(self, v: V) {
        let Self { src, place, to } = self;
        let Source { at, first, step, .. } = place;
        let (inside, [left, middle, right]) = place.parts(&mut to[..at.count]);
        let sample = |index: usize| src[index].to_f32();
        place.outside(at.start, left, sample, |value| value);
        place.outside(at.start + at.count - right.len(), right, sample, |value| value);
        let Range { start, end } = inside;
        match step {
            1 => widen::<N, V, T>(v, &src[start..end], middle),
            3 => split::<N, V, T, 3>(v, &src[3 * start..3 * end], first, middle),
            4 => split::<N, V, T, 4>(v, &src[4 * start..4 * end], first, middle),
            _ => {
                let samples = src.iter().skip(start * step + first).step_by(step);
                middle.iter_mut().zip(samples).for_each(|(to, sample)| *to = sample.to_f32());
            }
        }
    }
}

/// The value outside a constant border; only such a border has rows and columns outside.
pub(super) fn outside_of(around: Option<Around>) -> f32 {
    match around.map(|around| around.border) {
        Some(Border::Constant(value)) => value,
        Some(Border::Reflect101 | Border::Reflect | Border::Replicate | Border::Wrap) | None => {
            unreachable!("all other borders name a pixel")
        }
    }
}

impl Source {
    /// Of rows whose samples all are alike: places are samples.
    pub(super) fn flat(desc: &ImageDesc, at: Place, offset: Offset, around: Option<Around>) -> Self {
        let pixel = desc.row_samples() / desc.width() as usize;
        Self { at, first: 0, step: 1, pixel, dx: offset.dx.into(), width: desc.width(), around }
    }

    /// Of one channel, the first of a plane: places are pixels.
    pub(super) fn pixels(desc: &ImageDesc, at: Place, offset: Offset, around: Option<Around>) -> Self {
        Self { at, first: 0, step: 1, pixel: 1, dx: offset.dx.into(), width: desc.width(), around }
    }

    /// Of another channel.
    pub(super) fn every(self, first: usize, step: usize) -> Self {
        Self { first, step, ..self }
    }

    /// The block's first place, before it is moved.
    pub(super) const fn start(&self) -> usize {
        self.at.start
    }

    /// Places of the block.
    pub(super) const fn count(&self) -> usize {
        self.at.count
    }

    fn shift(&self) -> isize {
        self.dx * self.pixel as isize
    }

    /// Places of the row that a block takes.
    pub(super) fn inside(&self) -> Range<usize> {
        let Place { start, count, .. } = self.at;
        let length = self.width as usize * self.pixel;
        let clamped = |place: usize| place.saturating_add_signed(self.shift()).min(length);
        clamped(start)..clamped(start + count)
    }

    /// How many places of the block lie left of the row.
    pub(super) fn left(&self) -> usize {
        let Place { start, count, .. } = self.at;
        (start.wrapping_add_signed(self.shift()) as isize).min(0).unsigned_abs().min(count)
    }

    /// Places of the row that a block takes, and what of the block lies left of the row, in it, and right of it.
    pub(super) fn parts<'a, T>(&self, to: &'a mut [T]) -> (Range<usize>, [&'a mut [T]; 3]) {
        let inside = self.inside();
        let (left, rest) = to.split_at_mut(self.left());
        let (middle, right) = rest.split_at_mut(inside.len());
        (inside, [left, middle, right])
    }

    /// Places from `start` on whose samples do not lie in the row: `sample` reads one by its index, `constant` makes one.
    pub(super) fn outside<T>(
        &self,
        start: usize,
        to: &mut [T],
        sample: impl Fn(usize) -> T,
        constant: impl Fn(f32) -> T,
    ) {
        let border = self.around.map_or(Border::Replicate, |around| around.border);
        for (to, place) in to.iter_mut().zip(start..) {
            let column = (place / self.pixel) as i64 + self.dx as i64;
            *to = match border.index(column, self.width) {
                Some(column) => {
                    let place = column as usize * self.pixel + place % self.pixel;
                    sample(place * self.step + self.first)
                }
                None => constant(outside_of(self.around)),
            };
        }
    }
}

#[inline(always)]
fn widen<const N: usize, V: Vector<N>, T: Pixel>(v: V, src: &[T], to: &mut [f32]) {
    let (blocks, rest) = src.as_chunks::<N>();
    let done = blocks.len() * N;
    for (block, to) in blocks.iter().zip(to.as_chunks_mut::<N>().0) {
        f32::store(v, T::load(v, block), to);
    }
    rest.iter().zip(&mut to[done..]).for_each(|(sample, to)| *to = sample.to_f32());
}

#[inline(always)]
fn split<const N: usize, V: Vector<N>, T: Pixel, const C: usize>(
    v: V,
    src: &[T],
    channel: usize,
    to: &mut [f32],
) {
    let pixels = src.as_chunks::<C>().0;
    let (blocks, rest) = pixels.as_chunks::<N>();
    let done = blocks.len() * N;
    for (block, to) in blocks.iter().zip(to.as_chunks_mut::<N>().0) {
        f32::store(v, T::split(v, block)[channel], to);
    }
    rest.iter().zip(&mut to[done..]).for_each(|(pixel, to)| *to = pixel[channel].to_f32());
}

pub(super) struct Store<'a, T> {
    pub(super) out: &'a mut [T],
    pub(super) at: Place,
    pub(super) first: usize,
    pub(super) step: usize,
    pub(super) from: &'a Values,
}

impl<T: Pixel> WithVector for Store<'_, T> {
    #[inline(always)]
    fn run<const N: usize, V: Vector<N>>(self, v: V) {
        let Self { out, at: Place { start, count, .. }, first, step, from } = self;
        let mut narrow = [T::default(); BLOCK];
        let blocks = count.div_ceil(N);
        for (to, from) in narrow.as_chunks_mut::<N>().0.iter_mut().zip(from.as_chunks::<N>().0).take(blocks) {
            T::store(v, f32::load(v, from), to);
        }
        if step == 1 {
            out[start..start + count].copy_from_slice(&narrow[..count]);
        } else {
            let out = out[start * step + first..].iter_mut().step_by(step);
            out.zip(&narrow[..count]).for_each(|(out, &value)| *out = value);
        }
    }
}
