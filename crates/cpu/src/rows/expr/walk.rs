//! The walk over a program, block by block, for whatever it computes with.

use std::fmt;

use bytemuck::Pod;
use mip_core::ImageDesc;

use super::program::{Load, MAX_OPERANDS, Operand, Operation, Program, Work};
use super::samples::Source;
use super::store::LONGEST;
use super::values::Table;
use super::{Around, row_of};
use crate::rows::Job;
use crate::rows::row::{Row, RowMut};

/// Numbers that an operation computes at once: a multiple of what any vector holds, times four for those that sum.
pub(super) const TILE: usize = 64;

/// What a program computes with.
pub(super) trait Arithmetic: fmt::Debug + Send + Sync {
    type Number: Pod;

    /// The row as numbers, where it is read as it lies.
    fn as_it_is<'a>(_row: &Row<'a>, _desc: &ImageDesc, _plane: usize) -> Option<&'a [Self::Number]> {
        None
    }

    /// Loads the places that `source` names, of flat rows or of those channels that have room.
    fn load(
        job: &Job<'_>,
        row: Option<&Row<'_>>,
        desc: &ImageDesc,
        plane: Option<usize>,
        source: Source,
        to: [Option<&mut [Self::Number]>; 4],
    );

    /// Computes an operation of a block whose first place is `start`; all lengths are the same multiple of [`TILE`].
    fn apply(
        job: &Job<'_>,
        tables: &[Table],
        start: usize,
        op: &Operation,
        from: &[&[Self::Number]],
        to: &mut [Self::Number],
    );
}

/// Where a block lies: samples (or pixels) `start..start + count` of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) plane: usize,
    pub(super) start: usize,
    pub(super) count: usize,
}

impl Place {
    /// Numbers that are computed: whole tiles.
    const fn tiles(self) -> usize {
        self.count.next_multiple_of(TILE)
    }
}

/// Takes the results of a block.
type Store<'a, N> = dyn FnMut(Place, [&[N]; 4]) + 'a;

/// Which images a program reads, and how.
#[derive(Debug, Clone)]
pub(super) struct Reads {
    pub(super) inputs: Vec<ImageDesc>,
    /// Every sample is computed from the samples at its own place, so that rows need not be taken apart into channels.
    pub(super) flat: bool,
    /// Of a stencil.
    pub(super) around: Option<Around>,
}

/// Operands of most operations.
const FEW: usize = 8;

/// Bytes of the first-level cache that blocks take.
pub(super) const BUDGET: usize = 16 << 10;

/// Numbers of a block at least, and at most where it is not taken apart into channels.
pub(super) const LEAST_BLOCK: usize = 256;
const LONGEST_ROW: usize = 4096;

/// Registers that may be a row as it lies.
const ROWS: usize = 32;

/// The registers of a program.
struct Registers<'m, 'a, N> {
    memory: &'m mut [N],
    tables: &'m [Table],
    /// Instead of a register the row that it would be a copy of, from `reach` before the block on.
    rows: [Option<&'a [N]>; ROWS],
    size: usize,
    /// Where a block lies in its register: aligned.
    halo: usize,
    reach: usize,
    length: usize,
}

impl Program {
    fn halo(&self) -> usize {
        self.reach.next_multiple_of(32)
    }

    /// Numbers of a block: as many as leave room for all registers in the first-level cache.
    fn block<A: Arithmetic>(&self) -> usize {
        let most = if self.flat { LONGEST_ROW } else { LONGEST };
        let room = BUDGET / size_of::<A::Number>() / self.registers.max(1);
        (room / TILE * TILE).clamp(LEAST_BLOCK, most)
    }

    /// Bytes of the registers.
    pub(super) fn bytes<A: Arithmetic>(&self) -> usize {
        self.registers * (self.block::<A>() + 2 * self.halo()) * size_of::<A::Number>()
    }

    /// Computes a row of so many planes of so many places and gives the results of each block to `store`.
    pub(super) fn run<A: Arithmetic>(
        &self,
        job: &Job<'_>,
        (reads, tables): (&Reads, &[Table]),
        scratch: &mut [u8],
        [planes, length]: [usize; 2],
        store: &mut Store<'_, A::Number>,
    ) {
        let mut registers = self.registers::<A>(tables, scratch);
        let first = Place { plane: 0, start: 0, count: registers.length };
        self.once.iter().for_each(|work| registers.work::<A>(job, reads, first, work));
        let block = registers.length;
        for plane in 0..planes {
            for start in (0..length).step_by(block) {
                let at = Place { plane, start, count: (length - start).min(block) };
                registers.length = at.tiles();
                self.work.iter().for_each(|work| registers.work::<A>(job, reads, at, work));
                let mut results: [&[A::Number]; 4] = [&[]; 4];
                for (result, &operand) in results.iter_mut().zip(&self.results) {
                    *result = &registers.read(operand, (&*registers.memory, &[]), registers.memory.len())
                        [..at.count];
                }
                store(at, results);
            }
        }
    }

    /// The same of a program that keeps nothing from block to block and has one result, of what it computes with. Rows are read
    /// where they lie, but for the blocks at their ends, and the last operation writes where the result goes.
    pub(super) fn run_in_place<A: Arithmetic>(
        &self,
        job: &Job<'_>,
        reads: &Reads,
        scratch: &mut [u8],
        planes: usize,
        out: &mut RowMut<'_>,
    ) {
        let mut registers = self.registers::<A>(&[], scratch);
        let (block, ends) = (registers.length, self.reach.next_multiple_of(TILE));
        for plane in 0..planes {
            let out = out.plane::<A::Number>(plane);
            let mut start = 0;
            while start < out.len() {
                let rest = out.len() - start;
                let count = match rest.saturating_sub(ends) / TILE * TILE {
                    0 => rest,
                    _ if start < ends => ends.min(rest),
                    inside => inside.min(block),
                };
                let at = Place { plane, start, count: count.min(block) };
                registers.block_in_place::<A>(job, reads, self, at, &mut out[start..]);
                start += at.count;
            }
        }
    }

    fn registers<'m, 'a, A: Arithmetic>(
        &self,
        tables: &'m [Table],
        scratch: &'m mut [u8],
    ) -> Registers<'m, 'a, A::Number> {
        let memory = bytemuck::cast_slice_mut(&mut scratch[..self.bytes::<A>()]);
        let (block, halo, reach) = (self.block::<A>(), self.halo(), self.reach);
        Registers { memory, tables, rows: [None; ROWS], size: block + 2 * halo, halo, reach, length: block }
    }
}

impl<'a, N: Pod> Registers<'_, 'a, N> {
    /// An operand's block, where the registers from `middle` on stand behind a gap of one.
    #[inline(always)]
    fn read<'r>(&self, operand: Operand, (before, after): (&'r [N], &'r [N]), middle: usize) -> &'r [N]
    where
        'a: 'r,
    {
        let Operand { register, shift } = operand;
        if let Some(Some(row)) = self.rows.get(register) {
            return &row[self.reach.wrapping_add_signed(shift)..][..self.length];
        }
        let start = register * self.size;
        let at = self.halo.wrapping_add_signed(shift);
        if start < middle {
            &before[start + at..][..self.length]
        } else {
            &after[start - middle - self.size + at..][..self.length]
        }
    }

    #[inline(always)]
    fn operands<'r, const COUNT: usize>(
        &self,
        of: &[Operand],
        memory: (&'r [N], &'r [N]),
        middle: usize,
    ) -> [&'r [N]; COUNT]
    where
        'a: 'r,
    {
        let mut from: [&[N]; COUNT] = [&[]; COUNT];
        for (slice, &operand) in from.iter_mut().zip(of) {
            *slice = self.read(operand, memory, middle);
        }
        from
    }

    fn work<A: Arithmetic<Number = N>>(&mut self, job: &Job<'a>, reads: &Reads, at: Place, work: &Work) {
        let work = match work {
            Work::Load(load) => return self.load::<A>(job, reads, at, load),
            Work::Do(work) => work,
        };
        let memory = std::mem::take(&mut self.memory);
        let middle = work.to * self.size;
        let (before, rest) = memory.split_at_mut(middle);
        let (own, after) = rest.split_at_mut(self.size);
        let to = &mut own[self.halo..][..self.length];
        // Most operations have few operands, and long arrays take time to fill.
        if work.from.len() <= FEW {
            let from: [&[N]; FEW] = self.operands(&work.from, (before, after), middle);
            A::apply(job, self.tables, at.start, &work.op, &from[..work.from.len()], to);
        } else {
            let from: [&[N]; MAX_OPERANDS] = self.operands(&work.from, (before, after), middle);
            A::apply(job, self.tables, at.start, &work.op, &from[..work.from.len()], to);
        }
        if let Some(row) = self.rows.get_mut(work.to) {
            *row = None;
        }
        self.memory = memory;
    }

    /// A block whose result goes to `out`, by the last operation or as a copy of a register.
    fn block_in_place<A: Arithmetic<Number = N>>(
        &mut self,
        job: &Job<'a>,
        reads: &Reads,
        program: &Program,
        at: Place,
        out: &mut [N],
    ) {
        self.length = at.tiles();
        let (last, before) = match program.work.split_last() {
            Some((Work::Do(last), before)) if self.length <= out.len() && last.from.len() <= FEW => {
                (Some(last), before)
            }
            _ => (None, &program.work[..]),
        };
        for work in before {
            self.work::<A>(job, reads, at, work);
        }
        let memory = (&*self.memory, &[][..]);
        if let Some(last) = last {
            let from: [&[N]; FEW] = self.operands(&last.from, memory, memory.0.len());
            let to = &mut out[..self.length];
            A::apply(job, self.tables, at.start, &last.op, &from[..last.from.len()], to);
        } else {
            let result = self.read(program.results[0], memory, memory.0.len());
            out[..at.count].copy_from_slice(&result[..at.count]);
        }
    }

    fn load<A: Arithmetic<Number = N>>(&mut self, job: &Job<'a>, reads: &Reads, at: Place, load: &Load) {
        let desc = &reads.inputs[load.slot];
        let row = row_of(job, reads.around, load.slot, load.dy);
        let plane = reads.flat.then_some(at.plane);
        if let (Some(row), [Some(register), None, None, None]) = (&row, load.to)
            && register < ROWS
        {
            let (start, end) = (at.start.checked_sub(self.reach), at.start + self.length + self.reach);
            let whole = A::as_it_is(row, desc, at.plane).filter(|_| reads.flat);
            self.rows[register] = start.and_then(|start| whole?.get(start..end));
            if self.rows[register].is_some() {
                return;
            }
        }
        let (first, count) = (self.halo - self.reach, at.count + 2 * self.reach);
        let mut to: [Option<&mut [N]>; 4] = [None, None, None, None];
        for (register, memory) in self.memory.chunks_exact_mut(self.size).enumerate() {
            if let Some(channel) = load.to.iter().position(|&wanted| wanted == Some(register)) {
                to[channel] = Some(&mut memory[first..first + count]);
                if let Some(row) = self.rows.get_mut(register) {
                    *row = None;
                }
            }
        }
        let source = Source::new(desc, reads, at.start as isize - self.reach as isize, count);
        A::load(job, row.as_ref(), desc, plane, source, to);
    }
}
