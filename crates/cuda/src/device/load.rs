use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use mip_core::{ALIGNMENT, BatchLayout};
use mip_plan::{Group, Kernel, Operand, Plan, Stage};
use mip_runtime::device::{DeviceError, Space};

use super::executable::{
    CudaExecutable, FieldOffsets, LoadedBranch, LoadedFunction, LoadedKernel, LoadedLaunch, Location,
};
use super::shared::Shared;
use crate::codegen::{
    Branch, Destination, Input, Program, StageCode, branch_offset, intermediates, programs, put_branches,
    put_pointer,
};
use crate::driver::{DeviceMemory, Module};

/// Compiles a group, uploads its tables and prepares its parameters.
pub(super) fn load(
    shared: &Arc<Shared>,
    plan: &Plan,
    index: usize,
) -> Result<Arc<CudaExecutable>, DeviceError> {
    shared.alive()?;
    let group = &plan.groups[index];
    let programs = programs(plan, index, shared.target).map_err(|(stage, message)| {
        let kernel = group.stages[stage].kernel.name().to_owned();
        DeviceError::Build { kernel, message }
    })?;
    let name = name(group, &programs);
    let custom = matches!(group.stages[..], [Stage { kernel: Kernel::Custom(_), .. }]);
    let mut modules = Vec::with_capacity(programs.len());
    for program in &programs {
        match compile(shared, plan, group, program) {
            // The user's own source: its task fails when it runs, as one that fails on the CPU does.
            Err(error @ DeviceError::Build { .. }) if custom => {
                return Ok(Arc::new(CudaExecutable::broken(shared.clone(), name, error)));
            }
            module => modules.push(module?),
        }
    }
    let tables = Tables::upload(shared, &programs)?;
    let layouts: Vec<BatchLayout> = plan.buffers.iter().map(|b| b.layout).collect();
    let (destinations, bytes) = intermediates(group, &layouts);
    let workspace = if programs.iter().all(|p| p.code.unfused.is_none()) { 0 } else { bytes };
    let places = Places { group, reads: group.reads(), writes: group.writes(), destinations };
    let mut kernels = Vec::new();
    for (program, module) in programs.iter().zip(&modules) {
        for (position, kernel) in program.code.stages.iter().enumerate() {
            let at_once = program.at_once;
            let branch = |(index, branch): (usize, &Branch)| {
                let own = &branch.kernels[position];
                let offset = branch_offset(at_once, index, own.fields.bytes().len());
                LoadedBranch {
                    offset,
                    uniforms: places.uniforms(own, &branch.stages, offset),
                    inputs: own.inputs.iter().map(|input| places.input(input, &branch.stages)).collect(),
                    outputs: own.outputs.iter().map(|&stage| places.output(branch.stages[stage])).collect(),
                }
            };
            let launch = |branches: &[Branch]| {
                let parameters: Vec<Vec<u8>> =
                    branches.iter().map(|branch| tables.parameters(&branch.kernels[position])).collect();
                LoadedLaunch {
                    parameter: put_branches(at_once, &parameters),
                    branches: branches.iter().enumerate().map(branch).collect(),
                }
            };
            kernels.push(LoadedKernel {
                functions: functions(shared, module, kernel)?,
                fields: FieldOffsets {
                    input: kernel.fields.offset("in"),
                    output: kernel.fields.offset("out"),
                    batch: kernel.fields.offset("batch"),
                },
                grid: kernel.grid,
                at_once,
                launches: program.branches.chunks(at_once).map(launch).collect(),
            });
        }
    }
    let shared = shared.clone();
    Ok(Arc::new(CudaExecutable { shared, name, kernels, _tables: tables.memory, workspace, broken: None }))
}

/// For errors: the kernels of the branches, those of the same program once.
fn name(group: &Group, programs: &[Program]) -> String {
    let of = |program: &Program| {
        let names = program.branches[0].stages.iter().map(|&s| group.stages[s].kernel.name());
        let names = names.collect::<Vec<_>>().join("+");
        match program.branches.len() {
            1 => names,
            count => format!("{names} ({count} branches)"),
        }
    };
    programs.iter().map(of).collect::<Vec<_>>().join(", ")
}

/// Machine code from the cache or the compiler, loaded. An entry of the cache that the driver refuses is made anew.
fn compile(
    shared: &Shared,
    plan: &Plan,
    group: &Group,
    program: &Program,
) -> Result<Arc<Module>, DeviceError> {
    let code = &program.code;
    let failed = |log: String| {
        let stage = program.branches[0].stages[code.stage_of_log(&log)];
        let task = plan.tasks.get(group.stages[stage].task).map_or("", |t| t.name.as_ref());
        let kernel = group.stages[stage].kernel.name().to_owned();
        DeviceError::Build { kernel, message: format!("in task '{task}': {log}") }
    };
    let cubin = shared.compiler.cubin(&code.source).map_err(failed)?;
    if let Ok(module) = Module::load(&shared.context, &cubin) {
        return Ok(module);
    }
    let cubin = shared.compiler.fresh_cubin(&code.source).map_err(failed)?;
    shared.check(Module::load(&shared.context, &cubin))
}

fn functions(
    shared: &Shared,
    module: &Arc<Module>,
    stage: &StageCode,
) -> Result<Vec<LoadedFunction>, DeviceError> {
    let load = |variant: &crate::codegen::Variant| {
        Ok(LoadedFunction {
            function: shared.check(module.function(&variant.entry))?,
            align_in: variant.align_in as u64,
            align_out: variant.align_out as u64,
        })
    };
    stage.variants.iter().map(load).collect()
}

/// All tables in one block of memory, each that occurs several times once.
struct Tables {
    memory: Option<DeviceMemory>,
    /// Bytes from the start of the block, by contents.
    offsets: HashMap<Vec<u8>, u64>,
}

impl Tables {
    fn upload(shared: &Shared, programs: &[Program]) -> Result<Self, DeviceError> {
        let mut bytes = Vec::new();
        let mut offsets = HashMap::new();
        let kernels = programs.iter().flat_map(|p| &p.branches).flat_map(|b| &b.kernels);
        for table in kernels.flat_map(|k| &k.tables) {
            if !offsets.contains_key(&table.bytes) {
                bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
                offsets.insert(table.bytes.clone(), bytes.len() as u64);
                bytes.extend_from_slice(&table.bytes);
            }
        }
        if bytes.is_empty() {
            return Ok(Self { memory: None, offsets });
        }
        let memory = DeviceMemory::with_contents(&shared.context, &bytes);
        let memory = memory.map_err(|error| shared.allocation_error(Space::Device, bytes.len(), error))?;
        Ok(Self { memory: Some(memory), offsets })
    }

    /// The bytes of a kernel's parameters, with the addresses of its tables.
    fn parameters(&self, kernel: &StageCode) -> Vec<u8> {
        let mut bytes = kernel.fields.bytes();
        let start = self.memory.as_ref().map_or(0, DeviceMemory::address);
        for table in &kernel.tables {
            let address = start + self.offsets[&table.bytes];
            put_pointer(&mut bytes, kernel.fields.offset(&table.field), address);
        }
        bytes
    }
}

/// Where operands are at a launch.
struct Places<'a> {
    group: &'a Group,
    reads: Vec<usize>,
    writes: Vec<usize>,
    destinations: Vec<Destination>,
}

impl Places<'_> {
    /// Of an input of a kernel of a branch of these stages.
    fn input(&self, input: &Input, stages: &[usize]) -> Location {
        match *input {
            Input { source: Operand::Buffer(id), corner: [0, 0] } => {
                Location::Input(index_of(&self.reads, id))
            }
            Input { source: Operand::Buffer(id), corner } => {
                Location::Part { input: index_of(&self.reads, id), corner }
            }
            Input { source: Operand::Stage(stage), .. } => self.output(stages[stage]),
        }
    }

    fn output(&self, stage: usize) -> Location {
        match self.destinations[stage] {
            Destination::Buffer(id) => Location::Output(index_of(&self.writes, id)),
            Destination::Workspace { offset, layout } => Location::Workspace { offset, layout },
        }
    }

    /// By stage with uniforms: where they begin in a kernel's parameter, in which the branch's own begin at `offset`, and
    /// how many there are.
    fn uniforms(&self, kernel: &StageCode, stages: &[usize], offset: usize) -> Vec<(usize, usize, usize)> {
        let place = |(stage, field): &(usize, Cow<'static, str>)| {
            let stage = stages[*stage];
            (stage, offset + kernel.fields.offset(field), self.group.stages[stage].uniforms.len())
        };
        kernel.uniforms.iter().map(place).collect()
    }
}

fn index_of(list: &[usize], id: usize) -> usize {
    list.iter().position(|&other| other == id).expect("a group reads and writes what its stages name")
}
