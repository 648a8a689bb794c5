//! From samples to blocks of numbers and back.

use std::ops::Range;

use mip_plan::Border;

use super::{BLOCK, Place, Values};
use crate::simd::{Pixel, Vector, WithVector};

/// Which samples of a row a block takes.
pub(super) struct Source {
    pub(super) at: Place,
    /// Index of the first pixel's sample, and samples from a pixel to the next.
    pub(super) first: usize,
    pub(super) step: usize,
    /// Places of [`Place`] that are one pixel.
    pub(super) pixel: usize,
    /// Pixels to the right of the own one, in a row of so many pixels, and what lies outside.
    pub(super) dx: isize,
    pub(super) width: u32,
    pub(super) border: Border,
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
        let Source { at: Place { start, count, .. }, first, step, pixel, dx, width, .. } = place;
        let length = width as usize * pixel;
        // What lies left of the row, inside, and right of it.
        let shift = dx * pixel as isize;
        let clamped = |place: usize| place.saturating_add_signed(shift).min(length);
        let inside = clamped(start)..clamped(start + count);
        let left = (start.wrapping_add_signed(shift) as isize).min(0).unsigned_abs().min(count);
        let (left, rest) = to[..count].split_at_mut(left);
        let (middle, right) = rest.split_at_mut(inside.len());
        if !left.is_empty() {
            place.outside(src, start, left);
        }
        if !right.is_empty() {
            place.outside(src, start + count - right.len(), right);
        }
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

impl Source {
    /// Places from `start` on whose samples do not lie in the row.
    fn outside<T: Pixel>(&self, src: &[T], start: usize, to: &mut [f32]) {
        for (to, place) in to.iter_mut().zip(start..) {
            let column = (place / self.pixel) as i64 + self.dx as i64;
            *to = match (self.border.index(column, self.width), self.border) {
                (Some(column), _) => {
                    let place = column as usize * self.pixel + place % self.pixel;
                    src[place * self.step + self.first].to_f32()
                }
                (None, Border::Constant(value)) => value,
                (None, _) => unreachable!("all other borders name a column"),
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
