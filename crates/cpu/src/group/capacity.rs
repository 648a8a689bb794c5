//! How many rows each cache must hold.
//!
//! Two demands: all rows that one row of a consumer reads must be there at once (needed for correctness), and
//! a row should not be thrown out before its last use (needed for speed: it would be computed again). The
//! second number comes from playing a few bands through with caches that never forget, and counting how
//! many other rows are touched between two uses of the same one.

use std::collections::HashMap;
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
    let mut needed = vec![0; stages.len()];
    for place in 0..3 {
        let mut play =
            Play { stages, seen: vec![HashMap::new(); stages.len()], clock: 0, needed: &mut needed };
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

/// The first, middle or last rows of a result.
fn sample(height: u32, place: u32) -> Range<u32> {
    let len = height.min(SAMPLE);
    let start = (height - len) / 2 * place.min(1) + (height - len).div_ceil(2) * u32::from(place == 2);
    start..start + len
}

struct Play<'a> {
    stages: &'a [RowStage],
    /// Time of the last use of each row of each stage.
    seen: Vec<HashMap<u32, u64>>,
    clock: u64,
    needed: &'a mut [usize],
}

impl Play<'_> {
    /// Uses a row; false when it has never been computed.
    fn touch(&mut self, stage: usize, row: u32) -> bool {
        self.clock += 1;
        let Some(last) = self.seen[stage].get(&row).copied() else { return false };
        let between = self.seen[stage].values().filter(|&&time| time > last).take(MAX).count();
        self.needed[stage] = self.needed[stage].max((between + 1).min(MAX));
        self.seen[stage].insert(row, self.clock);
        true
    }

    fn fetch(&mut self, stage: usize, row: u32) {
        if !self.touch(stage, row) {
            let step = &self.stages[stage];
            let end = (row + 1).next_multiple_of(step.together as u32).min(step.height);
            self.compute(stage, row..end);
            for row in row..end {
                self.clock += 1;
                self.seen[stage].insert(row, self.clock);
            }
            self.needed[stage] = self.needed[stage].max(1);
        }
    }

    fn compute(&mut self, stage: usize, y: Range<u32>) {
        let step = &self.stages[stage];
        for pass in 0..step.passes.min(PASSES) {
            let mut rows = Vec::new();
            for y in y.clone() {
                let mut taps = [0; Taps::MAX];
                let count = step.taps.rows(y, pass, &mut taps);
                rows.extend(taps[..count].iter().copied().filter(|&row| row != OUTSIDE));
            }
            rows.sort_unstable();
            rows.dedup();
            let mut inputs: Vec<usize> = step
                .inputs
                .iter()
                .filter_map(|input| if let Input::Stage(s) = *input { Some(s) } else { None })
                .collect();
            inputs.sort_unstable();
            inputs.dedup();
            // As the worker does: later stages first, rows that are there before rows that are not.
            for &input in inputs.iter().rev() {
                self.needed[input] = self.needed[input].max(rows.len());
                let missing: Vec<u32> = rows.iter().copied().filter(|&row| !self.touch(input, row)).collect();
                for row in missing {
                    self.fetch(input, row);
                }
            }
        }
    }
}
