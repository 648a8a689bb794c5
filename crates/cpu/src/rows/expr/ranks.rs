//! Minima and maxima of integer samples: erosions, dilations, and medians as sorting networks. Nothing has to become binary32
//! for them, so that a vector holds four times as many bytes, and rows are read as they lie.

use std::marker::PhantomData;

use mip_core::ImageDesc;
use mip_plan::{Binary, Border, Expr, Op, Results};

use super::blocks::each2;
use super::integers::Short;
use super::program::{Operation, Program, nodes};
use super::samples::Source;
use super::values::Table;
use super::walk::{Arithmetic, Reads, TILE};
use super::{Around, is_flat};
use crate::rows::row::{Row, RowMut};
use crate::rows::{Job, RowKernel};
use crate::simd::{Integer, Level, Ordered, WithOrdered};

#[derive(Debug)]
pub(super) struct Ranks<T> {
    program: Program,
    reads: Reads,
    output: ImageDesc,
    sample: PhantomData<T>,
}

impl<T: Ranked> Ranks<T> {
    /// `None` when the expression is another, or its result of another type than its samples.
    pub(super) fn new(
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
            | Op::Lookup(..)
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
        let results = [usize::from(*result)];
        let program = Program::new(&nodes(expr, &results), &results, inputs, true);
        let reads = Reads { inputs: inputs.to_vec(), flat: true, around };
        Some(Self { program, reads, output, sample: PhantomData })
    }
}

impl<T: Ranked> RowKernel for Ranks<T> {
    fn scratch_bytes(&self) -> usize {
        self.program.bytes::<T::Arithmetic>()
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        self.program.run_in_place::<T::Arithmetic>(job, &self.reads, scratch, self.output.planes(), out);
    }
}

/// Samples that are compared, and what does so.
pub(super) trait Ranked: Integer {
    type Arithmetic: Arithmetic<Number = Self>;
}

impl Ranked for u8 {
    type Arithmetic = Samples<Self>;
}

impl Ranked for u16 {
    type Arithmetic = Samples<Self>;
}

impl Ranked for i16 {
    type Arithmetic = Short;
}

/// Samples as they are.
#[derive(Debug)]
pub(super) struct Samples<T>(PhantomData<T>);

impl<T: Integer> Arithmetic for Samples<T> {
    type Number = T;

    fn as_it_is<'a>(row: &Row<'a>, _: &ImageDesc, plane: usize) -> Option<&'a [T]> {
        Some(row.plane(plane))
    }

    fn load(
        _: &Job<'_>,
        row: Option<&Row<'_>>,
        _: &ImageDesc,
        plane: Option<usize>,
        source: Source,
        [to, ..]: [Option<&mut [T]>; 4],
    ) {
        let (Some(to), Some(plane)) = (to, plane) else { return };
        let Some(row) = row else {
            return to.fill(T::from_f32(source.constant()));
        };
        let src = row.plane::<T>(plane);
        let [left, middle, right] = source.parts(to);
        source.outside(0, left, |index| src[index], T::from_f32);
        source.outside(left.len() + middle.len(), right, |index| src[index], T::from_f32);
        middle.copy_from_slice(&src[source.inside()]);
    }

    fn apply(job: &Job<'_>, _: &[Table], _: usize, op: &Operation, from: &[&[T]], to: &mut [T]) {
        match op {
            Operation::Binary(Binary::Min) => each2(job.level, from, to, Ord::min),
            Operation::Binary(Binary::Max) => each2(job.level, from, to, Ord::max),
            Operation::Extreme(op) => extreme(job.level, *op, from, to),
            Operation::Number(_)
            | Operation::Position(_)
            | Operation::Columns(_)
            | Operation::Unary(_)
            | Operation::Binary(_)
            | Operation::Fma
            | Operation::Luma
            | Operation::Function(..)
            | Operation::Products
            | Operation::Tabulated(_)
            | Operation::Lookup(_)
            | Operation::Select(_)
            | Operation::Sum { .. } => unreachable!("minima and maxima only"),
        }
    }
}

/// The least of several blocks by [`Binary::Min`], or the greatest.
pub(super) fn extreme<T: Integer>(level: Level, op: Binary, from: &[&[T]], to: &mut [T]) {
    if op == Binary::Min {
        T::with(level, Extreme::<T, true> { from, to });
    } else {
        T::with(level, Extreme::<T, false> { from, to });
    }
}

struct Extreme<'a, T, const LEAST: bool> {
    from: &'a [&'a [T]],
    to: &'a mut [T],
}

impl<T: Integer, const LEAST: bool> WithOrdered<T> for Extreme<'_, T, LEAST> {
    #[inline(always)]
    fn run<const N: usize, O: Ordered<T, N>>(self, o: O) {
        const { assert!(TILE.is_multiple_of(2 * N)) }
        let Self { from, to } = self;
        let (first, others) = (from[0], &from[1..]);
        for (i, to) in pairs_mut(to).iter_mut().enumerate() {
            let first = &pairs::<T, N>(first)[i];
            let mut found = [o.load(&first[0]), o.load(&first[1])];
            for other in others {
                let other = &pairs::<T, N>(other)[i];
                found = [
                    of_two::<T, N, O, LEAST>(o, found[0], o.load(&other[0])),
                    of_two::<T, N, O, LEAST>(o, found[1], o.load(&other[1])),
                ];
            }
            o.store(found[0], &mut to[0]);
            o.store(found[1], &mut to[1]);
        }
    }
}

/// No closure, which might be compiled without the vector's instructions.
#[inline(always)]
fn of_two<T, const N: usize, O: Ordered<T, N>, const LEAST: bool>(o: O, a: O::V, b: O::V) -> O::V {
    if LEAST { o.min(a, b) } else { o.max(a, b) }
}

#[inline(always)]
fn pairs<T, const N: usize>(block: &[T]) -> &[[[T; N]; 2]] {
    block.as_chunks::<N>().0.as_chunks().0
}

#[inline(always)]
fn pairs_mut<T, const N: usize>(block: &mut [T]) -> &mut [[[T; N]; 2]] {
    block.as_chunks_mut::<N>().0.as_chunks_mut().0
}
