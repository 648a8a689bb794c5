//! Whether groups hold only what may share one, and whether the plan tells the truth about edges.

use mip_plan::{EdgeDecision, Group, GroupId, Kernel, Operand, Plan, TaskId};

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
    }
    match unconnected(group) {
        Some(task) => {
            let problem = format!("task {task} has nothing to do with the others in group {id}");
            Err(PlanFault::Reference { place: format!("group {id}"), problem })
        }
        None => Ok(()),
    }
}

/// A task that no chain of reads inside the group connects with its first one.
fn unconnected(group: &Group) -> Option<TaskId> {
    let mut known = vec![false; group.stages.len()];
    known[0] = true;
    // Each round reaches at least one stage more, or is the last.
    loop {
        let before = known.clone();
        for (index, stage) in group.stages.iter().enumerate() {
            for operand in &stage.inputs {
                if let Operand::Stage(read) = *operand {
                    let either = known[index] || known[read];
                    known[index] = either;
                    known[read] = either;
                }
            }
            // Steps of one task belong together whether they read each other or not.
            let mates = (0..group.stages.len()).filter(|&other| group.stages[other].task == stage.task);
            if known[index] {
                mates.for_each(|mate| known[mate] = true);
            }
        }
        if known == before {
            return known.iter().position(|known| !known).map(|index| group.stages[index].task);
        }
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
