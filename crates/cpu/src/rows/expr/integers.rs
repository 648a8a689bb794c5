//! Expressions of small integers: differences, sums, negatives, derivatives of bytes. Where every operation's result is a whole
//! number of 16 bits for whatever samples, a vector holds twice as many of them as binary32 numbers and needs no conversion; both
//! are exact, so that the bytes are the same.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use mip_core::{DType, ImageDesc};
use mip_plan::{Binary, Border, Expr, Offset, Op, Results, Unary};

use super::{Around, Place, Step, allocate, is_flat, is_number, keeps_numbers, row_of, samples};
use crate::rows::row::RowMut;
use crate::rows::{Job, RowKernel};
use crate::simd::Pixel;

/// Numbers of a block.
const BLOCK: usize = 512;

type Values = [i16; BLOCK];

/// Of bytes, to samples of a type.
#[derive(Debug)]
pub(crate) struct Integers<T> {
    /// What is the same for every block of a row.
    once: Vec<Step>,
    steps: Vec<Step>,
    result: usize,
    registers: usize,
    inputs: Vec<ImageDesc>,
    output: ImageDesc,
    around: Option<Around>,
    sample: PhantomData<T>,
}

/// What an operation's result may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bounds {
    low: i32,
    high: i32,
}

impl Bounds {
    fn of(numbers: [i32; 4]) -> Self {
        let (low, high) = numbers.iter().fold((i32::MAX, i32::MIN), |(l, h), &n| (l.min(n), h.max(n)));
        Self { low, high }
    }

    fn of_two(self, other: Self, f: impl Fn(i32, i32) -> i32) -> Self {
        let (a, b) = (self, other);
        Self::of([f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)])
    }

    fn fits(self) -> bool {
        self.low > i32::from(i16::MIN) && self.high <= i32::from(i16::MAX)
    }
}

/// A whole number of 16 bits.
fn whole(value: f32) -> Option<i32> {
    let number = value as i32;
    (number as f32 == value && Bounds { low: number, high: number }.fits()).then_some(number)
}

/// What each operation may give; `None` where that need not be a whole number of 16 bits.
fn bounds(ops: &[Op], around: Option<Around>) -> Option<Vec<Bounds>> {
    let outside = match around.map(|around| around.border) {
        Some(Border::Constant(value)) => whole(value)?,
        Some(Border::Reflect101 | Border::Reflect | Border::Replicate | Border::Wrap) | None => 0,
    };
    let mut known: Vec<Bounds> = Vec::with_capacity(ops.len());
    for op in ops {
        let of = |operand: u16| known[usize::from(operand)];
        let bounds = match *op {
            Op::Input { .. } => Bounds { low: outside.min(0), high: outside.max(255) },
            Op::Const(bits) => {
                let number = whole(bits.get())?;
                Bounds { low: number, high: number }
            }
            Op::Unary(op, a) => {
                let a = of(a);
                match op {
                    Unary::Neg => Bounds { low: -a.high, high: -a.low },
                    Unary::Abs => {
                        let low = if a.low <= 0 && a.high >= 0 { 0 } else { a.low.abs().min(a.high.abs()) };
                        Bounds { low, high: a.low.abs().max(a.high.abs()) }
                    }
                    Unary::Floor | Unary::Ceil | Unary::Round => a,
                    Unary::Sqrt => return None,
                }
            }
            Op::Binary(op, a, b) => {
                let (a, b) = (of(a), of(b));
                match op {
                    Binary::Add => a.of_two(b, |a, b| a + b),
                    Binary::Sub => a.of_two(b, |a, b| a - b),
                    Binary::Mul => a.of_two(b, |a, b| a * b),
                    Binary::Min => a.of_two(b, i32::min),
                    Binary::Max => a.of_two(b, i32::max),
                    Binary::Div => return None,
                }
            }
            Op::Fma(a, b, c) => {
                let product = of(a).of_two(of(b), |a, b| a * b);
                if !product.fits() {
                    return None;
                }
                product.of_two(of(c), |a, b| a + b)
            }
            Op::Position(_) | Op::Uniform(_) | Op::Luma(..) | Op::Select { .. } => return None,
        };
        if !bounds.fits() {
            return None;
        }
        known.push(bounds);
    }
    Some(known)
}

impl<T: Pixel> Integers<T> {
    /// `None` when it is another expression.
    pub(crate) fn new(
        expr: &Expr,
        inputs: &[ImageDesc],
        output: ImageDesc,
        around: Option<Around>,
    ) -> Option<Self> {
        let Results::EachChannel(result) = expr.results() else { return None };
        let bytes = inputs.iter().all(|input| input.dtype() == DType::U8);
        if !bytes || !is_flat(expr, inputs, &output) {
            return None;
        }
        bounds(expr.ops(), around)?;
        let (steps, registers, results) = allocate(expr.ops(), &[usize::from(*result)]);
        let keeps = keeps_numbers(expr.ops());
        let (once, steps) = steps.into_iter().partition(|step| keeps && is_number(&step.op));
        let (inputs, result) = (inputs.to_vec(), results[0]);
        Some(Self { once, steps, result, registers, inputs, output, around, sample: PhantomData })
    }

    fn load(&self, job: &Job<'_>, (slot, offset): (usize, Offset), at: Place, to: &mut [i16]) {
        let Some(row) = row_of(job, self.around, slot, offset) else {
            to.fill(samples::outside_of(self.around) as i16);
            return;
        };
        let (src, desc) = (row.plane::<u8>(at.plane), &self.inputs[slot]);
        let source = samples::Source::flat(desc, at, offset, self.around);
        let (Range { start, end }, [left, middle, right]) = source.parts(to);
        let (sample, constant) = (|index: usize| i16::from(src[index]), |value: f32| value as i16);
        source.outside(at.start, left, sample, constant);
        source.outside(at.start + at.count - right.len(), right, sample, constant);
        let src = &src[start..end];
        job.level.vectorize(
            #[inline(always)]
            || {
                let middle = middle;
                for (to, &sample) in middle.iter_mut().zip(src) {
                    *to = i16::from(sample);
                }
            },
        );
    }

    fn run(&self, steps: &[Step], job: &Job<'_>, at: Place, registers: &mut [Values]) {
        for step in steps {
            let (before, rest) = registers.split_at_mut(step.to);
            let Some((to, after)) = rest.split_first_mut() else { return };
            let from = |i: usize| {
                let register = step.from[i];
                if register < step.to { &before[register] } else { &after[register - step.to - 1] }
            };
            // Nothing wraps: that is what the bounds say.
            match step.op {
                Op::Input { slot, at: offset, .. } => {
                    self.load(job, (usize::from(slot), offset), at, &mut to[..at.count]);
                }
                Op::Const(bits) => to.fill(bits.get() as i16),
                Op::Unary(Unary::Neg, _) => each(job, [from(0), from(0)], to, |a, _| a.wrapping_neg()),
                Op::Unary(Unary::Abs, _) => each(job, [from(0), from(0)], to, |a, _| a.wrapping_abs()),
                Op::Unary(..) => to.copy_from_slice(from(0)),
                Op::Binary(op, ..) => {
                    let from = [from(0), from(1)];
                    match op {
                        Binary::Add => each(job, from, to, i16::wrapping_add),
                        Binary::Sub => each(job, from, to, i16::wrapping_sub),
                        Binary::Mul => each(job, from, to, i16::wrapping_mul),
                        Binary::Min => each(job, from, to, Ord::min),
                        Binary::Max => each(job, from, to, Ord::max),
                        Binary::Div => unreachable!("refused by its bounds"),
                    }
                }
                Op::Fma(..) => {
                    let [a, b, c] = [from(0), from(1), from(2)];
                    fma(job, [a, b, c], to);
                }
                Op::Position(_) | Op::Uniform(_) | Op::Luma(..) | Op::Select { .. } => {
                    unreachable!("refused by their bounds")
                }
            }
        }
    }
}

#[inline(always)]
fn each(job: &Job<'_>, [a, b]: [&Values; 2], to: &mut Values, f: impl Fn(i16, i16) -> i16) {
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

#[inline(always)]
fn store<T>(job: &Job<'_>, from: &[i16], out: &mut [T], f: impl Fn(i16) -> T) {
    job.level.vectorize(
        #[inline(always)]
        || {
            let out = out;
            for (out, &value) in out.iter_mut().zip(from) {
                *out = f(value);
            }
        },
    );
}

fn fma(job: &Job<'_>, [a, b, c]: [&Values; 3], to: &mut Values) {
    job.level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (to, ((&a, &b), &c)) in to.iter_mut().zip(a.iter().zip(b).zip(c)) {
                *to = a.wrapping_mul(b).wrapping_add(c);
            }
        },
    );
}

impl<T: Pixel + fmt::Debug> RowKernel for Integers<T> {
    fn scratch_bytes(&self) -> usize {
        self.registers * size_of::<Values>()
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let numbers: &mut [i16] = bytemuck::cast_slice_mut(&mut scratch[..self.scratch_bytes()]);
        let registers = numbers.as_chunks_mut::<BLOCK>().0;
        let length = self.output.row_samples();
        for plane in 0..self.output.planes() {
            for start in (0..length).step_by(BLOCK) {
                let at = Place { plane, start, count: (length - start).min(BLOCK) };
                if (plane, start) == (0, 0) {
                    self.run(&self.once, job, at, registers);
                }
                self.run(&self.steps, job, at, registers);
                let from = &registers[self.result][..at.count];
                let to = start..start + at.count;
                if T::DTYPE == DType::U8 {
                    store(job, from, &mut out.plane::<u8>(plane)[to], |value| value.clamp(0, 255) as u8);
                } else {
                    store(job, from, &mut out.plane::<T>(plane)[to], |value| T::from_f32(f32::from(value)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use mip_plan::{Channel, ExprBuilder};

    use super::*;

    #[test]
    fn what_may_leave_16_bits_is_refused() {
        let of = |factor: f32, sub: bool| {
            let mut e = ExprBuilder::default();
            let (v, n) = (e.input(0, Channel::Own), e.constant(factor));
            let product = e.binary(Binary::Mul, v, n);
            let result = if sub { e.binary(Binary::Sub, product, v) } else { product };
            bounds(e.finish(&Results::EachChannel(result)).unwrap().ops(), None).map(|b| *b.last().unwrap())
        };
        assert_eq!(of(128.0, false), Some(Bounds { low: 0, high: 32640 }));
        assert_eq!(of(-128.0, true), None, "down to -32895");
        assert_eq!((of(129.0, false), of(0.5, false), of(f32::NAN, false)), (None, None, None));
    }
}
