//! Expressions of bytes in 16 bits, where numbers allow it: see [`super::fixed`]. A vector holds twice as many of them as of binary32
//! numbers and needs no conversion. Which way is taken is decided when the numbers are known, once for all rows that have the same.

use std::sync::Arc;

use mip_core::{DType, ImageDesc, Layout};
use mip_plan::{Binary, Border, Expr, Offset, Op, Results, Unary};

use super::bayer::Bayer;
use super::blocks::{each1, each2, select};
use super::bytes::Bytes;
use super::fixed::{self, Root, Setting};
use super::floats::Floats;
use super::program::{MAX_OPERANDS, Number, Operation, Program};
use super::ranks::extreme;
use super::remembered::{Of, Remembered};
use super::samples::{self, Source};
use super::values::Table;
use super::walk::{Arithmetic, BUDGET, LEAST_BLOCK, Reads};
use super::{Around, is_flat, store};
use crate::rows::row::{Row, RowMut};
use crate::rows::{Job, RowKernel, merge};
#[cfg(target_arch = "x86_64")]
use crate::simd::Shuffle;
use crate::simd::{Level, sum_of_products};

/// Operations that compute at most: a program in 16 bits keeps more values than one in binary32.
const MOST: usize = 200;

/// Registers of a program at most.
const REGISTERS: usize = 40;

#[derive(Debug)]
pub(super) struct Integers {
    /// What is taken otherwise.
    floats: Floats,
    expr: Expr,
    results: Vec<usize>,
    reads: Reads,
    output: ImageDesc,
    reach: usize,
    /// Of even and of odd rows, those of the numbers of the last launch.
    chosen: [Remembered<Way>; 2],
}

#[derive(Debug)]
enum Way {
    Floats,
    Short(Program, Vec<Root>),
    Bytes(Bytes),
    Bayer(Bayer),
}

impl Integers {
    /// `None` when it is another expression.
    pub(super) fn new(
        expr: &Expr,
        inputs: &[ImageDesc],
        output: ImageDesc,
        around: Option<Around>,
    ) -> Result<Option<Self>, String> {
        let bytes = inputs.iter().all(|input| input.dtype() == DType::U8);
        let cheap = |op: &Op| match op {
            Op::Unary(op, _) => match op {
                Unary::Neg | Unary::Abs | Unary::Floor | Unary::Ceil | Unary::Round => true,
                Unary::Sqrt | Unary::Exponent | Unary::Significand | Unary::PowerOfTwo => false,
            },
            op => !matches!(op, Op::Binary(Binary::Div, ..) | Op::Luma(..) | Op::Lookup(..)),
        };
        if !bytes
            || !matches!(output.dtype(), DType::U8 | DType::I16)
            || expr.ops().len() > MOST
            || !expr.ops().iter().all(cheap)
        {
            return Ok(None);
        }
        let floats = Floats::new(expr, inputs, output, around)?;
        let flat = is_flat(expr, inputs, &output);
        let expr = if flat { expr.clone() } else { expr.resolve(inputs, &output)? };
        let results: Vec<usize> = match expr.results() {
            Results::EachChannel(result) => vec![usize::from(*result)],
            Results::Channels(results) => results.iter().map(|&r| usize::from(r)).collect(),
        };
        let reads = Reads { inputs: inputs.to_vec(), flat, around };
        let reach = floats.reach();
        Ok(Some(Self {
            floats,
            expr,
            results,
            reads,
            output,
            reach,
            chosen: [Remembered::new(), Remembered::new()],
        }))
    }

    /// The program for the uniforms of a launch.
    fn chosen(&self, job: &Job<'_>) -> Arc<Of<Way>> {
        let odd_row = self.expr.reads_position() && job.y % 2 == 1;
        self.chosen[usize::from(odd_row)]
            .get(job.uniforms, || self.way(job.uniforms, odd_row).unwrap_or(Way::Floats))
    }

    fn way(&self, uniforms: &[f32], odd_row: bool) -> Option<Way> {
        let outside = match self.reads.around.map(|around| around.border) {
            Some(Border::Constant(value)) => Some(value),
            Some(Border::Reflect101 | Border::Reflect | Border::Replicate | Border::Wrap) | None => None,
        };
        let size = [self.output.width(), self.output.height()];
        let setting = Setting { uniforms, outside, size, odd_row, odd_column: None };
        if outside.is_none()
            && let Some(bayer) = Bayer::of(&self.expr, &self.results, setting, &self.reads, &self.output)
        {
            return Some(Way::Bayer(bayer));
        }
        let (nodes, roots) = fixed::nodes(&self.expr, &self.results, setting)?;
        let own = self.output.dtype() == DType::U8 && self.reads.flat && self.reads.around.is_none();
        if own && let Some(bytes) = Bytes::of(&nodes, roots[0]) {
            return Some(Way::Bytes(bytes));
        }
        let results: Vec<usize> = roots.iter().map(|root| root.node).collect();
        let program = Program::new(&nodes, &results, &self.reads.inputs, self.reads.flat);
        (program.bytes::<Short>() <= self.most()).then_some(Way::Short(program, roots))
    }

    /// Bytes of the largest program that is taken.
    const fn most(&self) -> usize {
        BUDGET + REGISTERS * (LEAST_BLOCK + 2 * self.reach.next_multiple_of(32)) * size_of::<i16>()
    }
}

impl RowKernel for Integers {
    fn scratch_bytes(&self) -> usize {
        self.floats.scratch_bytes().max(self.most())
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let chosen = self.chosen(job);
        let (program, roots) = match &chosen.value {
            Way::Floats => return self.floats.compute(job, scratch, out),
            Way::Bytes(bytes) => return bytes.run(job, &self.output, out),
            Way::Bayer(bayer) => return bayer.run(job, &self.reads, out),
            Way::Short(program, roots) => (program, roots),
        };
        let (output, flat) = (&self.output, self.reads.flat);
        let extent = store::extent(output, flat);
        program.run::<Short>(job, (&self.reads, &[]), scratch, extent, &mut |at, results| {
            if output.dtype() == DType::U8 {
                store::put::<u8>(job.level, output, flat, at, out, &mut |c, out| {
                    narrow(job.level, results[c], roots[c].exponent, out, |value| value.clamp(0, 255) as u8);
                });
            } else {
                store::put::<i16>(job.level, output, flat, at, out, &mut |c, out| {
                    narrow(job.level, results[c], roots[c].exponent, out, |value| value);
                });
            }
        });
    }
}

/// Rounds units of `2^-exponent` to whole numbers, ties to even.
#[inline(always)]
fn narrow<T>(level: Level, from: &[i16], exponent: u32, out: &mut [T], f: impl Fn(i16) -> T) {
    level.vectorize(
        #[inline(always)]
        || {
            let out = out;
            if exponent == 0 {
                for (out, &value) in out.iter_mut().zip(from) {
                    *out = f(value);
                }
                return;
            }
            let below_half = (1_i16 << (exponent - 1)) - 1;
            for (out, &value) in out.iter_mut().zip(from) {
                *out = f((value + below_half + ((value >> exponent) & 1)) >> exponent);
            }
        },
    );
}

/// Whole numbers of 16 bits, of bytes or of samples that are such.
#[derive(Debug)]
pub(super) struct Short;

impl Arithmetic for Short {
    type Number = i16;

    fn as_it_is<'a>(row: &Row<'a>, desc: &ImageDesc, plane: usize) -> Option<&'a [i16]> {
        (desc.dtype() == DType::I16).then(|| row.plane(plane))
    }

    fn load(
        job: &Job<'_>,
        row: Option<&Row<'_>>,
        desc: &ImageDesc,
        plane: Option<usize>,
        source: Source,
        to: [Option<&mut [i16]>; 4],
    ) {
        let Some(row) = row else {
            let constant = source.constant() as i16;
            to.into_iter().flatten().for_each(|to| to.fill(constant));
            return;
        };
        if desc.dtype() == DType::I16 {
            // Only compared, in flat rows.
            let src = row.plane::<i16>(plane.unwrap_or_default());
            for to in to.into_iter().flatten() {
                let [left, middle, right] = source.parts(to);
                source.outside(0, left, |place| src[place], |value| value as i16);
                source.outside(left.len() + middle.len(), right, |place| src[place], |value| value as i16);
                middle.copy_from_slice(&src[source.inside()]);
            }
            return;
        }
        let interleaved = samples::is_interleaved(desc, plane);
        let step = if interleaved { desc.channels() } else { 1 };
        for (channel, to) in to.into_iter().enumerate() {
            let Some(to) = to else { continue };
            let apart = if desc.layout() == Layout::Chw { channel } else { 0 };
            let src = row.plane::<u8>(plane.unwrap_or(apart));
            let first = if interleaved { channel } else { 0 };
            let [left, middle, right] = source.parts(to);
            let (sample, constant) =
                (|place: usize| i16::from(src[place * step + first]), |value: f32| value as i16);
            source.outside(0, left, sample, constant);
            source.outside(left.len() + middle.len(), right, sample, constant);
            let src = &src[source.inside().start * step..source.inside().end * step];
            if step == 1 {
                widen(job.level, src, middle);
            } else {
                let mut picked = [0; PICKED];
                pick(job.level, src, first, step, &mut picked[..middle.len()]);
                widen(job.level, &picked, middle);
            }
        }
    }

    fn apply(job: &Job<'_>, _: &[Table], _: usize, op: &Operation, from: &[&[i16]], to: &mut [i16]) {
        let level = job.level;
        // Nothing wraps: that is what the bounds say.
        match op {
            Operation::Number(number) => to.fill(short(*number)),
            Operation::Columns([even, odd]) => {
                to.as_chunks_mut::<2>().0.iter_mut().for_each(|pair| *pair = [*even as i16, *odd as i16]);
            }
            Operation::Unary(_) => each1(level, from[0], to, i16::wrapping_abs),
            Operation::Binary(Binary::Mul) => each2(level, from, to, i16::wrapping_mul),
            Operation::Binary(Binary::Min) => each2(level, from, to, Ord::min),
            Operation::Binary(Binary::Max) => each2(level, from, to, Ord::max),
            Operation::Select(compare) => select(level, *compare, from, to),
            Operation::Extreme(op) => extreme(level, *op, from, to),
            Operation::Sum { start, weights } => {
                let (first, from) = if start.is_none() { (Some(from[0]), &from[1..]) } else { (None, from) };
                let mut factors = [0; MAX_OPERANDS];
                factors.iter_mut().zip(weights).for_each(|(to, &weight)| *to = short(weight));
                sum_of_products(level, start.map_or(0, short), first, (from, &factors[..from.len()]), to);
            }
            Operation::Position(_)
            | Operation::Binary(_)
            | Operation::Fma
            | Operation::Luma
            | Operation::Function(..)
            | Operation::Products
            | Operation::Tabulated(_)
            | Operation::Lookup(_) => {
                unreachable!("no such nodes are made")
            }
        }
    }
}

/// Numbers of a program in 16 bits are known.
fn short(number: Number) -> i16 {
    number.get(&[]) as i16
}

fn widen(level: Level, src: &[u8], to: &mut [i16]) {
    level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (to, &sample) in to.iter_mut().zip(src) {
                *to = i16::from(sample);
            }
        },
    );
}

/// Samples of a channel at most: of a block and what is read beside it.
const PICKED: usize = store::LONGEST + 2 * Offset::MAX as usize;

/// One channel of interleaved pixels.
fn pick(level: Level, src: &[u8], channel: usize, channels: usize, to: &mut [u8]) {
    if channels == 3 {
        return merge::pick(level, src, channel, to);
    }
    let done = match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(v3) => Shuffle::new(channels, &[Some(channel)]).run(v3, src, to),
        Level::Portable => 0,
    };
    let rest = src[done * channels..].chunks_exact(channels);
    to[done..].iter_mut().zip(rest).for_each(|(to, pixel)| *to = pixel[channel]);
}
