//! Branches of a group: those that need the same program are launched at once, the parameters of each an element of
//! the kernel's one parameter, picked by `blockIdx.z`.

use std::fmt::Write as _;

use mip_core::BatchLayout;
use mip_plan::Plan;

use super::group::{BranchCode, branch_code};
use super::stage::StageCode;
use super::{Target, without_comments};

/// What comes in front of the elements of a kernel's parameter: their number.
const HEAD_BYTES: usize = 8;

/// A program, and the branches of the group that it is for.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// Sources and kernels, made for the first branch; the others differ in what [`Branch`] holds.
    pub code: BranchCode,
    /// At least one.
    pub branches: Vec<Branch>,
    /// Branches that a launch is for at most.
    pub at_once: usize,
}

/// A branch, and what its launches are given.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    /// Its stages, as indices into the group; the program's own indices point into this list.
    pub stages: Vec<usize>,
    /// By kernel of the program: parameters, tables and operands.
    pub kernels: Vec<StageCode>,
}

/// Generates the programs of a group: one, unless it has branches of several kinds.
///
/// # Errors
/// The stage's index and why it cannot be generated.
pub(crate) fn programs(plan: &Plan, group: usize, target: Target) -> Result<Vec<Program>, (usize, String)> {
    let group = &plan.groups[group];
    let layouts: Vec<BatchLayout> = plan.buffers.iter().map(|b| b.layout).collect();
    let branches = group.branches();
    let target = target.of_branches(&branches);
    let mut kinds: Vec<(String, Program)> = Vec::new();
    for stages in branches {
        let branch = group.branch(&stages);
        let place = |(stage, reason)| (stages[stage], reason);
        let code = branch_code(plan, &branch, &layouts, target, 1).map_err(place)?;
        let text = without_comments(&code.source);
        let grids = || code.stages.iter().map(|s| s.grid);
        let same = |kind: &&mut (String, Program)| {
            kind.0 == text && kind.1.code.stages.iter().map(|s| s.grid).eq(grids())
        };
        let kernels = code.stages.clone();
        if let Some((_, program)) = kinds.iter_mut().find(same) {
            program.branches.push(Branch { stages, kernels });
        } else {
            let branches = vec![Branch { stages, kernels }];
            kinds.push((text, Program { code, branches, at_once: 1 }));
        }
    }
    let mut programs: Vec<Program> = kinds.into_iter().map(|(_, program)| program).collect();
    for program in &mut programs {
        program.at_once = at_once(program, target);
        if program.at_once > 1 {
            let stages = program.branches[0].stages.clone();
            let branch = group.branch(&stages);
            let code = branch_code(plan, &branch, &layouts, target, program.at_once);
            program.code = code.map_err(|(stage, reason)| (stages[stage], reason))?;
        }
    }
    Ok(programs)
}

/// As many branches as a parameter has room for, shared evenly by the launches that all of them take.
fn at_once(program: &Program, target: Target) -> usize {
    let sizes = program.code.stages.iter().map(|s| s.fields.bytes().len());
    let max = (target.parameter_bytes - HEAD_BYTES) / sizes.max().unwrap_or(1).max(1);
    let count = program.branches.len();
    count.div_ceil(count.div_ceil(max.max(1)))
}

/// The kernel's parameter for some branches, whose own parameters these are, all of one size.
pub(crate) fn put_branches(at_once: usize, parameters: &[Vec<u8>]) -> Vec<u8> {
    if at_once == 1 {
        return parameters[0].clone();
    }
    let mut bytes = (parameters.len() as u64).to_ne_bytes().to_vec();
    bytes.extend(parameters.iter().flatten());
    bytes.resize(branch_offset(at_once, at_once, parameters[0].len()), 0);
    bytes
}

/// Where the parameters of a branch begin in the kernel's, each of so many bytes.
pub(crate) const fn branch_offset(at_once: usize, index: usize, bytes: usize) -> usize {
    if at_once == 1 { 0 } else { HEAD_BYTES + index * bytes }
}

/// The text of a kernel: `body` takes its parameters from `p`, whatever number of branches it is for.
pub(super) fn entry(text: &mut String, bounds: &str, entry: &str, params: &str, at_once: usize, body: &str) {
    let head = format!("extern \"C\" __global__ void __launch_bounds__({bounds})");
    let _ = if at_once > 1 {
        writeln!(
            text,
            "{head}\n{entry}(const __grid_constant__ Branches<{params}> all) {{\n    \
             if (blockIdx.z % BRANCHES >= all.count) return;\n    \
             const {params}& p = all.of[blockIdx.z % BRANCHES];\n{body}}}"
        )
    } else {
        writeln!(text, "{head}\n{entry}(const __grid_constant__ {params} p) {{\n{body}}}")
    };
}
