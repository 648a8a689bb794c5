use std::ops::Range;

use mip_plan::{Plan, Tiles, Tiling};
use mip_runtime::device::DeviceError;

use super::program::{Program, Rows};
use super::run::division;
use super::runner::GroupRunner;
use crate::CpuConfig;
use crate::rows::Input;
use crate::threads::Threads;

/// The bands of a group on this machine, with the full workspace. Starts no threads.
///
/// # Errors
/// As for [`GroupRunner::new`].
pub fn tiling(plan: &Plan, group: usize, config: &CpuConfig) -> Result<Tiling, DeviceError> {
    let group = &plan.groups[group];
    let runner =
        GroupRunner::with_threads(group, |id| plan.buffers[id].layout, config, Threads::none(config))?;
    let frames = plan.batch;
    let mut tiles = Tiles {
        stages: (0..group.stages.len()).collect(),
        size: None,
        frame: [1, 1],
        count: frames as u64,
        threads: 1,
        local_bytes: 0,
        at_once: Some(1),
        halo: None,
    };
    if let Program::Rows(rows) = &runner.program {
        let (workers, bands) = division(rows, runner.threads.count, frames, runner.workspace_bytes());
        let mut results = group.stages.iter().filter(|s| s.store.is_some()).map(|s| s.output);
        let first = results.next();
        let first =
            first.filter(|first| results.all(|r| (r.width(), r.height()) == (first.width(), first.height())));
        tiles.size = first.map(|r| [u64::from(r.width()), u64::from(r.height()).div_ceil(bands as u64)]);
        tiles.frame = [1, bands as u64];
        tiles.count = (bands * frames) as u64;
        tiles.local_bytes = rows.worker_bytes as u64;
        tiles.at_once = Some(workers.min(bands * frames).max(1) as u64);
        tiles.halo = Some(computed(rows, bands) as f64 / computed(rows, 1).max(1) as f64);
    }
    Ok(Tiling { kernels: vec![tiles], unfused: None })
}

/// Bytes of rows that all bands of a frame compute: each band every row that it needs, once.
fn computed(rows: &Rows, bands: usize) -> u64 {
    (0..bands).map(|band| band_bytes(rows, band, bands)).sum()
}

/// Rows are kept as ranges, so that a tall image takes no longer than a low one.
fn band_bytes(rows: &Rows, band: usize, bands: usize) -> u64 {
    let mut needed: Vec<RowSet> = rows.stages.iter().map(|_| RowSet::default()).collect();
    for root in &rows.roots {
        needed[root.stage].add(Rows::band(root, band, bands));
    }
    let mut bytes = 0;
    for (index, stage) in rows.stages.iter().enumerate().rev() {
        let own = std::mem::take(&mut needed[index]).into_ranges();
        bytes +=
            (stage.shape.planes * stage.shape.bytes) as u64 * own.iter().map(|r| r.len() as u64).sum::<u64>();
        for &input in &stage.inputs {
            if let Input::Stage(input) = input {
                for range in &own {
                    stage.taps.sources(range.clone(), |rows| needed[input].add(rows));
                }
            }
        }
    }
    bytes
}

/// Rows, each once.
#[derive(Debug, Default)]
struct RowSet(Vec<Range<u32>>);

impl RowSet {
    fn add(&mut self, rows: Range<u32>) {
        match self.0.last_mut() {
            _ if rows.is_empty() => {}
            // They mostly follow each other.
            Some(last) if last.start <= rows.start && rows.start <= last.end => {
                last.end = last.end.max(rows.end);
            }
            _ => self.0.push(rows),
        }
    }

    /// Ranges that do not touch, in order.
    fn into_ranges(self) -> Vec<Range<u32>> {
        let mut all = self.0;
        all.sort_unstable_by_key(|range| range.start);
        let mut merged = Self::default();
        for range in all {
            merged.add(range);
        }
        merged.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_sets_count_each_row_once() {
        let mut set = RowSet::default();
        for rows in [5..9, 7..8, 9..12, 0..2, 1..3, 20..20, 30..31, 11..13] {
            set.add(rows);
        }
        assert_eq!(set.into_ranges(), [0..3, 5..13, 30..31]);
    }
}
