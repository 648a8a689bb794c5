//! Whether each group's stages fit together, and whether tasks describe what the stages do.

use mip_core::ImageDesc;
use mip_plan::{Group, GroupId, Operand, Plan, Stage, TaskId};

use super::PlanFault;

pub(super) fn check(plan: &Plan) -> Result<(), PlanFault> {
    let mut writer_task = vec![None; plan.buffers.len()];
    for stage in plan.groups.iter().flat_map(|g| &g.stages) {
        if let Some(buffer) = stage.store {
            writer_task[buffer] = Some(stage.task);
        }
    }
    for (id, group) in plan.groups.iter().enumerate() {
        check_stages(plan, id, group)?;
        check_producers(plan, group, &writer_task)?;
    }
    check_tasks(plan)
}

fn check_stages(plan: &Plan, id: GroupId, group: &Group) -> Result<(), PlanFault> {
    if group.stages.is_empty() {
        return Err(PlanFault::Reference { place: format!("group {id}"), problem: "no stages".to_owned() });
    }
    for (index, stage) in group.stages.iter().enumerate() {
        let fault = |problem: String| PlanFault::Stage { group: id, stage: index, problem };
        if stage.task >= plan.tasks.len() || !group.tasks.contains(&stage.task) {
            return Err(fault(format!("belongs to task {}, which the group does not compute", stage.task)));
        }
        let inputs: Option<Vec<ImageDesc>> =
            stage.inputs.iter().map(|&operand| operand_desc(plan, group, index, operand)).collect();
        let Some(inputs) = inputs else {
            return Err(fault("reads a stage that does not come before it".to_owned()));
        };
        stage.kernel.check(stage.uniforms.len(), &inputs, stage.output).map_err(fault)?;
        if let Some(buffer) = stage.store
            && plan.buffers[buffer].layout.desc != stage.output
        {
            let problem =
                format!("holds {}, but is written with {}", plan.buffers[buffer].layout.desc, stage.output);
            return Err(PlanFault::Layout { buffer, problem });
        }
    }
    Ok(())
}

fn operand_desc(plan: &Plan, group: &Group, stage: usize, operand: Operand) -> Option<ImageDesc> {
    match operand {
        Operand::Buffer(buffer) => plan.buffers.get(buffer).map(|b| b.layout.desc),
        Operand::Stage(earlier) => group.stages[..stage].get(earlier).map(|s| s.output),
    }
}

/// A stage may read results of its own task and of the tasks that its task names as producers.
fn check_producers(plan: &Plan, group: &Group, writer_task: &[Option<TaskId>]) -> Result<(), PlanFault> {
    for stage in &group.stages {
        for operand in &stage.inputs {
            let from = match *operand {
                Operand::Buffer(buffer) => writer_task[buffer],
                Operand::Stage(earlier) => Some(group.stages[earlier].task),
            };
            let task = &plan.tasks[stage.task];
            if let Some(from) = from
                && from != stage.task
                && !task.producers.contains(&from)
            {
                let problem = format!("reads task {from}, which is not among its producers");
                return Err(PlanFault::Task { task: stage.task, name: task.name.to_string(), problem });
            }
        }
    }
    Ok(())
}

fn check_tasks(plan: &Plan) -> Result<(), PlanFault> {
    for (id, task) in plan.tasks.iter().enumerate() {
        let fault = |problem: String| PlanFault::Task { task: id, name: task.name.to_string(), problem };
        if let Some(late) = task.producers.iter().find(|&&p| p >= id) {
            return Err(fault(format!("reads task {late}, which does not come before it")));
        }
        let Some(group) = plan.groups.get(task.group) else {
            return Err(fault(format!("there is no group {}", task.group)));
        };
        if !group.tasks.contains(&id) {
            return Err(fault(format!("group {} does not compute it", task.group)));
        }
        let result: Option<&Stage> = group.stages.iter().rfind(|s| s.task == id);
        match result {
            Some(stage) if stage.output == task.output => {}
            Some(stage) => {
                return Err(fault(format!("is {}, but its last stage is {}", task.output, stage.output)));
            }
            None => return Err(fault(format!("group {} has no stage of it", task.group))),
        }
    }
    Ok(())
}
