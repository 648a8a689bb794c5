use mip_core::ImageView;
use mip_plan::Uniforms;

use super::program::{Cache, Rows, march};
use super::strips::Strip;
use crate::rows::{Input, Job, Row, RowMut, RowSource, Taps};
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
/// first those that are there, because a miss throws out the row not used for the longest time. So when the
/// fetching is over everything needed is there, whatever the order in which rows are asked for.
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
        let ranges = strip.rows.clone();
        march(&ranges, |root, y| {
            let mut out = strip.row_mut(root, y);
            let stage = roots[root].stage;
            if roots[root].shared {
                let slot = self.fetch(stage, y);
                let cache = &self.shared.program.caches[stage];
                out.copy_from(&slot_row(self.shared.program, self.memory, stage, cache, slot));
            } else {
                self.compute(stage, y, Target::Out(&mut out));
            }
        });
    }

    /// Finds the slot of a row and marks it as used.
    fn find(&mut self, stage: usize, row: u32) -> Option<usize> {
        let Cache { slots, marks, .. } = self.shared.program.caches[stage];
        let slot = self.marks[marks..marks + slots].iter().position(|&held| held == row)?;
        self.clock += 1;
        self.marks[marks + slots + slot] = self.clock;
        Some(slot)
    }

    /// The slot of a row, computing it if need be.
    fn fetch(&mut self, stage: usize, row: u32) -> usize {
        if let Some(slot) = self.find(stage, row) {
            return slot;
        }
        let Cache { slots, marks, .. } = self.shared.program.caches[stage];
        let (held, times) = self.marks[marks..marks + 2 * slots].split_at_mut(slots);
        let age = |slot: &usize| if held[*slot] == EMPTY { 0 } else { times[*slot] };
        let slot = (0..slots).min_by_key(age).expect("a stage that is read has slots");
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
        for pass in 0..step.taps.passes() {
            self.fetch_inputs(stage, y, pass);
            let (before, own) = self.memory.split_at_mut(cache.offset);
            let (slots, scratch) = own.split_at_mut(cache.scratch - cache.offset);
            let source = Source { shared: &self.shared, marks: self.marks, before, frame: self.frame, stage };
            let job = Job {
                level: self.shared.level,
                pass,
                y,
                uniforms: &self.shared.uniforms[step.uniforms],
                taps: &step.taps,
                source: &source,
            };
            let scratch = &mut scratch[..cache.scratch_bytes];
            match &mut target {
                Target::Out(out) => step.kernel.compute(&job, scratch, out),
                Target::Slot(slot) => {
                    let bytes = step.shape.slot();
                    let mut out = step.shape.row_mut(&mut slots[*slot * bytes..][..bytes]);
                    step.kernel.compute(&job, scratch, &mut out);
                }
            }
        }
    }

    /// Makes sure that every row which a pass reads is in its cache.
    fn fetch_inputs(&mut self, stage: usize, y: u32, pass: usize) {
        let step = &self.shared.program.stages[stage];
        let mut inputs = [None; 2];
        for (slot, input) in inputs.iter_mut().zip(&step.inputs) {
            if let Input::Stage(s) = *input {
                *slot = Some(s);
            }
        }
        inputs.sort_unstable_by(|a, b| b.cmp(a));
        for input in inputs.into_iter().flatten() {
            let mut missing = [0; Taps::MOST];
            let mut misses = 0;
            for k in 0..step.taps.count(pass) {
                if let Some(row) = step.taps.row(y, pass, k)
                    && self.find(input, row).is_none()
                {
                    missing[misses] = row;
                    misses += 1;
                }
            }
            for &row in &missing[..misses] {
                self.fetch(input, row);
            }
        }
    }
}

/// Where a computed row goes.
enum Target<'a, 'b> {
    Out(&'a mut RowMut<'b>),
    Slot(usize),
}

/// Finds the input rows of one stage.
struct Source<'a> {
    shared: &'a Shared<'a>,
    marks: &'a [u32],
    /// The memory of earlier stages.
    before: &'a [u8],
    frame: usize,
    stage: usize,
}

impl RowSource for Source<'_> {
    fn row(&self, operand: usize, row: u32) -> Row<'_> {
        let program = self.shared.program;
        match program.stages[self.stage].inputs[operand] {
            Input::Buffer(buffer) => {
                let view = &self.shared.inputs[buffer];
                Row::from_fn(view.layout().desc.planes(), |p| view.row(self.frame, p, row as usize))
            }
            Input::Stage(stage) => {
                let cache = &program.caches[stage];
                let slot = self.marks[cache.marks..cache.marks + cache.slots]
                    .iter()
                    .position(|&held| held == row)
                    .expect("inputs are fetched before a row is computed");
                slot_row(program, self.before, stage, cache, slot)
            }
        }
    }
}

fn slot_row<'m>(program: &Rows, memory: &'m [u8], stage: usize, cache: &Cache, slot: usize) -> Row<'m> {
    let shape = &program.stages[stage].shape;
    shape.row(&memory[cache.offset + slot * shape.slot()..][..shape.slot()])
}
