//! Expressions in binary32, for any program.

use mip_core::{DType, ImageDesc, f16};
use mip_plan::{Axis, Binary, Expr, LookupTable, Results, Unary};

use super::blocks::{each1, each2, each3, select};
use super::pairs::Pairs;
use super::program::{MAX_OPERANDS, Number, Operation, Program, nodes};
use super::samples::{self, Load, Source, Split};
use super::values::{Table, Values};
use super::walk::{Arithmetic, Reads, TILE};
use super::{Around, functions, is_flat, store, sums, values};
use crate::rows::row::{Row, RowMut};
use crate::rows::{Job, RowKernel};
use crate::simd::{Level, Vector, WithVector};

/// [`mip_plan::Point`] and [`mip_plan::Stencil`].
#[derive(Debug)]
pub(super) struct Floats {
    program: Program,
    reads: Reads,
    output: ImageDesc,
    /// Where it is one pass.
    pairs: Option<Pairs>,
    values: Values,
}

impl Floats {
    pub(super) fn new(
        expr: &Expr,
        inputs: &[ImageDesc],
        output: ImageDesc,
        around: Option<Around>,
    ) -> Result<Self, String> {
        let flat = is_flat(expr, inputs, &output);
        let resolved = if flat { expr.clone() } else { expr.resolve(inputs, &output)? };
        let results: Vec<usize> = match resolved.results() {
            Results::EachChannel(result) => vec![usize::from(*result)],
            Results::Channels(results) => results.iter().map(|&r| usize::from(r)).collect(),
        };
        let mut nodes = functions::recognised(nodes(&resolved, &results), &resolved);
        let values = Values::put(&mut nodes, &resolved, &results, (inputs, around));
        let fused = sums::fused(nodes, &results);
        let program = Program::new(&fused, &results, inputs, flat);
        let pairs = Pairs::of(expr, inputs, &output).filter(|_| around.is_none());
        Ok(Self { program, reads: Reads { inputs: inputs.to_vec(), flat, around }, output, pairs, values })
    }

    /// Places beside a block that are read.
    pub(super) const fn reach(&self) -> usize {
        self.program.reach
    }
}

impl RowKernel for Floats {
    fn scratch_bytes(&self) -> usize {
        self.program.bytes::<Binary32>()
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        if let Some(pairs) = self.pairs {
            return pairs.run(job, &self.output, out);
        }
        let extent = store::extent(&self.output, self.reads.flat);
        let tables = self.values.tables(job.uniforms);
        let tables = tables.as_ref().map_or(&[][..], |tables| &tables.value);
        self.program.run::<Binary32>(job, (&self.reads, tables), scratch, extent, &mut |at, results| {
            store::floats(job.level, &self.output, self.reads.flat, at, results, out);
        });
    }
}

#[derive(Debug)]
struct Binary32;

impl Arithmetic for Binary32 {
    type Number = f32;

    fn as_it_is<'a>(row: &Row<'a>, desc: &ImageDesc, plane: usize) -> Option<&'a [f32]> {
        (desc.dtype() == DType::F32).then(|| row.plane(plane))
    }

    fn load(
        job: &Job<'_>,
        row: Option<&Row<'_>>,
        desc: &ImageDesc,
        plane: Option<usize>,
        source: Source,
        to: [Option<&mut [f32]>; 4],
    ) {
        let Some(row) = row else {
            to.into_iter().flatten().for_each(|to| to.fill(source.constant()));
            return;
        };
        macro_rules! of {
            ($T:ty) => {
                if samples::is_interleaved(desc, plane) {
                    let src = row.plane::<$T>(0);
                    if desc.channels() == 3 {
                        job.level.with(Split::<$T, 3> { src, source, to });
                    } else {
                        job.level.with(Split::<$T, 4> { src, source, to });
                    }
                } else {
                    for (channel, to) in to.into_iter().enumerate() {
                        if let Some(to) = to {
                            job.level.with(Load {
                                src: row.plane::<$T>(plane.unwrap_or(channel)),
                                source,
                                to,
                            });
                        }
                    }
                }
            };
        }
        match desc.dtype() {
            DType::U8 => of!(u8),
            DType::U16 => of!(u16),
            DType::I16 => of!(i16),
            DType::I32 => of!(i32),
            DType::F16 => of!(f16),
            DType::F32 => of!(f32),
        }
    }

    fn apply(job: &Job<'_>, tables: &[Table], start: usize, op: &Operation, from: &[&[f32]], to: &mut [f32]) {
        let level = job.level;
        match op {
            Operation::Number(number) => to.fill(number.get(job.uniforms)),
            Operation::Position(Axis::X) => columns(level, start, to),
            Operation::Position(Axis::Y) => to.fill(job.y as f32),
            Operation::Columns(numbers) => {
                to.chunks_exact_mut(2).for_each(|pair| pair.copy_from_slice(numbers));
            }
            Operation::Unary(op) => unary(level, *op, from[0], to),
            Operation::Binary(op) => binary(level, *op, from, to),
            Operation::Extreme(op) => {
                binary(level, *op, from, to);
                for next in &from[2..] {
                    again(level, *op, next, to);
                }
            }
            Operation::Fma => each3(level, from, to, f32::mul_add),
            Operation::Products => level.with(Products { start: from[0], factors: &from[1..], to }),
            Operation::Luma => each3(level, from, to, mip_plan::luma),
            Operation::Function(function, power) => functions::apply(level, *function, *power, from, to),
            Operation::Tabulated(table) => values::find(level, &tables[*table], from, to),
            Operation::Lookup(table) => lookup(table, from[0], to),
            Operation::Select(compare) => select(level, *compare, from, to),
            Operation::Sum { start, weights } => {
                let (first, from) = if start.is_none() { (Some(from[0]), &from[1..]) } else { (None, from) };
                let mut numbers = [0.0; MAX_OPERANDS];
                numbers.iter_mut().zip(weights).for_each(|(to, weight)| *to = weight.get(job.uniforms));
                let start = start.map_or(0.0, |start: Number| start.get(job.uniforms));
                let weights = &numbers[..from.len()];
                level.with(Sum { start, first, from, weights, to });
            }
        }
    }
}

fn unary(level: Level, op: Unary, a: &[f32], to: &mut [f32]) {
    match op {
        Unary::Neg => each1(level, a, to, |a| Unary::Neg.apply(a)),
        Unary::Abs => each1(level, a, to, |a| Unary::Abs.apply(a)),
        Unary::Sqrt => each1(level, a, to, |a| Unary::Sqrt.apply(a)),
        Unary::Floor => each1(level, a, to, |a| Unary::Floor.apply(a)),
        Unary::Ceil => each1(level, a, to, |a| Unary::Ceil.apply(a)),
        Unary::Round => each1(level, a, to, |a| Unary::Round.apply(a)),
        Unary::Exponent => each1(level, a, to, |a| Unary::Exponent.apply(a)),
        Unary::Significand => each1(level, a, to, |a| Unary::Significand.apply(a)),
        Unary::PowerOfTwo => each1(level, a, to, |a| Unary::PowerOfTwo.apply(a)),
    }
}

fn binary(level: Level, op: Binary, from: &[&[f32]], to: &mut [f32]) {
    match op {
        Binary::Add => each2(level, from, to, |a, b| Binary::Add.apply(a, b)),
        Binary::Sub => each2(level, from, to, |a, b| Binary::Sub.apply(a, b)),
        Binary::Mul => each2(level, from, to, |a, b| Binary::Mul.apply(a, b)),
        Binary::Div => each2(level, from, to, |a, b| Binary::Div.apply(a, b)),
        Binary::Min => each2(level, from, to, |a, b| Binary::Min.apply(a, b)),
        Binary::Max => each2(level, from, to, |a, b| Binary::Max.apply(a, b)),
    }
}

/// No level has vectors for it that are faster.
fn lookup(table: &LookupTable, indices: &[f32], to: &mut [f32]) {
    to.iter_mut().zip(indices).for_each(|(to, &index)| *to = table.at(index));
}

/// One more of a chain of minima or maxima.
fn again(level: Level, op: Binary, next: &[f32], to: &mut [f32]) {
    level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (to, &next) in to.iter_mut().zip(next) {
                let keeps = if op == Binary::Min { *to < next } else { *to > next };
                *to = if keeps { *to } else { next };
            }
        },
    );
}

/// The columns of pixels side by side.
fn columns(level: Level, first: usize, to: &mut [f32]) {
    level.vectorize(
        #[inline(always)]
        || {
            let first = first as u32;
            for (to, i) in to.iter_mut().zip(0_u32..) {
                *to = first.wrapping_add(i) as f32;
            }
        },
    );
}

/// `fma` after `fma`.
struct Sum<'a> {
    start: f32,
    first: Option<&'a [f32]>,
    from: &'a [&'a [f32]],
    weights: &'a [f32],
    to: &'a mut [f32],
}

impl WithVector for Sum<'_> {
    #[inline(always)]
    fn run<const N: usize, V: Vector<N>>(self, v: V) {
        const { assert!(TILE.is_multiple_of(4 * N)) }
        let Self { start, first, from, weights, to } = self;
        let start = v.splat(start);
        // Four vectors at a time: each waits for its own sum only.
        for (i, to) in to.as_chunks_mut::<N>().0.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let mut sum = [start; 4];
            if let Some(first) = first {
                let first = &first.as_chunks::<N>().0.as_chunks::<4>().0[i];
                sum = [
                    v.load_f32(&first[0]),
                    v.load_f32(&first[1]),
                    v.load_f32(&first[2]),
                    v.load_f32(&first[3]),
                ];
            }
            for (from, &weight) in from.iter().zip(weights) {
                let from = &from.as_chunks::<N>().0.as_chunks::<4>().0[i];
                let from =
                    [v.load_f32(&from[0]), v.load_f32(&from[1]), v.load_f32(&from[2]), v.load_f32(&from[3])];
                // The same number, without a fused operation where that is a call.
                if weight == 1.0 {
                    sum = [
                        v.add(sum[0], from[0]),
                        v.add(sum[1], from[1]),
                        v.add(sum[2], from[2]),
                        v.add(sum[3], from[3]),
                    ];
                } else {
                    let weight = v.splat(weight);
                    sum = [
                        v.fma(from[0], weight, sum[0]),
                        v.fma(from[1], weight, sum[1]),
                        v.fma(from[2], weight, sum[2]),
                        v.fma(from[3], weight, sum[3]),
                    ];
                }
            }
            for (to, sum) in to.iter_mut().zip(sum) {
                v.store_f32(sum, to);
            }
        }
    }
}

/// `fma` after `fma`, of factors that are no numbers.
struct Products<'a> {
    start: &'a [f32],
    factors: &'a [&'a [f32]],
    to: &'a mut [f32],
}

impl WithVector for Products<'_> {
    #[inline(always)]
    fn run<const N: usize, V: Vector<N>>(self, v: V) {
        const { assert!(TILE.is_multiple_of(2 * N)) }
        let Self { start, factors, to } = self;
        let (pairs, _) = factors.as_chunks::<2>();
        let start = start.as_chunks::<N>().0.as_chunks::<2>().0;
        for (i, (to, start)) in
            to.as_chunks_mut::<N>().0.as_chunks_mut::<2>().0.iter_mut().zip(start).enumerate()
        {
            let mut sum = [v.load_f32(&start[0]), v.load_f32(&start[1])];
            for [a, b] in pairs {
                let [a, b] = [
                    &a.as_chunks::<N>().0.as_chunks::<2>().0[i],
                    &b.as_chunks::<N>().0.as_chunks::<2>().0[i],
                ];
                sum = [
                    v.fma(v.load_f32(&a[0]), v.load_f32(&b[0]), sum[0]),
                    v.fma(v.load_f32(&a[1]), v.load_f32(&b[1]), sum[1]),
                ];
            }
            v.store_f32(sum[0], &mut to[0]);
            v.store_f32(sum[1], &mut to[1]);
        }
    }
}
