use mip_plan::{Plan, Tiles, Tiling};
use mip_runtime::device::DeviceError;

use super::program::{Program, Rows};
use super::run::division;
use super::runner::GroupRunner;
use crate::CpuConfig;
use crate::rows::{Indices, Input, OUTSIDE, Taps};

/// The strips of a group on this machine, with the full workspace. Starts no threads.
///
/// # Errors
/// As for [`GroupRunner::new`].
pub fn tiling(plan: &Plan, group: usize, config: &CpuConfig) -> Result<Tiling, DeviceError> {
    let group = &plan.groups[group];
    let runner = GroupRunner::with_pool(group, |id| plan.buffers[id].layout.desc, config, None)?;
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
        let (workers, strips) = division(rows, runner.workers, frames, runner.workspace_bytes());
        let mut results = group.stages.iter().filter(|s| s.store.is_some()).map(|s| s.output);
        let first = results.next();
        let first = first.filter(|first| results.all(|r| (r.width, r.height) == (first.width, first.height)));
        tiles.size = first.map(|r| [u64::from(r.width), u64::from(r.height).div_ceil(strips as u64)]);
        tiles.frame = [1, strips as u64];
        tiles.count = (strips * frames) as u64;
        tiles.local_bytes = rows.worker_bytes as u64;
        tiles.at_once = Some(workers.min(strips * frames).max(1) as u64);
        tiles.halo = Some(computed(rows, strips) as f64 / computed(rows, 1).max(1) as f64);
    }
    Ok(Tiling { kernels: vec![tiles], unfused: None })
}

/// Bytes of rows that all strips of a frame compute: each strip every row that it needs, once.
fn computed(rows: &Rows, strips: usize) -> u64 {
    (0..strips).map(|strip| strip_bytes(rows, strip, strips)).sum()
}

fn strip_bytes(rows: &Rows, strip: usize, strips: usize) -> u64 {
    let heights = rows.stages.iter().map(|stage| stage.height as usize);
    let mut needed: Vec<Vec<bool>> = heights.map(|height| vec![false; height]).collect();
    for root in &rows.roots {
        for y in Rows::strip(root, strip, strips) {
            needed[root.stage][y as usize] = true;
        }
    }
    let mut bytes = 0;
    for (index, stage) in rows.stages.iter().enumerate().rev() {
        let own = std::mem::take(&mut needed[index]);
        for (y, _) in own.iter().enumerate().filter(|(_, needed)| **needed) {
            bytes += (stage.shape.planes * stage.shape.bytes) as u64;
            for pass in 0..stage.passes {
                let mut taps: Indices = [OUTSIDE; Taps::MOST];
                let count = stage.taps.rows(y as u32, pass, &mut taps);
                for input in &stage.inputs {
                    let Input::Stage(input) = *input else { continue };
                    for &row in taps[..count].iter().filter(|&&row| row != OUTSIDE) {
                        needed[input][row as usize] = true;
                    }
                }
            }
        }
    }
    bytes
}
