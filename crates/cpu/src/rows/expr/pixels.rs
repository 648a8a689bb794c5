//! Steps that load several channels of one pixel: of interleaved pixels they are loaded at once, so that each is taken apart
//! once and not once a channel.

use std::ops::Range;

use mip_core::{DType, ImageDesc, Layout, f16};
use mip_plan::{Channel, Offset, Op};

use super::samples::Source;
use super::{Step, Values};
use crate::rows::Job;
use crate::rows::row::Row;
use crate::simd::{Pixel, Vector, WithVector};

/// What is done in one go.
#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    /// One operation.
    Step(Step),
    /// Loads channels of the pixels at an offset in an interleaved image.
    Pixels {
        /// Which image.
        slot: u8,
        /// Of which pixel.
        at: Offset,
        /// The register of each channel that is wanted.
        to: [Option<usize>; 4],
    },
}

/// The same operations with those that load channels of one pixel next to each other.
pub(super) fn gathered(ops: &[Op], results: &[usize]) -> (Vec<Op>, Vec<usize>) {
    let mut order: Vec<usize> = Vec::with_capacity(ops.len());
    for (index, op) in ops.iter().enumerate() {
        let Op::Input { slot, at, .. } = *op else {
            order.push(index);
            continue;
        };
        let same = |op: &Op| matches!(*op, Op::Input { slot: s, at: a, .. } if (s, a) == (slot, at));
        // The first of them brings the others.
        if !ops[..index].iter().any(same) {
            order.extend((index..ops.len()).filter(|&other| same(&ops[other])));
        }
    }
    let mut place = vec![0; ops.len()];
    order.iter().enumerate().for_each(|(now, &before)| place[before] = now);
    let moved = order.iter().map(|&before| ops[before].with_operands(|id| place[usize::from(id)] as u16));
    (moved.collect(), results.iter().map(|&result| place[result]).collect())
}

/// Puts steps that load channels of one pixel of an interleaved image together.
pub(super) fn together(steps: Vec<Step>, inputs: &[ImageDesc]) -> Vec<Work> {
    let mut all: Vec<Work> = Vec::with_capacity(steps.len());
    for step in steps {
        let Op::Input { slot, at, channel: Channel::Index(channel) } = step.op else {
            all.push(Work::Step(step));
            continue;
        };
        let (desc, channel) = (&inputs[usize::from(slot)], usize::from(channel));
        if desc.layout() != Layout::Hwc || desc.channels() == 1 {
            all.push(Work::Step(step));
            continue;
        }
        match all.last_mut() {
            Some(Work::Pixels { slot: s, at: a, to }) if (*s, *a) == (slot, at) => {
                to[channel] = Some(step.to);
            }
            _ => {
                let mut to = [None; 4];
                to[channel] = Some(step.to);
                all.push(Work::Pixels { slot, at, to });
            }
        }
    }
    all
}

/// Loads the channels that have a register.
pub(super) fn load(
    job: &Job<'_>,
    row: &Row<'_>,
    desc: &ImageDesc,
    place: Source,
    channels: [Option<usize>; 4],
    registers: &mut [Values],
) {
    let mut to: [Option<&mut Values>; 4] = [None, None, None, None];
    for (register, values) in registers.iter_mut().enumerate() {
        if let Some(channel) = channels.iter().position(|&wanted| wanted == Some(register)) {
            to[channel] = Some(values);
        }
    }
    macro_rules! of {
        ($T:ty) => {{
            let src = row.plane::<$T>(0);
            if desc.channels() == 3 {
                job.level.with(Pixels::<$T, 3> { src, place, to });
            } else {
                job.level.with(Pixels::<$T, 4> { src, place, to });
            }
        }};
    }
    match desc.dtype() {
        DType::U8 => of!(u8),
        DType::U16 => of!(u16),
        DType::I16 => of!(i16),
        DType::F16 => of!(f16),
        DType::F32 => of!(f32),
    }
}

struct Pixels<'a, T, const C: usize> {
    src: &'a [T],
    place: Source,
    to: [Option<&'a mut Values>; 4],
}

impl<T: Pixel, const C: usize> WithVector for Pixels<'_, T, C> {
    #[inline(always)]
    fn run<const N: usize, V: Vector<N>>(self, v: V) {
        let Self { src, place, mut to } = self;
        let Range { start, end } = place.inside();
        let (left, count) = (place.left(), place.count());
        let right = left + (end - start);
        for (channel, to) in to.iter_mut().enumerate() {
            let Some(to) = to else { continue };
            let sample = |index: usize| src[index + channel].to_f32();
            place.outside(place.start(), &mut to[..left], sample, |value| value);
            place.outside(place.start() + right, &mut to[right..count], sample, |value| value);
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
