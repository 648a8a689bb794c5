//! Tasks to stages.

use mip_core::ImageDesc;
use mip_ops::{KernelStep, Lowered, StepInput};

use super::draft::{Draft, DraftStage, DraftValue};
use crate::GraphError;
use crate::graph::Feed;

/// Works out every task's result, including tasks that will not run: a graph that is wrong is refused whole.
pub(super) fn infer(draft: &mut Draft<'_>) -> Result<(), GraphError> {
    draft.descs = draft.graph.infer(draft.request.inputs)?;
    Ok(())
}

/// Keeps the outputs and everything they need.
pub(super) fn prune(draft: &mut Draft<'_>) {
    let graph = draft.graph;
    let order = graph.order_indices();
    let mut needed = vec![false; graph.len()];
    for output in graph.output_indices() {
        needed[output] = true;
    }
    for &task in order.iter().rev() {
        if needed[task] {
            graph.producers(task).for_each(|producer| needed[producer] = true);
        }
    }
    draft.live = order.into_iter().filter(|&t| needed[t]).collect();
}

/// Lowers every live task to stages and puts each task's stages into a group of their own.
pub(super) fn lower(draft: &mut Draft<'_>) -> Result<(), GraphError> {
    let graph = draft.graph;
    // The stage that holds a task's result, by the graph's index; filled in topological order.
    let mut result_of = vec![None; graph.len()];
    for (id, &task) in draft.live.iter().enumerate() {
        let slots = graph.slot_descs(task, draft.request.inputs, |p| draft.descs.get(p).copied());
        let lowered = lower_task(draft, task, &slots)?;
        let first = draft.stages.len();
        let slot_values: Vec<DraftValue> = graph
            .feeds(task)
            .iter()
            .filter_map(|feed| match feed {
                Some(Feed::Input(input)) => Some(DraftValue::Input(*input)),
                Some(Feed::Task(producer)) => result_of[*producer].map(DraftValue::Stage),
                None => None,
            })
            .collect();
        for KernelStep { kernel, uniforms, inputs, output } in lowered.steps {
            let value = |input: StepInput| match input {
                StepInput::Slot(slot) => slot_values[slot],
                StepInput::Step(step) => DraftValue::Stage(first + step),
            };
            let inputs = inputs.into_iter().map(value).collect();
            draft.stages.push(DraftStage { kernel, uniforms, inputs, output, task: id });
        }
        let last = draft.stages.len() - 1;
        result_of[task] = Some(last);
        draft.results.push(last);
        draft.groups.push((first..=last).collect());
    }
    Ok(())
}

fn lower_task(draft: &Draft<'_>, task: usize, slots: &[ImageDesc]) -> Result<Lowered, GraphError> {
    let name = || draft.graph.name_at(task).to_owned();
    let operator = draft.graph.operator_at(task);
    let lowered = operator.lower(slots).map_err(|source| GraphError::Operator { task: name(), source })?;
    match lowering_fault(&lowered, slots, draft.descs[task]) {
        None => Ok(lowered),
        Some(reason) => Err(GraphError::Lowering { task: name(), op: operator.spec().name, reason }),
    }
}

/// Users can bring operators of their own: what they lower to is checked like any other input.
pub(crate) fn lowering_fault(lowered: &Lowered, slots: &[ImageDesc], result: ImageDesc) -> Option<String> {
    for (index, step) in lowered.steps.iter().enumerate() {
        let mut inputs = Vec::with_capacity(step.inputs.len());
        for input in &step.inputs {
            let desc = match *input {
                StepInput::Slot(slot) => slots.get(slot).copied(),
                StepInput::Step(earlier) if earlier < index => Some(lowered.steps[earlier].output),
                StepInput::Step(_) => None,
            };
            match desc {
                Some(desc) => inputs.push(desc),
                None => return Some(format!("step {index} reads something that does not exist before it")),
            }
        }
        if let Err(fault) = step.kernel.check(step.uniforms.len(), &inputs, step.output) {
            return Some(format!("step {index}: {fault}"));
        }
    }
    let Some(last) = lowered.steps.last() else { return Some("there is no step".to_owned()) };
    (last.output != result)
        .then(|| format!("the last step gives {}, but inference says {result}", last.output))
}
