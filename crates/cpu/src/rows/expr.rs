//! Point expressions, for any program: a few hundred samples at a time, one loop an operation, over blocks of binary32
//! that stay in the first-level cache.

use mip_core::{DType, ImageDesc, Layout};
use mip_plan::{Binary, Channel, Compare, Expr, Op, Results, Unary};

use super::row::{Row, RowMut};
use super::{Job, RowKernel};
use crate::simd::{Level, Pixel, Vector, WithVector};

/// Samples of a block: a multiple of every vector's length.
const BLOCK: usize = 256;

type Values = [f32; BLOCK];

/// [`mip_plan::MapKernel::Point`].
#[derive(Debug)]
pub(crate) struct PointRows {
    steps: Vec<Step>,
    /// Register of each result, by channel; of the only one where samples are taken one by one.
    results: Vec<usize>,
    registers: usize,
    inputs: Vec<ImageDesc>,
    output: ImageDesc,
    /// Every sample is computed from the samples at its own place, so that rows need not be taken apart into channels.
    flat: bool,
}

/// An operation with its operands and result in registers.
#[derive(Debug, Clone, Copy)]
struct Step {
    op: Op,
    /// Registers of the operands, in the operation's order.
    from: [usize; 4],
    to: usize,
}

impl PointRows {
    pub(crate) fn new(expr: &Expr, inputs: &[ImageDesc], output: ImageDesc) -> Result<Self, String> {
        let flat = is_flat(expr, inputs, &output);
        let resolved = if flat { expr.clone() } else { expr.resolve(inputs, &output)? };
        let results: Vec<usize> = match resolved.results() {
            Results::EachChannel(result) => vec![usize::from(*result)],
            Results::Channels(results) => results.iter().map(|&r| usize::from(r)).collect(),
        };
        let (steps, registers, results) = allocate(resolved.ops(), &results);
        Ok(Self { steps, results, registers, inputs: inputs.to_vec(), output, flat })
    }

    fn load(&self, level: Level, row: &Row<'_>, at: Place, op: Op, to: &mut Values) {
        let Op::Input { slot, channel } = op else { return };
        let desc = &self.inputs[usize::from(slot)];
        let channel = match channel {
            Channel::Index(channel) => usize::from(channel),
            // A flat row, whose samples all are alike.
            _ => 0,
        };
        let (plane, first, step) =
            if self.flat { (at.plane, 0, 1) } else { super::point::strided(desc, channel) };
        match desc.dtype {
            DType::U8 => level.with(Load { src: row.plane::<u8>(plane), at, first, step, to }),
            DType::U16 => level.with(Load { src: row.plane::<u16>(plane), at, first, step, to }),
            DType::F32 => level.with(Load { src: row.plane::<f32>(plane), at, first, step, to }),
        }
    }

    fn run(&self, job: &Job<'_>, at: Place, registers: &mut [Values], out: &mut RowMut<'_>) {
        for step in &self.steps {
            let (before, rest) = registers.split_at_mut(step.to);
            let Some((to, after)) = rest.split_first_mut() else { return };
            let from = |i: usize| {
                let register = step.from[i];
                if register < step.to { &before[register] } else { &after[register - step.to - 1] }
            };
            match step.op {
                Op::Input { slot, .. } => self.load(job.level, &job.own(usize::from(slot)), at, step.op, to),
                Op::Uniform(index) => to.fill(job.uniforms[usize::from(index)]),
                Op::Const(bits) => to.fill(bits.get()),
                Op::Unary(op, _) => unary(job.level, op, from(0), to),
                Op::Binary(op, ..) => binary(job.level, op, [from(0), from(1)], to),
                Op::Fma(..) => fma(job.level, [from(0), from(1), from(2)], to),
                Op::Select { compare, .. } => {
                    select(job.level, compare, [from(0), from(1), from(2), from(3)], to);
                }
            }
        }
        for (channel, &result) in self.results.iter().enumerate() {
            let (plane, first, step) =
                if self.flat { (at.plane, 0, 1) } else { super::point::strided(&self.output, channel) };
            let from = &registers[result];
            match self.output.dtype {
                DType::U8 => job.level.with(Store { out: out.plane::<u8>(plane), at, first, step, from }),
                DType::U16 => job.level.with(Store { out: out.plane::<u16>(plane), at, first, step, from }),
                DType::F32 => job.level.with(Store { out: out.plane::<f32>(plane), at, first, step, from }),
            }
        }
    }
}

/// Where a block lies: samples (or pixels) `start..start + count` of a row.
#[derive(Debug, Clone, Copy)]
struct Place {
    plane: usize,
    start: usize,
    count: usize,
}

impl RowKernel for PointRows {
    fn scratch_bytes(&self) -> usize {
        self.registers * size_of::<Values>()
    }

    fn compute(&self, job: &Job<'_>, scratch: &mut [u8], out: &mut RowMut<'_>) {
        let numbers: &mut [f32] =
            bytemuck::cast_slice_mut(&mut scratch[..self.registers * size_of::<Values>()]);
        let registers = numbers.as_chunks_mut::<BLOCK>().0;
        let (planes, length) = if self.flat {
            (self.output.planes(), self.output.row_samples())
        } else {
            (1, self.output.width as usize)
        };
        for plane in 0..planes {
            for start in (0..length).step_by(BLOCK) {
                let at = Place { plane, start, count: (length - start).min(BLOCK) };
                self.run(job, at, registers, out);
            }
        }
    }
}

fn is_flat(expr: &Expr, inputs: &[ImageDesc], output: &ImageDesc) -> bool {
    let own =
        expr.ops().iter().all(|op| !matches!(op, Op::Input { channel, .. } if *channel != Channel::Own));
    let same = |input: &ImageDesc| (input.format, input.layout) == (output.format, output.layout);
    let interleaved = output.layout == Layout::Hwc || output.planes() == output.channels();
    own && interleaved && !output.format.has_alpha() && inputs.iter().all(same)
}

/// Gives every operation a register of its own while its result is needed, and never one of its operands'.
fn allocate(ops: &[Op], results: &[usize]) -> (Vec<Step>, usize, Vec<usize>) {
    let mut last_use: Vec<usize> = (0..ops.len()).collect();
    for (index, &op) in ops.iter().enumerate() {
        op.operands().into_iter().flatten().for_each(|o| last_use[usize::from(o)] = index);
    }
    for &result in results {
        last_use[result] = ops.len();
    }
    let (mut free, mut registers, mut place): (Vec<usize>, usize, Vec<usize>) = (Vec::new(), 0, Vec::new());
    let mut steps = Vec::with_capacity(ops.len());
    for (index, &op) in ops.iter().enumerate() {
        let to = free.pop().unwrap_or_else(|| {
            registers += 1;
            registers - 1
        });
        let mut from = [0; 4];
        let mut ends: Vec<usize> = Vec::new();
        for (from, operand) in from.iter_mut().zip(op.operands()) {
            let Some(operand) = operand.map(usize::from) else { continue };
            *from = place[operand];
            if last_use[operand] == index && !ends.contains(&operand) {
                ends.push(operand);
            }
        }
        free.extend(ends.into_iter().map(|operand| place[operand]));
        place.push(to);
        steps.push(Step { op, from, to });
    }
    (steps, registers, results.iter().map(|&result| place[result]).collect())
}

struct Load<'a, T> {
    src: &'a [T],
    at: Place,
    first: usize,
    step: usize,
    to: &'a mut Values,
}

impl<T: Pixel> WithVector for Load<'_, T> {
    #[inline(always)]
    fn run<const N: usize, V: Vector<N>>(self, v: V) {
        let Self { src, at: Place { start, count, .. }, first, step, to } = self;
        match step {
            1 => widen::<N, V, T>(v, &src[start..start + count], to),
            3 => split::<N, V, T, 3>(v, &src[3 * start..3 * (start + count)], first, to),
            4 => split::<N, V, T, 4>(v, &src[4 * start..4 * (start + count)], first, to),
            _ => {
                let samples = src[start * step + first..].iter().step_by(step);
                to.iter_mut().zip(samples).take(count).for_each(|(to, sample)| *to = sample.to_f32());
            }
        }
    }
}

#[inline(always)]
fn widen<const N: usize, V: Vector<N>, T: Pixel>(v: V, src: &[T], to: &mut Values) {
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
    to: &mut Values,
) {
    let pixels = src.as_chunks::<C>().0;
    let (blocks, rest) = pixels.as_chunks::<N>();
    let done = blocks.len() * N;
    for (block, to) in blocks.iter().zip(to.as_chunks_mut::<N>().0) {
        f32::store(v, T::split(v, block)[channel], to);
    }
    rest.iter().zip(&mut to[done..]).for_each(|(pixel, to)| *to = pixel[channel].to_f32());
}

struct Store<'a, T> {
    out: &'a mut [T],
    at: Place,
    first: usize,
    step: usize,
    from: &'a Values,
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

/// Applies `f` to each value of a block with a level's instructions.
#[inline(always)]
fn each<const K: usize>(level: Level, from: [&Values; K], to: &mut Values, f: impl Fn([f32; K]) -> f32) {
    level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (i, to) in to.iter_mut().enumerate() {
                let mut values = [0.0; K];
                for (value, from) in values.iter_mut().zip(&from) {
                    *value = from[i];
                }
                *to = f(values);
            }
        },
    );
}

fn unary(level: Level, op: Unary, a: &Values, to: &mut Values) {
    match op {
        Unary::Neg => each(level, [a], to, |[a]| Unary::Neg.apply(a)),
        Unary::Abs => each(level, [a], to, |[a]| Unary::Abs.apply(a)),
        Unary::Sqrt => each(level, [a], to, |[a]| Unary::Sqrt.apply(a)),
        Unary::Floor => each(level, [a], to, |[a]| Unary::Floor.apply(a)),
        Unary::Ceil => each(level, [a], to, |[a]| Unary::Ceil.apply(a)),
        Unary::Round => each(level, [a], to, |[a]| Unary::Round.apply(a)),
    }
}

fn binary(level: Level, op: Binary, from: [&Values; 2], to: &mut Values) {
    match op {
        Binary::Add => each(level, from, to, |[a, b]| Binary::Add.apply(a, b)),
        Binary::Sub => each(level, from, to, |[a, b]| Binary::Sub.apply(a, b)),
        Binary::Mul => each(level, from, to, |[a, b]| Binary::Mul.apply(a, b)),
        Binary::Div => each(level, from, to, |[a, b]| Binary::Div.apply(a, b)),
        Binary::Min => each(level, from, to, |[a, b]| Binary::Min.apply(a, b)),
        Binary::Max => each(level, from, to, |[a, b]| Binary::Max.apply(a, b)),
    }
}

fn fma(level: Level, from: [&Values; 3], to: &mut Values) {
    each(level, from, to, |[a, b, c]| a.mul_add(b, c));
}

fn select(level: Level, compare: Compare, from: [&Values; 4], to: &mut Values) {
    match compare {
        Compare::Lt => each(level, from, to, |[a, b, x, y]| if a < b { x } else { y }),
        Compare::Le => each(level, from, to, |[a, b, x, y]| if a <= b { x } else { y }),
        Compare::Gt => each(level, from, to, |[a, b, x, y]| if a > b { x } else { y }),
        Compare::Ge => each(level, from, to, |[a, b, x, y]| if a >= b { x } else { y }),
        Compare::Eq => each(level, from, to, |[a, b, x, y]| if a == b { x } else { y }),
        Compare::Ne => each(level, from, to, |[a, b, x, y]| if a == b { y } else { x }),
    }
}
