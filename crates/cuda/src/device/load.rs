use std::sync::Arc;

use mip_core::{ALIGNMENT, BatchLayout};
use mip_plan::{Group, Kernel, Operand, Plan, Stage};
use mip_runtime::device::{DeviceError, Space};

use super::executable::{CudaExecutable, FieldOffsets, LoadedFunction, LoadedStage, Location};
use super::shared::Shared;
use crate::codegen::{Destination, GroupCode, StageCode, group_code, intermediates, put_pointer};
use crate::driver::{DeviceMemory, Module};

/// Compiles a group, uploads its tables and prepares its parameters.
pub(super) fn load(
    shared: &Arc<Shared>,
    plan: &Plan,
    index: usize,
) -> Result<Arc<CudaExecutable>, DeviceError> {
    shared.alive()?;
    let group = &plan.groups[index];
    let code = group_code(plan, index, shared.target).map_err(|(stage, message)| {
        let kernel = group.stages[stage].kernel.name().to_owned();
        DeviceError::Build { kernel, message }
    })?;
    let name = group.stages.iter().map(|s| s.kernel.name()).collect::<Vec<_>>().join("+");
    let custom = matches!(group.stages[..], [Stage { kernel: Kernel::Custom(_), .. }]);
    let module = match compile(shared, plan, group, &code) {
        // The user's own source: its task fails when it runs, as one that fails on the CPU does.
        Err(error @ DeviceError::Build { .. }) if custom => {
            return Ok(Arc::new(CudaExecutable::broken(shared.clone(), name, error)));
        }
        module => module?,
    };
    let (tables, addresses) = upload_tables(shared, &code)?;
    let layouts: Vec<BatchLayout> = plan.buffers.iter().map(|b| b.layout).collect();
    let (destinations, bytes) = intermediates(group, &layouts);
    let workspace = if code.unfused.is_none() { 0 } else { bytes };
    let places = Places { reads: group.reads(), writes: group.writes(), destinations };
    let mut stages = Vec::with_capacity(code.stages.len());
    for (position, stage) in code.stages.iter().enumerate() {
        let uniforms = stage
            .uniforms
            .iter()
            .map(|(index, field)| (*index, stage.fields.offset(field), group.stages[*index].uniforms.len()));
        stages.push(LoadedStage {
            functions: functions(shared, &module, stage)?,
            parameters: parameters(stage, &addresses[position]),
            fields: FieldOffsets {
                input: stage.fields.offset("in"),
                output: stage.fields.offset("out"),
                batch: stage.fields.offset("batch"),
                uniforms: uniforms.collect(),
            },
            grid: stage.grid,
            inputs: stage.inputs.iter().map(|operand| places.input(operand)).collect(),
            outputs: stage.outputs.iter().map(|&stage| places.output(stage)).collect(),
        });
    }
    let shared = shared.clone();
    Ok(Arc::new(CudaExecutable { shared, name, stages, _tables: tables, workspace, broken: None }))
}

/// Machine code from the cache or the compiler, loaded. An entry of the cache that the driver refuses is made anew.
fn compile(
    shared: &Shared,
    plan: &Plan,
    group: &Group,
    code: &GroupCode,
) -> Result<Arc<Module>, DeviceError> {
    let failed = |log: String| {
        let stage = code.stage_of_log(&log);
        let task = plan.tasks.get(group.stages[stage].task).map_or("", |t| t.name.as_str());
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

/// All tables in one block, and by stage the address of each of its tables.
fn upload_tables(
    shared: &Shared,
    code: &GroupCode,
) -> Result<(Option<DeviceMemory>, Vec<Vec<u64>>), DeviceError> {
    let mut bytes = Vec::new();
    let mut offsets = Vec::new();
    for stage in &code.stages {
        let mut of_stage = Vec::new();
        for table in &stage.tables {
            bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
            of_stage.push(bytes.len() as u64);
            bytes.extend_from_slice(&table.bytes);
        }
        offsets.push(of_stage);
    }
    if bytes.is_empty() {
        return Ok((None, offsets));
    }
    let memory = DeviceMemory::with_contents(&shared.context, &bytes);
    let memory = memory.map_err(|error| shared.allocation_error(Space::Device, bytes.len(), error))?;
    for offset in offsets.iter_mut().flatten() {
        *offset += memory.address();
    }
    Ok((Some(memory), offsets))
}

fn parameters(stage: &StageCode, addresses: &[u64]) -> Vec<u8> {
    let mut bytes = stage.fields.bytes();
    for (table, &address) in stage.tables.iter().zip(addresses) {
        put_pointer(&mut bytes, stage.fields.offset(&table.field), address);
    }
    bytes
}

/// Where operands are at a launch.
struct Places {
    reads: Vec<usize>,
    writes: Vec<usize>,
    destinations: Vec<Destination>,
}

impl Places {
    fn input(&self, operand: &Operand) -> Location {
        match *operand {
            Operand::Buffer(id) => Location::Input(index_of(&self.reads, id)),
            Operand::Stage(stage) => self.output(stage),
        }
    }

    fn output(&self, stage: usize) -> Location {
        match self.destinations[stage] {
            Destination::Buffer(id) => Location::Output(index_of(&self.writes, id)),
            Destination::Workspace { offset, layout } => Location::Workspace { offset, layout },
        }
    }
}

fn index_of(list: &[usize], id: usize) -> usize {
    list.iter().position(|&other| other == id).expect("a group reads and writes what its stages name")
}
