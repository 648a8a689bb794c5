//! Whether inputs, outputs, buffers and tasks point at each other as they should.

use mip_plan::{Buffer, BufferId, GroupId, Place, Plan};

use super::PlanFault;

pub(super) fn check(plan: &Plan) -> Result<(), PlanFault> {
    let counts = [("the batch size", plan.batch), ("the number of groups", plan.groups.len())];
    if let Some(&(what, given)) = counts.iter().find(|(_, n)| *n == 0) {
        return Err(PlanFault::Count { what, given });
    }
    inputs_and_outputs(plan)?;
    let (writers, readers) = accesses(plan)?;
    for (id, buffer) in plan.buffers.iter().enumerate() {
        check_buffer(plan, id, buffer, &writers[id], &readers[id])?;
    }
    Ok(())
}

fn inputs_and_outputs(plan: &Plan) -> Result<(), PlanFault> {
    let place_of = |buffer: BufferId| plan.buffers.get(buffer).map(|b| b.place);
    for (index, input) in plan.inputs.iter().enumerate() {
        if place_of(input.buffer) != Some(Place::Input(index)) {
            let problem = format!("buffer {} does not stand for it", input.buffer);
            return Err(PlanFault::Reference { place: format!("input '{}'", input.name), problem });
        }
    }
    for (index, output) in plan.outputs.iter().enumerate() {
        let fault = |problem: String| PlanFault::Reference { place: format!("output {index}"), problem };
        if place_of(output.buffer) != Some(Place::Output(index)) {
            return Err(fault(format!("buffer {} does not stand for it", output.buffer)));
        }
        let Some(task) = plan.tasks.get(output.task) else {
            return Err(fault(format!("there is no task {}", output.task)));
        };
        let stores_it = |s: &mip_plan::Stage| s.store == Some(output.buffer) && s.task == output.task;
        if !plan.groups.get(task.group).is_some_and(|g| g.stages.iter().any(stores_it)) {
            return Err(fault(format!("task '{}' does not write buffer {}", task.name, output.buffer)));
        }
    }
    Ok(())
}

type Groups = Vec<Vec<GroupId>>;

/// The groups that write and that read each buffer, each group once.
fn accesses(plan: &Plan) -> Result<(Groups, Groups), PlanFault> {
    let mut writers: Groups = vec![Vec::new(); plan.buffers.len()];
    let mut readers: Groups = vec![Vec::new(); plan.buffers.len()];
    for (id, group) in plan.groups.iter().enumerate() {
        for (buffers, lists) in [(group.writes(), &mut writers), (group.reads(), &mut readers)] {
            for buffer in buffers {
                let Some(list) = lists.get_mut(buffer) else {
                    let problem = format!("there is no buffer {buffer}");
                    return Err(PlanFault::Reference { place: format!("group {id}"), problem });
                };
                list.push(id);
            }
        }
    }
    Ok((writers, readers))
}

fn check_buffer(
    plan: &Plan,
    id: BufferId,
    buffer: &Buffer,
    writers: &[GroupId],
    readers: &[GroupId],
) -> Result<(), PlanFault> {
    let fault =
        |problem: String| PlanFault::Reference { place: format!("buffer {id} ('{}')", buffer.name), problem };
    if let Err(error) = buffer.layout.check() {
        return Err(PlanFault::Layout { buffer: id, problem: error.to_string() });
    }
    if buffer.layout.batch_size != plan.batch {
        let problem = format!("holds {} frames in a plan for {}", buffer.layout.batch_size, plan.batch);
        return Err(PlanFault::Layout { buffer: id, problem });
    }
    let stands_for = match buffer.place {
        Place::Input(input) => plan.inputs.get(input).map(|i| i.buffer),
        Place::Output(output) => plan.outputs.get(output).map(|o| o.buffer),
        Place::Arena { .. } => Some(id),
    };
    if stands_for != Some(id) {
        return Err(fault("the input or output that it stands for does not name it".to_owned()));
    }
    let written_by: Vec<GroupId> = buffer.producer.into_iter().collect();
    if writers != written_by || writers.is_empty() != matches!(buffer.place, Place::Input(_)) {
        return Err(fault(format!(
            "written by groups {writers:?}, but its producer is {:?}",
            buffer.producer
        )));
    }
    if readers != buffer.consumers {
        return Err(fault(format!(
            "read by groups {readers:?}, but its consumers are {:?}",
            buffer.consumers
        )));
    }
    if readers.iter().any(|reader| writers.contains(reader)) {
        return Err(fault(format!("group {} both writes and reads it", writers[0])));
    }
    Ok(())
}
