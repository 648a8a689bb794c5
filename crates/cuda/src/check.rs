//! Looking at generated kernels without a GPU: their text, and whether it compiles.

use mip_plan::Plan;

use crate::codegen::{Target, fuses, programs};
use crate::compile::{Compiler, KernelCache, options};
use crate::device::copy_out;
use crate::driver::{self, library};

/// The CUDA C++ of every group of a plan, by a name made of the group's number and its tasks. Branches of the
/// same program of a group share a program, named after the first of them.
///
/// # Errors
/// The first group that cannot be generated, with the reason (custom kernels, sides too long).
pub fn kernel_sources(plan: &Plan) -> Result<Vec<(String, String)>, String> {
    let mut sources = Vec::new();
    for (index, group) in plan.groups.iter().enumerate() {
        let name = |stages: &[usize]| {
            let names = group.branch(stages).tasks.into_iter().map(|t| plan.tasks[t].name.as_ref());
            format!("{index}: {}", names.collect::<Vec<_>>().join(" + "))
        };
        let failed = |(stage, reason): (usize, String)| format!("group {}: {reason}", name(&[stage]));
        for program in programs(plan, index, Target::default()).map_err(failed)? {
            sources.push((name(&program.branches[0].stages), program.code.source));
        }
    }
    Ok(sources)
}

/// The CUDA C++ of kernels that do not depend on a plan, by name.
pub const fn fixed_sources() -> [(&'static str, &'static str); 1] {
    [("copy_out", copy_out::SOURCE)]
}

/// Whether a group of several stages runs as one kernel; of branches of the same program, whether each does.
///
/// # Errors
/// Why it runs as unfused launches, in words.
pub fn fusion(plan: &Plan, group: usize) -> Result<(), String> {
    let layouts: Vec<_> = plan.buffers.iter().map(|b| b.layout).collect();
    fuses(&plan.groups[group], &layouts, Target::default())
}

/// Whether NVRTC is there: its version, or `None`.
pub fn nvrtc() -> Option<(u32, u32)> {
    library::nvrtc().and_then(|()| driver::nvrtc_version()).ok()
}

/// A compiled source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// Machine code.
    pub cubin: Vec<u8>,
    /// Registers, shared memory and spills of each kernel, as the assembler reports them.
    pub log: String,
}

/// Compiles a source for a compute capability such as (9, 0), with the options a device uses.
///
/// # Errors
/// NVRTC's log; or that NVRTC is not there.
pub fn compile(source: &str, capability: (u32, u32)) -> Result<Compiled, String> {
    library::nvrtc()
        .map_err(|problem| format!("{problem}; name its folder in {}", library::NVRTC_VARIABLE))?;
    let mut options = options(capability);
    options.push("--ptxas-options=-v".to_owned());
    driver::compile(source, &options).map(|c| Compiled { cubin: c.cubin, log: c.log })
}

/// Compiles every group of a plan for a compute capability into the kernel cache (see `MIP_CACHE_DIR`), where
/// a device of that capability finds it. Needs NVRTC, no GPU.
///
/// # Errors
/// What cannot be generated or compiled; that NVRTC is not there; that the cache cannot be written.
pub fn prepare(plan: &Plan, capability: (u32, u32)) -> Result<(), String> {
    library::nvrtc()
        .map_err(|problem| format!("{problem}; name its folder in {}", library::NVRTC_VARIABLE))?;
    let compiler = Compiler::new(KernelCache::in_default_folder()?, capability, &[])?;
    for (name, source) in kernel_sources(plan)? {
        compiler.cubin(&source).map_err(|log| format!("{name}: {log}"))?;
    }
    compiler.cache().problem().map_or(Ok(()), Err)
}
