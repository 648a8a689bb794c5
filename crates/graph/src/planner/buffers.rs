//! Which values exist as memory, and the plan's tasks and groups that name them.

use mip_core::{ALIGNMENT, BatchLayout, ImageDesc, ImageError};
use mip_plan::{Buffer, BufferId, Group, GroupId, Operand, Place, PlanInput, PlanOutput, PlanTask, Stage};

use super::draft::{Draft, DraftValue, StageId};
use crate::GraphError;

type MakeLayout = fn(ImageDesc, usize) -> Result<BatchLayout, ImageError>;

/// Gives memory to pipeline inputs, to outputs, and to what one group makes and another reads.
///
/// Inputs and outputs are tight, as callers hand and expect them; intermediates have padded rows, which every
/// device reads fastest. A result that is an output and is also read by other groups is one buffer.
pub(super) fn assign(draft: &mut Draft<'_>) -> Result<(), GraphError> {
    input_buffers(draft)?;
    let stores = result_buffers(draft)?;
    let group_of = draft.group_of_stage();
    draft.plan.groups = build_groups(draft, &stores, &group_of);
    draft.plan.tasks = plan_tasks(draft, &group_of);
    for (id, group) in draft.plan.groups.iter().enumerate() {
        for buffer in group.reads() {
            draft.plan.buffers[buffer].consumers.push(id);
        }
    }
    Ok(())
}

fn input_buffers(draft: &mut Draft<'_>) -> Result<(), GraphError> {
    for (index, (name, desc)) in draft.graph.inputs().iter().zip(draft.request.inputs).enumerate() {
        let label = format!("@{name}");
        let layout = layout(&label, BatchLayout::tight, *desc, draft.request.batch)?;
        draft.plan.inputs.push(PlanInput { name: name.clone(), buffer: index });
        draft.plan.buffers.push(Buffer {
            name: label,
            layout,
            place: Place::Input(index),
            producer: None,
            consumers: Vec::new(),
        });
    }
    Ok(())
}

/// Makes a buffer for each stage that needs one, in launch order; tells which stage has which.
fn result_buffers(draft: &mut Draft<'_>) -> Result<Vec<Option<BufferId>>, GraphError> {
    let group_of = draft.group_of_stage();
    let mut read_outside = vec![false; draft.stages.len()];
    for (reader, stage) in draft.stages.iter().enumerate() {
        for value in &stage.inputs {
            if let DraftValue::Stage(read) = *value {
                read_outside[read] |= group_of[read] != group_of[reader];
            }
        }
    }
    let mut output_of: Vec<Option<usize>> = vec![None; draft.stages.len()];
    for (index, output) in draft.graph.output_indices().into_iter().enumerate() {
        let task = draft.live.iter().position(|&t| t == output).expect("outputs are never pruned");
        output_of[draft.results[task]] = Some(index);
        // The buffer is known only when its stage is met below, in launch order.
        draft.plan.outputs.push(PlanOutput { task, buffer: usize::MAX });
    }
    let mut stores = vec![None; draft.stages.len()];
    for (group, stages) in draft.groups.iter().enumerate() {
        for &id in stages {
            let stage = &draft.stages[id];
            let (place, make): (Place, MakeLayout) = match output_of[id] {
                Some(output) => (Place::Output(output), BatchLayout::tight),
                None if read_outside[id] => (Place::Arena { offset: 0 }, padded),
                None => continue,
            };
            let buffer = draft.plan.buffers.len();
            if let Some(output) = output_of[id] {
                draft.plan.outputs[output].buffer = buffer;
            }
            let name = value_name(draft, id);
            let layout = layout(&name, make, stage.output, draft.request.batch)?;
            draft.plan.buffers.push(Buffer {
                name,
                layout,
                place,
                producer: Some(group),
                consumers: Vec::new(),
            });
            stores[id] = Some(buffer);
        }
    }
    Ok(stores)
}

fn padded(desc: ImageDesc, batch: usize) -> Result<BatchLayout, ImageError> {
    BatchLayout::pitched(desc, batch, ALIGNMENT)
}

fn layout(name: &str, make: MakeLayout, desc: ImageDesc, batch: usize) -> Result<BatchLayout, GraphError> {
    make(desc, batch).map_err(|source| GraphError::Image { name: name.to_owned(), source })
}

/// The task's name for its result; `name.step` for a value half way through an operator.
fn value_name(draft: &Draft<'_>, stage: StageId) -> String {
    let task = draft.stages[stage].task;
    let name = draft.graph.name_at(draft.live[task]);
    if draft.results[task] == stage {
        return name.to_owned();
    }
    let step = draft.stages[..stage].iter().filter(|s| s.task == task).count();
    format!("{name}.{step}")
}

fn build_groups(draft: &Draft<'_>, stores: &[Option<BufferId>], group_of: &[GroupId]) -> Vec<Group> {
    let depends_on = draft.group_producers();
    let mut position = vec![0; draft.stages.len()];
    for stages in &draft.groups {
        for (index, &stage) in stages.iter().enumerate() {
            position[stage] = index;
        }
    }
    let stage = |id: StageId| {
        let from = &draft.stages[id];
        let operand = |value: &DraftValue| match *value {
            DraftValue::Input(input) => Operand::Buffer(draft.plan.inputs[input].buffer),
            DraftValue::Stage(read) if group_of[read] == group_of[id] => Operand::Stage(position[read]),
            DraftValue::Stage(read) => {
                Operand::Buffer(stores[read].expect("a value read in another group has a buffer"))
            }
        };
        Stage {
            kernel: from.kernel.clone(),
            uniforms: from.uniforms.clone(),
            inputs: from.inputs.iter().map(operand).collect(),
            output: from.output,
            store: stores[id],
            task: from.task,
        }
    };
    draft
        .groups
        .iter()
        .zip(depends_on)
        .map(|(stages, depends_on)| {
            let mut tasks: Vec<_> = stages.iter().map(|&s| draft.stages[s].task).collect();
            tasks.sort_unstable();
            tasks.dedup();
            let stages = stages.iter().map(|&s| stage(s)).collect();
            Group { tasks, stages, stream: 0, depends_on, workspace: None }
        })
        .collect()
}

fn plan_tasks(draft: &Draft<'_>, group_of: &[GroupId]) -> Vec<PlanTask> {
    let mut id_of = vec![None; draft.graph.len()];
    for (id, &task) in draft.live.iter().enumerate() {
        id_of[task] = Some(id);
    }
    let plan_task = |(id, &task): (usize, &usize)| PlanTask {
        name: draft.graph.name_at(task).into(),
        op: draft.graph.operator_at(task).spec().name.into(),
        producers: draft.graph.producers(task).filter_map(|p| id_of[p]).collect(),
        output: draft.descs[task],
        derived: draft.graph.operator_at(task).derived(&draft.graph.slot_descs(
            task,
            draft.request.inputs,
            |p| draft.descs.get(p).copied(),
        )),
        group: group_of[draft.results[id]],
    };
    draft.live.iter().enumerate().map(plan_task).collect()
}
