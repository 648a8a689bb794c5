use std::sync::Arc;

use mip_core::ImageDesc;
use mip_ops::KernelStep;
use mip_plan::{Group, Plan, TaskId, Uniforms};

use crate::planner::lowering_fault;
use crate::{GraphError, TaskGraph};

/// The uniforms of every stage of every group of a plan, as the graph's parameters are now.
///
/// `inputs` are the shapes the plan was made for. Lowers the plan's tasks again and compares: a change of
/// uniform parameters alone leaves all kernels as they are, and the plan in force.
///
/// # Errors
/// [`GraphError::Stale`] when the plan was made of another graph, for other shapes, or before a structural
/// change; what [`TaskGraph::infer`] finds; [`GraphError::Operator`] or [`GraphError::Lowering`] when a new
/// value does not fit the task's inputs.
pub fn uniforms(
    graph: &TaskGraph,
    inputs: &[ImageDesc],
    plan: &Plan,
) -> Result<Vec<Arc<[Uniforms]>>, GraphError> {
    check_inputs(graph, inputs, plan)?;
    let descs = graph.infer(inputs)?;
    let mut steps: Vec<Vec<KernelStep>> = Vec::with_capacity(plan.tasks.len());
    for task in &plan.tasks {
        let handle = graph.task(&task.name).map_err(|_| stale(format!("it has no task '{}'", task.name)))?;
        let operator = graph.operator(handle)?;
        let slots = graph.slot_descs(handle.index(), inputs, |p| descs.get(p).copied());
        let lowered = operator
            .lower(&slots)
            .map_err(|source| GraphError::Operator { task: task.name.to_string(), source })?;
        if let Some(reason) = lowering_fault(&lowered, &slots, descs[handle.index()]) {
            return Err(GraphError::Lowering {
                task: task.name.to_string(),
                op: operator.spec().name,
                reason,
            });
        }
        steps.push(lowered.steps);
    }
    plan.groups.iter().map(|group| group_uniforms(plan, group, &steps)).collect()
}

/// Matches the stages of each task in a group with the steps of that task, in order.
fn group_uniforms(
    plan: &Plan,
    group: &Group,
    steps: &[Vec<KernelStep>],
) -> Result<Arc<[Uniforms]>, GraphError> {
    let mut next: Vec<(TaskId, usize)> = group.tasks.iter().map(|&t| (t, 0)).collect();
    let mut all = Vec::with_capacity(group.stages.len());
    for stage in &group.stages {
        let changed = || {
            let name = plan.tasks.get(stage.task).map_or("?", |t| t.name.as_ref());
            stale(format!("the kernels of task '{name}' have changed"))
        };
        let (_, index) = next.iter_mut().find(|(task, _)| *task == stage.task).ok_or_else(changed)?;
        let step = steps.get(stage.task).and_then(|s| s.get(*index)).ok_or_else(changed)?;
        let same = step.kernel == stage.kernel
            && step.output == stage.output
            && step.uniforms.len() == stage.uniforms.len();
        if !same {
            return Err(changed());
        }
        *index += 1;
        all.push(step.uniforms.clone());
    }
    Ok(all.into())
}

fn check_inputs(graph: &TaskGraph, inputs: &[ImageDesc], plan: &Plan) -> Result<(), GraphError> {
    let named = plan.inputs.iter().map(|i| i.name.as_str()).eq(graph.inputs().iter().map(String::as_str));
    if !named {
        return Err(stale("the pipeline's inputs have changed".to_owned()));
    }
    for (input, desc) in plan.inputs.iter().zip(inputs) {
        let planned = plan.buffers.get(input.buffer).map(|b| b.layout.desc);
        if planned != Some(*desc) {
            let planned = planned.map_or_else(String::new, |d| format!(", not {d}"));
            return Err(stale(format!("'@{}' is {desc} now{planned}", input.name)));
        }
    }
    Ok(())
}

fn stale(reason: String) -> GraphError {
    GraphError::Stale { reason }
}

#[cfg(test)]
mod tests {
    use mip_ops::{Change, GaussianBlur, Value};

    use super::*;
    use crate::testing::{TestOp, graph, rgb};
    use crate::{PlanRequest, plan};

    #[test]
    fn a_new_sigma_changes_the_uniforms_and_nothing_else() {
        let mut g = TaskGraph::new();
        let soft = g.add_task("soft", Box::new(GaussianBlur::new(5).sigma(1.1))).unwrap();
        g.connect_input("input", soft).unwrap();
        let inputs = [rgb(64, 32)];
        let old = plan(&g, &PlanRequest::new(&inputs)).unwrap();
        let same = uniforms(&g, &inputs, &old).unwrap();
        assert_eq!(same[0][0], old.groups[0].stages[0].uniforms);
        assert_eq!(g.set_parameter(soft, "sigma", Value::Float(2.0)), Ok(Change::Uniform));
        let new = uniforms(&g, &inputs, &old).unwrap();
        assert_ne!(new[0][0], same[0][0]);
        assert_eq!(plan(&g, &PlanRequest::new(&inputs)).unwrap().groups[0].stages[0].uniforms, new[0][0]);
    }

    #[test]
    fn every_stage_of_a_task_with_several_has_its_own() {
        let mut g = graph(&[("a", &["@input"]), ("b", &["a"])]);
        let inputs = [rgb(4, 4)];
        let old = plan(&g, &PlanRequest::new(&inputs)).unwrap();
        g.set_parameter(g.task("b").unwrap(), "gain", Value::Float(3.0)).unwrap();
        let new = uniforms(&g, &inputs, &old).unwrap();
        assert_eq!(new.iter().map(|u| u.len()).collect::<Vec<_>>(), [2, 2]);
        assert_eq!((new[0][1][0], new[1][1][0], new[1][0].len()), (1.0, 3.0, 0));
    }

    #[test]
    fn a_plan_of_another_time_or_shape_is_refused() {
        let mut g = graph(&[("a", &["@input"]), ("b", &["a"])]);
        let inputs = [rgb(64, 32)];
        let old = plan(&g, &PlanRequest::new(&inputs)).unwrap();
        let reason = |g: &TaskGraph, inputs: &[ImageDesc]| uniforms(g, inputs, &old).unwrap_err().to_string();
        assert!(reason(&g, &[rgb(32, 32)]).contains("'@input' is 32x32 rgb u8 now, not 64x32 rgb u8"));
        g.set_parameter(g.task("b").unwrap(), "scale", Value::Int(2)).unwrap();
        assert!(reason(&g, &inputs).contains("the kernels of task 'b' have changed"));
        let other = graph(&[("a", &["@input"]), ("c", &["a"])]);
        assert!(reason(&other, &inputs).contains("'b'"));
        let named = graph(&[("a", &["@left"])]);
        assert!(reason(&named, &inputs).contains("inputs have changed"));
        let c = g.add_task("c", TestOp::with_inputs(1)).unwrap();
        g.connect_input("input", c).unwrap();
        assert!(matches!(uniforms(&g, &[], &old), Err(GraphError::InputCount { .. })));
    }
}
