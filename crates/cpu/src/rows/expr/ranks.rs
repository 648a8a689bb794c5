//! Minima and maxima of integer samples: erosions, dilations, and medians as sorting networks. Nothing has to become binary32
//! for them, so that a vector holds four times as many bytes.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use mip_core::ImageDesc;
use mip_plan::{Binary, Border, Expr, Offset, Op, Results};

use super::{Around, Place, Step, allocate, is_flat, row_of, samples};
use crate::rows::row::RowMut;
use crate::rows::{Job, RowKernel};
use crate::simd::Pixel;

/// Samples of a block.
const BLOCK: usize = 1024;

#[derive(Debug)]
pub(crate) struct Ranks<T> {
    steps: Vec<Step>,
    result: usize,
    registers: usize,
    inputs: Vec<ImageDesc>,
    output: ImageDesc,
    around: Option<Around>,
    sample: PhantomData<T>,
}

impl<T: Pixel + Ord> Ranks<T> {
    /// `None` when the expression is another, or its result of another type than its samples.
    pub(crate) fn new(
        expr: &Expr,
        inputs: &[ImageDesc],
        output: ImageDesc,
        around: Option<Around>,
    ) -> Option<Self> {
        let ranks = |op: &Op| match op {
            Op::Input { .. } | Op::Binary(Binary::Min | Binary::Max, ..) => true,
            Op::Position(_)
            | Op::Uniform(_)
            | Op::Const(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::Luma(..)
            | Op::Select { .. } => false,
        };
        let Results::EachChannel(result) = expr.results() else { return None };
        let same_type = inputs.iter().chain([&output]).all(|desc| desc.dtype() == T::DTYPE);
        let constant = match around.map(|around| around.border) {
            Some(Border::Constant(value)) => T::DTYPE.rounded(value) == value,
            Some(Border::Reflect101 | Border::Reflect | Border::Replicate | Border::Wrap) | None => true,
        };
        if !same_type || !constant || !is_flat(expr, inputs, &output) || !expr.ops().iter().all(ranks) {
            return None;
        }
        let (steps, registers, results) = allocate(expr.ops(), &[usize::from(*result)]);
        let inputs = inputs.to_vec();
        Some(Self { steps, result: results[0], registers, inputs, output, around, sample: PhantomData })
    }

    fn load(&self, job: &Job<'_>, (slot, offset): (usize, Offset), at: Place, to: &mut [T]) {
        let Some(row) = row_of(job, self.around, slot, offset) else {
            to.fill(T::from_f32(samples::outside_of(self.around)));
            return;
        };
        let (src, desc) = (row.plane::<T>(at.plane), &self.inputs[slot]);
        let source = samples::Source::flat(desc, at, offset, self.around);
        let (Range { start, end }, [left, middle, right]) = source.parts(to);
        source.outside(at.start, left, |index| src[index], T::from_f32);
        source.outside(at.start + at.count - right.len(), right, |index| src[index], T::from_f32);
        middle.copy_from_slice(&src[start..end]);
    }

    fn run(&self, job: &Job<'_>, at: Place, registers: &mut [[T; BLOCK]]) {
        for step in &self.steps {
            let (before, rest) = registers.split_at_mut(step.to);
            let Some((to, after)) = rest.split_first_mut() else { return };
            let from = |i: usize| {
                let register = step.from[i];
                if register < step.to { &before[register] } else { &after[register - step.to - 1] }
            };
            match step.op {
                Op::Input { slot, at: offset, .. } => {
                    self.load(job, (usize::from(slot), offset), at, &mut to[..at.count]);
                }
                Op::Binary(Binary::Min, ..) => each(job, from(0), from(1), to, Ord::min),
                Op::Binary(..) => each(job, from(0), from(1), to, Ord::max),
                Op::Position(_)
                | Op::Uniform(_)
                | Op::Const(_)
                | Op::Unary(..)
                | Op::Fma(..)
                | Op::Luma(..)
                | Op::Select { .. } => {
                    unreachable!("minima and maxima only")
                }
            }
        }
    }
}

#[inline(always)]
fn each<T: Pixel>(job: &Job<'_>, a: &[T; BLOCK], b: &[T; BLOCK], to: &mut [T; BLOCK], f: impl Fn(T, T) -> T) {
    job.level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (to, (&a, &b)) in to.iter_mut().zip(a.iter().zip(b)) {
                *to = f(a, b);
            }
        },
    );
}

impl<T: Pixel + Ord + fmt::Debug> RowKernel for Ranks<T> {
    fn scratch_bytes(&self) -> usize {
        self.registers * size_of::<[T; BLOCK]>()
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let samples: &mut [T] = bytemuck::cast_slice_mut(&mut scratch[..self.scratch_bytes()]);
        let registers = samples.as_chunks_mut::<BLOCK>().0;
        let length = self.output.row_samples();
        for plane in 0..self.output.planes() {
            for start in (0..length).step_by(BLOCK) {
                let at = Place { plane, start, count: (length - start).min(BLOCK) };
                self.run(job, at, registers);
                out.plane::<T>(plane)[start..start + at.count]
                    .copy_from_slice(&registers[self.result][..at.count]);
            }
        }
    }
}
