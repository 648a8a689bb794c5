use std::cmp::Reverse;

use mip_core::ImageView;
use mip_plan::Uniforms;

use super::program::{Cache, Rows, march};
use super::strips::Strip;
use crate::rows::{Indices, Input, Job, OUTSIDE, Origin, RowMut, RowStage, Taps};
use crate::simd::Level;

/// What all workers of a launch share.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub(super) program: &'a Rows,
    pub(super) level: Level,
    pub(super) inputs: &'a [ImageView<'a>],
    pub(super) uniforms: &'a [Uniforms],
}

/// Computes strips with its own share of the workspace.
///
/// Rows are computed on demand. Before a row is computed, all rows that it reads are fetched: first those of
/// later stages, because computing a row only ever disturbs caches of earlier stages; and within a cache
/// first those that are there, because a miss throws out a row that was not used since the fetching began. So when
/// the fetching is over everything needed is there, whatever the order in which rows are asked for.
///
/// Rows mostly follow each other, so a row is looked for first, and put, where its number says: no search, and no
/// branch that is hard to foresee.
pub(super) struct Worker<'a> {
    shared: Shared<'a>,
    marks: &'a mut [u32],
    memory: &'a mut [u8],
    frame: usize,
    clock: u32,
}

/// Mark of an empty slot; no image has so many rows.
const EMPTY: u32 = u32::MAX;

impl<'a> Worker<'a> {
    /// A worker over `workspace`, which has [`Rows::worker_bytes`] aligned bytes.
    pub(super) fn new(shared: Shared<'a>, workspace: &'a mut [u8]) -> Self {
        let (marks, memory) = workspace.split_at_mut(shared.program.mark_bytes());
        let marks = match shared.program.marks {
            // A group without caches gets no memory, not even aligned memory.
            0 => &mut [],
            count => &mut bytemuck::cast_slice_mut(marks)[..count],
        };
        Self { shared, marks, memory, frame: usize::MAX, clock: 0 }
    }

    /// Computes a strip.
    pub(super) fn run(&mut self, strip: &mut Strip<'_>) {
        if self.frame != strip.frame {
            // Rows of the strip before are still good when this strip belongs to the same image.
            self.marks.fill(EMPTY);
            self.clock = 0;
            self.frame = strip.frame;
        }
        let roots = &self.shared.program.roots;
        let (ranges, strip_frame) = (strip.rows.clone(), strip.frame);
        march(&ranges, |root, y| {
            let mut out = strip.row_mut(root, y);
            let stage = roots[root].stage;
            if roots[root].shared {
                let since = self.clock;
                let slot = self.find(stage, y).unwrap_or_else(|| self.fill(stage, y, since));
                let origin = self.shared.origin(Input::Stage(stage), self.memory, strip_frame);
                out.copy_from(&origin.row(slot as u32));
            } else {
                self.compute(stage, y, Target::Out(&mut out));
            }
        });
    }

    /// Finds the slot of a row and marks it as used.
    #[inline]
    fn find(&mut self, stage: usize, row: u32) -> Option<usize> {
        let Cache { slots, marks, .. } = self.shared.program.caches[stage];
        let held = &self.marks[marks..marks + slots];
        let home = home(slots, row);
        let slot =
            if held.get(home) == Some(&row) { home } else { held.iter().position(|&held| held == row)? };
        self.clock += 1;
        self.marks[marks + slots + slot] = self.clock;
        Some(slot)
    }

    /// Computes a row into its home, or, when that holds a row used after the time `since`, into the slot that has
    /// not been used for the longest time.
    fn fill(&mut self, stage: usize, row: u32, since: u32) -> usize {
        let Cache { slots, marks, .. } = self.shared.program.caches[stage];
        let (held, times) = self.marks[marks..marks + 2 * slots].split_at_mut(slots);
        let age = |slot: usize| if held[slot] == EMPTY { 0 } else { times[slot] };
        let home = home(slots, row);
        let slot = if age(home) <= since {
            home
        } else {
            (0..slots).min_by_key(|&slot| age(slot)).expect("a stage that is read has slots")
        };
        held[slot] = EMPTY;
        self.compute(stage, row, Target::Slot(slot));
        self.clock += 1;
        self.marks[marks + slot] = row;
        self.marks[marks + slots + slot] = self.clock;
        slot
    }

    /// Computes a row of a stage.
    fn compute(&mut self, stage: usize, y: u32, mut target: Target<'_, '_>) {
        let program = self.shared.program;
        let (step, cache) = (&program.stages[stage], &program.caches[stage]);
        for pass in 0..step.passes {
            let mut indices = [[OUTSIDE; Taps::MOST]; 2];
            self.fetch_inputs(step, y, pass, &mut indices);
            let (before, own) = self.memory.split_at_mut(cache.offset);
            let (slots, scratch) = own.split_at_mut(cache.scratch - cache.offset);
            let first = self.shared.origin(step.inputs[0], before, self.frame);
            let second = step.inputs.get(1).map(|&input| self.shared.origin(input, before, self.frame));
            let origins = [first, second.unwrap_or(first)];
            let uniforms = &self.shared.uniforms[step.uniforms];
            let job = Job { level: self.shared.level, pass, y, uniforms, origins, indices: &indices };
            let scratch = &mut scratch[..cache.scratch_bytes];
            match &mut target {
                Target::Out(out) => step.kernel.compute(&job, scratch, out),
                Target::Slot(slot) => {
                    let bytes = cache.shape.slot();
                    let mut out = cache.shape.row_mut(&mut slots[*slot * bytes..][..bytes]);
                    step.kernel.compute(&job, scratch, &mut out);
                }
            }
        }
    }

    /// Makes sure that every row which a pass reads is in its cache, and tells where.
    fn fetch_inputs(&mut self, step: &RowStage, y: u32, pass: usize, indices: &mut [Indices; 2]) {
        let count = step.taps.rows(y, pass, &mut indices[0]);
        if step.inputs.len() == 1 {
            if let Input::Stage(input) = step.inputs[0] {
                self.fetch_all(input, &mut indices[0][..count]);
            }
            return;
        }
        indices[1] = indices[0];
        let mut order = [0, 1];
        order.sort_unstable_by_key(|&operand| match step.inputs[operand] {
            Input::Stage(stage) => Reverse(stage),
            Input::Buffer(_) => Reverse(0),
        });
        for operand in order {
            if let Input::Stage(input) = step.inputs[operand] {
                self.fetch_all(input, &mut indices[operand][..count]);
            }
        }
    }

    /// Replaces row numbers by slots: first of the rows that are there, then of those computed now.
    #[inline]
    fn fetch_all(&mut self, stage: usize, rows: &mut [u32]) {
        const { assert!(Taps::MOST <= u32::BITS as usize) };
        let since = self.clock;
        let mut missing = 0_u32;
        for (k, row) in rows.iter_mut().enumerate() {
            if *row == OUTSIDE {
                continue;
            }
            match self.find(stage, *row) {
                Some(slot) => *row = slot as u32,
                None => missing |= 1 << k,
            }
        }
        while missing != 0 {
            let k = missing.trailing_zeros() as usize;
            missing &= missing - 1;
            // The border may name a row twice.
            rows[k] = match self.find(stage, rows[k]) {
                Some(slot) => slot as u32,
                None => self.fill(stage, rows[k], since) as u32,
            };
        }
    }
}

impl<'a> Shared<'a> {
    /// Where the rows of an input are; `before` is the memory of earlier stages.
    #[inline]
    fn origin<'m>(&self, input: Input, before: &'m [u8], frame: usize) -> Origin<'m>
    where
        'a: 'm,
    {
        match input {
            Input::Buffer(buffer) => {
                let (layout, data) = (self.inputs[buffer].layout(), self.inputs[buffer].data());
                Origin {
                    data,
                    start: frame * layout.batch_stride,
                    advance: layout.row_stride,
                    stride: layout.plane_stride,
                    bytes: layout.desc.row_bytes(),
                }
            }
            Input::Stage(stage) => {
                let Cache { shape, offset, .. } = self.program.caches[stage];
                let (stride, bytes) = (shape.stride, shape.bytes);
                Origin { data: before, start: offset, advance: shape.slot(), stride, bytes }
            }
        }
    }
}

/// The slot where a row is looked for first; the number of slots is a power of two, or 0.
const fn home(slots: usize, row: u32) -> usize {
    row as usize & slots.wrapping_sub(1)
}

/// Where a computed row goes.
enum Target<'a, 'b> {
    Out(&'a mut RowMut<'b>),
    Slot(usize),
}
