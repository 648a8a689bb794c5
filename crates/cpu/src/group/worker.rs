use std::cmp::Reverse;

use super::bands::RowBand;
use super::program::{Cache, Rows, for_each_row, together};
use super::shared::Shared;
use crate::rows::{BLOCK, Indices, Input, Job, MAX_INPUTS, OUTSIDE, RowMut, RowStage, TOGETHER, Taps};

/// Computes bands with its own share of the workspace.
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
    tags: &'a mut [u32],
    memory: &'a mut [u8],
    frame: usize,
    clock: u32,
}

/// Tag of an empty line; no image has so many rows.
const EMPTY: u32 = u32::MAX;

impl<'a> Worker<'a> {
    /// A worker over `workspace`, which has [`Rows::worker_bytes`] aligned bytes.
    pub(super) fn new(shared: Shared<'a>, workspace: &'a mut [u8]) -> Self {
        let (tags, memory) = workspace.split_at_mut(shared.program.tag_bytes());
        let tags = match shared.program.tags {
            // A group without caches gets no memory, not even aligned memory.
            0 => &mut [],
            count => &mut bytemuck::cast_slice_mut(tags)[..count],
        };
        Self { shared, tags, memory, frame: usize::MAX, clock: 0 }
    }

    /// Computes a band.
    pub(super) fn run(&mut self, band: &mut RowBand<'_>) {
        if self.frame != band.frame {
            // Rows of the band before are still good when this band belongs to the same image.
            self.tags.fill(EMPTY);
            self.clock = 0;
            self.frame = band.frame;
        }
        let Rows { roots, stages, .. } = self.shared.program;
        let (ranges, band_frame) = (band.rows.clone(), band.frame);
        for_each_row(&ranges, |root, y| {
            let stage = roots[root].stage;
            if roots[root].shared {
                let since = self.clock;
                let line = self.find(stage, y).unwrap_or_else(|| self.fill(stage, y, since));
                let origin = self.shared.origin(Input::Stage(stage), self.memory, band_frame);
                band.row_mut(root, y).copy_from(&origin.row(line as u32));
            } else if stages[stage].together == 1 {
                self.compute(stage, y, Target::Out(std::slice::from_mut(&mut band.row_mut(root, y))));
            } else if let Some(rows) = together(&stages[stage], &ranges[root], y) {
                let count = rows.len();
                if stages[stage].together == BLOCK {
                    let mut out = band.rows_mut::<BLOCK>(root, rows);
                    self.compute(stage, y, Target::Out(&mut out[..count]));
                } else {
                    let mut out = band.rows_mut::<TOGETHER>(root, rows);
                    self.compute(stage, y, Target::Out(&mut out[..count]));
                }
            }
        });
    }

    /// Finds the line of a row and marks it as used.
    #[inline]
    fn find(&mut self, stage: usize, row: u32) -> Option<usize> {
        let Cache { lines, tags, .. } = self.shared.program.caches[stage];
        let held = &self.tags[tags..tags + lines];
        let mapped = mapped_line(lines, row);
        let line = if held.get(mapped) == Some(&row) {
            mapped
        } else {
            held.iter().position(|&held| held == row)?
        };
        self.clock += 1;
        self.tags[tags + lines + line] = self.clock;
        Some(line)
    }

    /// Computes a row into the line it is mapped to, or, when that holds a row used after the time `since`,
    /// into the line that has not been used for the longest time. Where the stage likes it, rows that follow
    /// are computed as well, if they are missing and nothing used since is in the lines they are mapped to.
    fn fill(&mut self, stage: usize, row: u32, since: u32) -> usize {
        let Cache { lines, tags, .. } = self.shared.program.caches[stage];
        let (held, times) = self.tags[tags..tags + 2 * lines].split_at_mut(lines);
        let age = |line: usize| if held[line] == EMPTY { 0 } else { times[line] };
        let mapped = mapped_line(lines, row);
        let line = if age(mapped) <= since {
            mapped
        } else {
            (0..lines).min_by_key(|&line| age(line)).expect("a stage that is read has lines")
        };
        let step = &self.shared.program.stages[stage];
        let mut count = 1;
        if step.together > 1 && line == mapped {
            let end = (row + 1).next_multiple_of(step.together as u32).min(step.height);
            let free = |row: u32, line: usize| held[line] != row && age(line) <= since;
            count += (row + 1..end).zip(mapped + 1..).take_while(|&(row, line)| free(row, line)).count();
        }
        held[line..line + count].fill(EMPTY);
        self.compute(stage, row, Target::Lines(line, count));
        self.clock += 1;
        let (held, times) = self.tags[tags..tags + 2 * lines].split_at_mut(lines);
        for (row, line) in (row..).zip(line..line + count) {
            held[line] = row;
            // Rows that were not asked for may go again at once.
            times[line] = since;
        }
        times[line] = self.clock;
        line
    }

    /// Computes the rows of a stage from `y` on that the target has room for.
    fn compute(&mut self, stage: usize, y: u32, target: Target<'_, '_>) {
        let program = self.shared.program;
        let (step, cache) = (&program.stages[stage], &program.caches[stage]);
        let bytes = cache.shape.slot();
        match step.together {
            1 => {}
            BLOCK => return self.compute_together::<BLOCK>(stage, y, target),
            _ => return self.compute_together::<TOGETHER>(stage, y, target),
        }
        let mut target = target;
        for pass in 0..step.passes {
            let mut indices = [[OUTSIDE; Taps::MAX]; MAX_INPUTS];
            self.fetch_inputs(step, y, pass, self.clock, &mut indices);
            let (before, own) = self.memory.split_at_mut(cache.offset);
            let (lines, scratch) = own.split_at_mut(cache.scratch - cache.offset);
            let origins = self.shared.origins(step, before, self.frame);
            let uniforms = &self.shared.uniforms[step.uniforms];
            let Shared { level, uniforms: all_uniforms, .. } = self.shared;
            let job = Job { level, pass, y, uniforms, all_uniforms, origins, indices: &indices };
            let scratch = &mut scratch[..cache.scratch_bytes];
            match &mut target {
                Target::Out(out) => step.kernel.compute(&job, scratch, &mut out[0]),
                Target::Lines(line, _) => {
                    let mut out = cache.shape.row_mut(&mut lines[*line * bytes..][..bytes]);
                    step.kernel.compute(&job, scratch, &mut out);
                }
            }
        }
    }

    /// Several rows, at most `N`, of a stage that likes that; such stages have one pass.
    ///
    /// Fetching computes other stages, so what is on the stack here is there once for each stage of a chain: what only
    /// the kernel needs is left to [`Worker::launch_together`], and neither is inlined into [`Worker::compute`].
    #[inline(never)]
    fn compute_together<const N: usize>(&mut self, stage: usize, y: u32, target: Target<'_, '_>) {
        let step = &self.shared.program.stages[stage];
        let count = match &target {
            Target::Out(out) => out.len(),
            Target::Lines(_, count) => *count,
        };
        let mut indices = [[[OUTSIDE; Taps::MAX]; MAX_INPUTS]; N];
        let since = self.clock;
        for (y, indices) in (y..).zip(&mut indices[..count]) {
            self.fetch_inputs(step, y, 0, since, indices);
        }
        self.launch_together(stage, y, &indices, count, target);
    }

    /// Runs the kernel of a stage for the first `count` rows, whose inputs are there.
    #[inline(never)]
    fn launch_together<const N: usize>(
        &mut self,
        stage: usize,
        y: u32,
        indices: &[[Indices; MAX_INPUTS]; N],
        count: usize,
        target: Target<'_, '_>,
    ) {
        let program = self.shared.program;
        let (step, cache) = (&program.stages[stage], &program.caches[stage]);
        let (before, own) = self.memory.split_at_mut(cache.offset);
        let (lines, scratch) = own.split_at_mut(cache.scratch - cache.offset);
        let origins = self.shared.origins(step, before, self.frame);
        let uniforms = &self.shared.uniforms[step.uniforms];
        let Shared { level, uniforms: all_uniforms, .. } = self.shared;
        let jobs: [Job<'_>; N] = std::array::from_fn(|i| Job {
            level,
            pass: 0,
            y: y + i as u32,
            uniforms,
            all_uniforms,
            origins,
            indices: &indices[i],
        });
        let scratch = &mut scratch[..cache.scratch_bytes];
        match target {
            Target::Out(out) => step.kernel.compute_together(&jobs[..count], scratch, out),
            Target::Lines(line, _) => {
                let bytes = cache.shape.slot();
                let mut out: [RowMut<'_>; N] = std::array::from_fn(|_| RowMut::default());
                let memory = lines[line * bytes..][..count * bytes].chunks_exact_mut(bytes);
                out.iter_mut().zip(memory).for_each(|(out, memory)| *out = cache.shape.row_mut(memory));
                step.kernel.compute_together(&jobs[..count], scratch, &mut out[..count]);
            }
        }
    }

    /// Makes sure that every row which a pass reads is in its cache, and tells where. Rows used after the time `since`
    /// stay there.
    fn fetch_inputs(
        &mut self,
        step: &RowStage,
        y: u32,
        pass: usize,
        since: u32,
        indices: &mut [Indices; MAX_INPUTS],
    ) {
        let count = step.taps.rows(y, pass, &mut indices[0]);
        if step.inputs.len() == 1 {
            if let Input::Stage(input) = step.inputs[0] {
                self.fetch_all(input, since, &mut indices[0][..count]);
            }
            return;
        }
        let inputs = step.inputs.len();
        let (first, others) = indices.split_at_mut(1);
        others[..inputs - 1].fill(first[0]);
        let mut order = [0, 1, 2, 3];
        let order = &mut order[..inputs];
        order.sort_unstable_by_key(|&operand| match step.inputs[operand] {
            Input::Stage(stage) => Reverse(stage),
            Input::Buffer(_) => Reverse(0),
        });
        for &mut operand in order {
            if let Input::Stage(input) = step.inputs[operand] {
                self.fetch_all(input, since, &mut indices[operand][..count]);
            }
        }
    }

    /// Replaces row numbers by lines: first of the rows that are there, then of those computed now.
    #[inline]
    fn fetch_all(&mut self, stage: usize, since: u32, rows: &mut [u32]) {
        const { assert!(Taps::MAX <= u32::BITS as usize) };
        let mut missing = 0_u32;
        for (k, row) in rows.iter_mut().enumerate() {
            if *row == OUTSIDE {
                continue;
            }
            match self.find(stage, *row) {
                Some(line) => *row = line as u32,
                None => missing |= 1 << k,
            }
        }
        while missing != 0 {
            let k = missing.trailing_zeros() as usize;
            missing &= missing - 1;
            // The border may name a row twice.
            rows[k] = match self.find(stage, rows[k]) {
                Some(line) => line as u32,
                None => self.fill(stage, rows[k], since) as u32,
            };
        }
    }
}

/// The line where a row is looked for first; the number of lines is a power of two, or 0.
const fn mapped_line(lines: usize, row: u32) -> usize {
    row as usize & lines.wrapping_sub(1)
}

/// Where computed rows go.
enum Target<'a, 'b> {
    /// To the output.
    Out(&'a mut [RowMut<'b>]),
    /// To so many lines that follow each other, the first one's index before.
    Lines(usize, usize),
}
