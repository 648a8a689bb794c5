//! How a GPU would divide the work of a plan, worked out without a GPU.

use mip_core::BatchLayout;
use mip_plan::{Group, Plan, Tiles, Tiling};

use crate::codegen::{Program, StageCode, Target, fused_tiles, programs, workspace};

/// Multiprocessors that are assumed where there is no GPU to ask: an H100 (SXM) has as many.
pub const ASSUMED_MULTIPROCESSORS: u32 = 132;

/// The blocks of a group's kernels on a GPU of so many multiprocessors. Needs no GPU.
///
/// # Errors
/// Why the group cannot be generated.
pub fn tiling(plan: &Plan, group: usize, multiprocessors: u32) -> Result<Tiling, String> {
    let target = Target { multiprocessors, ..Target::default() };
    let programs = programs(plan, group, target).map_err(|(_, reason)| reason)?;
    let group = &plan.groups[group];
    let target = target.of_branches(&group.branches());
    let layouts: Vec<BatchLayout> = plan.buffers.iter().map(|b| b.layout).collect();
    let kernels = programs.iter().flat_map(|program| kernels(group, &layouts, program, target)).collect();
    let mut several = programs.iter().filter(|program| program.branches[0].stages.len() > 1);
    Ok(Tiling { kernels, unfused: several.find_map(|p| p.code.unfused.clone()) })
}

/// What a program is launched as, for all its branches.
fn kernels(group: &Group, layouts: &[BatchLayout], program: &Program, target: Target) -> Vec<Tiles> {
    let stages = &program.branches[0].stages;
    let branches = program.branches.len() as u64;
    let batch = group.writes().first().map_or(1, |&id| layouts[id].batch_size as u64);
    if let Some(tiles) = fused_tiles(&group.branch(stages), layouts, target) {
        return vec![Tiles { stages: stages.clone(), count: tiles.count * branches, ..tiles }];
    }
    let kernel = |stage: &StageCode| {
        let grid = &stage.grid;
        let frame = [u64::from(grid.x), grid.y];
        Tiles {
            stages: stage.outputs.iter().map(|&stage| stages[stage]).collect(),
            size: None,
            frame,
            count: frame[0] * frame[1] * u64::from(grid.planes) * batch * branches,
            threads: grid.block[0] * grid.block[1],
            local_bytes: u64::from(grid.shared),
            at_once: None,
            halo: None,
        }
    };
    program.code.stages.iter().map(kernel).collect()
}

/// Scratch bytes of a group on such a GPU, as its device tells the planner. Needs no GPU.
pub fn workspace_bytes(group: &Group, layouts: &[BatchLayout], multiprocessors: u32) -> usize {
    workspace(group, layouts, Target { multiprocessors, ..Target::default() })
}

#[cfg(test)]
mod tests {
    use mip_plan::Border;

    use super::*;
    use crate::emulated::cases::{Strides, operators};
    use crate::emulated::group_cases::{edges, plan, workloads};

    #[test]
    fn tiles_of_fused_kernels_cover_the_image_and_compute_little_twice() {
        for (case, _) in workloads() {
            let plan = plan(&case, 32, Strides::Tight);
            let tiling = tiling(&plan, 0, ASSUMED_MULTIPROCESSORS).unwrap();
            let [tiles] = &tiling.kernels[..] else { panic!("{}: {tiling:?}", case.name) };
            let last = plan.groups[0].stages.last().unwrap().output;
            let ([width, height], [across, down]) = (tiles.size.unwrap(), tiles.frame);
            assert_eq!(across, u64::from(last.width()).div_ceil(width), "{}", case.name);
            assert_eq!(down, u64::from(last.height()).div_ceil(height), "{}", case.name);
            assert_eq!((tiles.count, tiling.unfused), (across * down * 32, None));
            let halo = tiles.halo.unwrap();
            assert!((1.0..2.0).contains(&halo), "{}: {halo}", case.name);
            assert_eq!(workspace_bytes(&plan.groups[0], &layouts(&plan), ASSUMED_MULTIPROCESSORS), 0);
        }
    }

    #[test]
    fn a_group_with_a_kernel_a_stage_says_why() {
        let image = operators(64, 64).remove(0).inputs[0];
        let plan = plan(&edges("wrap", image, 32, 32, Border::Wrap), 2, Strides::Tight);
        let tiling = tiling(&plan, 0, ASSUMED_MULTIPROCESSORS).unwrap();
        assert_eq!(tiling.kernels.len(), 4);
        assert!(tiling.unfused.unwrap().contains("wrapped border"));
        let stages: Vec<usize> = tiling.kernels.iter().flat_map(|k| k.stages.clone()).collect();
        assert_eq!(stages, [0, 1, 2, 3]);
        assert!(workspace_bytes(&plan.groups[0], &layouts(&plan), ASSUMED_MULTIPROCESSORS) > 0);
    }

    fn layouts(plan: &Plan) -> Vec<BatchLayout> {
        plan.buffers.iter().map(|b| b.layout).collect()
    }
}
