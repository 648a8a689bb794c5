//! Expressions, for any program: a few hundred samples at a time, one loop an operation, over blocks of binary32 that stay
//! in the first-level cache.

mod apply;
mod integers;
mod pixels;
mod ranks;
mod samples;

use std::sync::Arc;

use mip_core::{DType, ImageDesc, Layout, f16};
use mip_plan::{Axis, Border, Channel, Expr, Offset, Op, Results, Stencil};

use self::apply::{binary, columns, fma, luma, select, unary};
use self::integers::Integers;
use self::pixels::Work;
use self::ranks::Ranks;
use self::samples::{Load, Store};
use super::row::{Row, RowMut};
use super::{Job, RowKernel};

/// Samples of a block: a multiple of every vector's length.
const BLOCK: usize = 256;

type Values = [f32; BLOCK];

/// [`mip_plan::Point`] and [`Stencil`].
#[derive(Debug)]
struct ExprRows {
    /// What is the same for every block of a row.
    once: Vec<Work>,
    steps: Vec<Work>,
    /// Register of each result, by channel; of the only one where samples are taken one by one.
    results: Vec<usize>,
    registers: usize,
    inputs: Vec<ImageDesc>,
    output: ImageDesc,
    /// Every sample is computed from the samples at its own place, so that rows need not be taken apart into channels.
    flat: bool,
    /// Of a stencil.
    around: Option<Around>,
}

/// What a stencil reads beside its own row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around {
    /// What lies outside.
    border: Border,
    /// The tap that is the pixel's own row.
    own: usize,
}

impl Around {
    fn of(stencil: &Stencil) -> Self {
        Self { border: stencil.border, own: stencil.expr.reach().1 as usize }
    }
}

/// The row at a distance; `None` outside a constant border.
fn row_of<'a>(job: &Job<'a>, around: Option<Around>, slot: usize, offset: Offset) -> Option<Row<'a>> {
    match around {
        Some(Around { own, .. }) => job.tap(own.wrapping_add_signed(offset.dy.into())),
        None => Some(job.own(slot)),
    }
}

/// The row kernel of a point expression.
pub(crate) fn point(
    expr: &Expr,
    inputs: &[ImageDesc],
    output: ImageDesc,
) -> Result<Arc<dyn RowKernel>, String> {
    lower(expr, inputs, output, None)
}

/// The row kernel of a stencil.
pub(crate) fn stencil(
    stencil: &Stencil,
    input: ImageDesc,
    output: ImageDesc,
) -> Result<Arc<dyn RowKernel>, String> {
    lower(&stencil.expr, &[input], output, Some(Around::of(stencil)))
}

fn lower(
    expr: &Expr,
    inputs: &[ImageDesc],
    output: ImageDesc,
    around: Option<Around>,
) -> Result<Arc<dyn RowKernel>, String> {
    Ok(match output.dtype() {
        DType::U8 if let Some(ranks) = Ranks::<u8>::new(expr, inputs, output, around) => Arc::new(ranks),
        DType::U16 if let Some(ranks) = Ranks::<u16>::new(expr, inputs, output, around) => Arc::new(ranks),
        DType::I16 if let Some(ranks) = Ranks::<i16>::new(expr, inputs, output, around) => Arc::new(ranks),
        DType::U8 if let Some(rows) = Integers::<u8>::new(expr, inputs, output, around) => Arc::new(rows),
        DType::I16 if let Some(rows) = Integers::<i16>::new(expr, inputs, output, around) => Arc::new(rows),
        DType::U8 | DType::U16 | DType::I16 | DType::F16 | DType::F32 => {
            Arc::new(ExprRows::new(expr, inputs, output, around)?)
        }
    })
}

/// An operation with its operands and result in registers.
#[derive(Debug, Clone, Copy)]
struct Step {
    op: Op,
    /// Registers of the operands, in the operation's order.
    from: [usize; 4],
    to: usize,
}

impl ExprRows {
    fn new(
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
        let (ops, results) = pixels::gathered(resolved.ops(), &results);
        let (steps, registers, results) = allocate(&ops, &results);
        let keeps = keeps_numbers(&ops);
        let (once, steps): (Vec<Step>, _) = steps.into_iter().partition(|step| keeps && is_number(&step.op));
        let (once, steps) = (pixels::together(once, inputs), pixels::together(steps, inputs));
        Ok(Self { once, steps, results, registers, inputs: inputs.to_vec(), output, flat, around })
    }

    fn load(
        &self,
        job: &Job<'_>,
        (slot, channel, offset): (u8, Channel, Offset),
        at: Place,
        to: &mut Values,
    ) {
        let slot = usize::from(slot);
        let Some(row) = row_of(job, self.around, slot, offset) else {
            to.fill(samples::outside_of(self.around));
            return;
        };
        let desc = &self.inputs[slot];
        let channel = match channel {
            Channel::Index(channel) => usize::from(channel),
            // A flat row, whose samples all are alike.
            Channel::Own | Channel::Red | Channel::Green | Channel::Blue | Channel::Alpha => 0,
        };
        let (plane, place) = if self.flat {
            (at.plane, samples::Source::flat(desc, at, offset, self.around))
        } else {
            let (plane, first, step) = super::point::strided(desc, channel);
            (plane, samples::Source::pixels(desc, at, offset, self.around).every(first, step))
        };
        match desc.dtype() {
            DType::U8 => job.level.with(Load { src: row.plane::<u8>(plane), place, to }),
            DType::U16 => job.level.with(Load { src: row.plane::<u16>(plane), place, to }),
            DType::I16 => job.level.with(Load { src: row.plane::<i16>(plane), place, to }),
            DType::F16 => job.level.with(Load { src: row.plane::<f16>(plane), place, to }),
            DType::F32 => job.level.with(Load { src: row.plane::<f32>(plane), place, to }),
        }
    }

    /// Several channels of the same pixels.
    fn load_pixels(
        &self,
        job: &Job<'_>,
        (slot, offset): (u8, Offset),
        at: Place,
        to: [Option<usize>; 4],
        registers: &mut [Values],
    ) {
        let slot = usize::from(slot);
        let Some(row) = row_of(job, self.around, slot, offset) else {
            let outside = samples::outside_of(self.around);
            to.into_iter().flatten().for_each(|register| registers[register].fill(outside));
            return;
        };
        let desc = &self.inputs[slot];
        let place = samples::Source::pixels(desc, at, offset, self.around).every(0, desc.channels());
        pixels::load(job, &row, desc, place, to, registers);
    }

    fn run(&self, work: &[Work], job: &Job<'_>, at: Place, registers: &mut [Values]) {
        for work in work {
            let step = match *work {
                Work::Step(step) => step,
                Work::Pixels { slot, at: offset, to } => {
                    self.load_pixels(job, (slot, offset), at, to, registers);
                    continue;
                }
            };
            let (before, rest) = registers.split_at_mut(step.to);
            let Some((to, after)) = rest.split_first_mut() else { return };
            let from = |i: usize| {
                let register = step.from[i];
                if register < step.to { &before[register] } else { &after[register - step.to - 1] }
            };
            match step.op {
                Op::Input { slot, channel, at: offset } => self.load(job, (slot, channel, offset), at, to),
                Op::Position(Axis::X) => columns(job.level, at.start, to),
                Op::Position(Axis::Y) => to.fill(job.y as f32),
                Op::Uniform(index) => to.fill(job.uniforms[usize::from(index)]),
                Op::Const(bits) => to.fill(bits.get()),
                Op::Unary(op, _) => unary(job.level, op, from(0), to),
                Op::Binary(op, ..) => binary(job.level, op, [from(0), from(1)], to),
                Op::Fma(..) => fma(job.level, [from(0), from(1), from(2)], to),
                Op::Luma(..) => luma(job.level, [from(0), from(1), from(2)], to),
                Op::Select { compare, .. } => {
                    select(job.level, compare, [from(0), from(1), from(2), from(3)], to);
                }
            }
        }
    }

    fn store(&self, job: &Job<'_>, at: Place, registers: &[Values], out: &mut RowMut<'_>) {
        for (channel, &result) in self.results.iter().enumerate() {
            let (plane, first, step) =
                if self.flat { (at.plane, 0, 1) } else { super::point::strided(&self.output, channel) };
            let from = &registers[result];
            match self.output.dtype() {
                DType::U8 => job.level.with(Store { out: out.plane::<u8>(plane), at, first, step, from }),
                DType::U16 => job.level.with(Store { out: out.plane::<u16>(plane), at, first, step, from }),
                DType::I16 => job.level.with(Store { out: out.plane::<i16>(plane), at, first, step, from }),
                DType::F16 => job.level.with(Store { out: out.plane::<f16>(plane), at, first, step, from }),
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

impl RowKernel for ExprRows {
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
            (1, self.output.width() as usize)
        };
        for plane in 0..planes {
            for start in (0..length).step_by(BLOCK) {
                let at = Place { plane, start, count: (length - start).min(BLOCK) };
                if (plane, start) == (0, 0) {
                    self.run(&self.once, job, at, registers);
                }
                self.run(&self.steps, job, at, registers);
                self.store(job, at, registers, out);
            }
        }
    }
}

fn is_flat(expr: &Expr, inputs: &[ImageDesc], output: &ImageDesc) -> bool {
    let each = matches!(expr.results(), Results::EachChannel(_));
    let own =
        expr.ops().iter().all(|op| !matches!(op, Op::Input { channel, .. } if *channel != Channel::Own));
    let same = |input: &ImageDesc| (input.format(), input.layout()) == (output.format(), output.layout());
    let anywhere = !expr.reads_position();
    let interleaved = output.layout() == Layout::Hwc || output.planes() == output.channels();
    each && own && anywhere && interleaved && !output.format().has_alpha() && inputs.iter().all(same)
}

/// Numbers that keep their registers from block to block; more of them would push everything else out of the cache.
const MAX_KEPT: usize = 12;

/// Whether an operation's result is the same for all blocks.
const fn is_number(op: &Op) -> bool {
    matches!(op, Op::Uniform(_) | Op::Const(_))
}

/// Whether such results are kept.
fn keeps_numbers(ops: &[Op]) -> bool {
    ops.iter().filter(|op| is_number(op)).count() <= MAX_KEPT
}

/// Gives every operation a register of its own while its result is needed, and never one of its operands'. What is kept has
/// its register for itself.
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
    let keeps = keeps_numbers(ops);
    for (index, &op) in ops.iter().enumerate() {
        let fresh = if keeps && is_number(&op) { None } else { free.pop() };
        let to = fresh.unwrap_or_else(|| {
            registers += 1;
            registers - 1
        });
        let mut from = [0; 4];
        let mut ends: Vec<usize> = Vec::new();
        for (from, operand) in from.iter_mut().zip(op.operands()) {
            let Some(operand) = operand.map(usize::from) else { continue };
            *from = place[operand];
            let kept = keeps && is_number(&ops[operand]);
            if last_use[operand] == index && !ends.contains(&operand) && !kept {
                ends.push(operand);
            }
        }
        free.extend(ends.into_iter().map(|operand| place[operand]));
        place.push(to);
        steps.push(Step { op, from, to });
    }
    (steps, registers, results.iter().map(|&result| place[result]).collect())
}
