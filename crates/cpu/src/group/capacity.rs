//! How many rows each cache must hold.
//!
//! Two demands: all rows that one row of a consumer reads must be there at once (needed for correctness), and
//! a row should not be thrown out before its last use (needed for speed: it would be computed again). The
//! second number comes from playing a few bands through with caches that never forget, and counting how
//! many other rows are touched between two uses of the same one.

use std::ops::Range;

use super::program::{Root, for_each_row, together};
use crate::rows::{Input, OUTSIDE, RowStage, Taps};

/// Rows of each result played through at each of the sampled places.
const SAMPLE: u32 = 40;
/// Caches never hold more rows for the sake of speed alone.
const MAX: usize = 64;

/// Passes over a row that are played through: what is used again later than that is not kept anyway.
const PASSES: usize = 2 * MAX;

/// Lines for each stage; 0 when nobody reads it.
pub(super) fn lines(stages: &[RowStage], roots: &[Root]) -> Vec<usize> {
    let inputs: Vec<Vec<usize>> = stages.iter().map(stages_read).collect();
    let mut needed = vec![0; stages.len()];
    for place in 0..3 {
        let seen = vec![Vec::new(); stages.len()];
        let mut play = Play { stages, inputs: &inputs, seen, needed: &mut needed };
        let ranges: Vec<Range<u32>> = roots.iter().map(|root| sample(root.height, place)).collect();
        for_each_row(&ranges, |root, row| {
            let Root { stage, shared, .. } = roots[root];
            if shared {
                play.fetch(stage, row);
            } else if let Some(rows) = together(&stages[stage], &ranges[root], row) {
                play.compute(stage, rows);
            }
        });
    }
    needed
}

/// The stages that one reads, each once, later ones first, as the worker goes through them.
fn stages_read(step: &RowStage) -> Vec<usize> {
    let stage = |input: &Input| if let Input::Stage(stage) = *input { Some(stage) } else { None };
    let mut stages: Vec<usize> = step.inputs.iter().filter_map(stage).collect();
    stages.sort_unstable_by(|a, b| b.cmp(a));
    stages.dedup();
    stages
}

/// The first, middle or last rows of a result.
fn sample(height: u32, place: u32) -> Range<u32> {
    let len = height.min(SAMPLE);
    let start = (height - len) / 2 * place.min(1) + (height - len).div_ceil(2) * u32::from(place == 2);
    start..start + len
}

struct Play<'a> {
    stages: &'a [RowStage],
    /// The stages that each reads.
    inputs: &'a [Vec<usize>],
    /// The rows of each stage that were ever computed, the one used last at the end: most uses are of rows near it.
    seen: Vec<Vec<u32>>,
    needed: &'a mut [usize],
}

impl Play<'_> {
    /// Uses a row; false when it has never been computed.
    fn touch(&mut self, stage: usize, row: u32) -> bool {
        let Some(between) = self.forget(stage, row) else { return false };
        self.needed[stage] = self.needed[stage].max((between + 1).min(MAX));
        self.seen[stage].push(row);
        true
    }

    /// Takes a row from those of a stage; how many were used since it was.
    fn forget(&mut self, stage: usize, row: u32) -> Option<usize> {
        let seen = &mut self.seen[stage];
        let place = seen.iter().rposition(|&known| known == row)?;
        seen.remove(place);
        Some(seen.len() - place)
    }

    fn fetch(&mut self, stage: usize, row: u32) {
        if !self.touch(stage, row) {
            let step = &self.stages[stage];
            let end = (row + 1).next_multiple_of(step.together as u32).min(step.height);
            self.compute(stage, row..end);
            for row in row..end {
                self.forget(stage, row);
                self.seen[stage].push(row);
            }
            self.needed[stage] = self.needed[stage].max(1);
        }
    }

    fn compute(&mut self, stage: usize, y: Range<u32>) {
        let (step, inputs) = (&self.stages[stage], self.inputs);
        let (mut rows, mut missing) = (Vec::new(), Vec::new());
        for pass in 0..step.passes.min(PASSES) {
            rows.clear();
            for y in y.clone() {
                let mut taps = [0; Taps::MAX];
                let count = step.taps.rows(y, pass, &mut taps);
                rows.extend(taps[..count].iter().copied().filter(|&row| row != OUTSIDE));
            }
            rows.sort_unstable();
            rows.dedup();
            // As the worker does: rows that are there before rows that are not.
            for &input in &inputs[stage] {
                self.needed[input] = self.needed[input].max(rows.len());
                missing.extend(rows.iter().copied().filter(|&row| !self.touch(input, row)));
                for row in missing.drain(..) {
                    self.fetch(input, row);
                }
            }
        }
    }
}
