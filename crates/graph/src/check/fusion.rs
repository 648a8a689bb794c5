//! Whether groups hold only what may share one, and whether the plan tells the truth about edges.

use mip_plan::{EdgeDecision, Group, GroupId, Kernel, Operand, Plan};

use super::PlanFault;

pub(super) fn check(plan: &Plan) -> Result<(), PlanFault> {
    for (id, group) in plan.groups.iter().enumerate() {
        check_group(id, group)?;
    }
    plan.fusion.iter().enumerate().try_for_each(|(index, decision)| check_decision(plan, index, decision))
}

fn check_group(id: GroupId, group: &Group) -> Result<(), PlanFault> {
    for (index, stage) in group.stages.iter().enumerate() {
        let fault = |problem: &str| PlanFault::Stage { group: id, stage: index, problem: problem.to_owned() };
        // A group fails as a whole, and a custom kernel may fail.
        if matches!(stage.kernel, Kernel::Custom(_)) && group.tasks.len() > 1 {
            return Err(fault("a custom kernel shares its group with another task"));
        }
        let reads_stage = stage.inputs.iter().any(|input| matches!(input, Operand::Stage(_)));
        if matches!(stage.kernel, Kernel::Warp(_)) && reads_stage {
            return Err(fault("a warp reads a stage of its group; the image must be in a buffer before"));
        }
    }
    // Connected, or branches of the same program.
    let branches = group.branches();
    let first = group.branch(&branches[0]);
    match branches[1..].iter().find(|stages| !first.same_program(&group.branch(stages))) {
        Some(stages) => {
            let task = group.stages[stages[0]].task;
            let problem =
                format!("task {task} has nothing to do with the others in group {id}, and is not like them");
            Err(PlanFault::Reference { place: format!("group {id}"), problem })
        }
        None => Ok(()),
    }
}

fn check_decision(plan: &Plan, index: usize, decision: &EdgeDecision) -> Result<(), PlanFault> {
    let fault = |problem: String| PlanFault::Reference { place: format!("edge decision {index}"), problem };
    let EdgeDecision { from, to, fused, .. } = *decision;
    let (Some(producer), Some(reader)) = (plan.tasks.get(from), plan.tasks.get(to)) else {
        return Err(fault(format!("there is no task {}", from.max(to))));
    };
    if !reader.producers.contains(&from) {
        return Err(fault(format!("task {to} does not read task {from}")));
    }
    if fused != (producer.group == reader.group) {
        let groups = format!("tasks {from} and {to} are in groups {} and {}", producer.group, reader.group);
        return Err(fault(format!("says fused {fused}, but {groups}")));
    }
    Ok(())
}
