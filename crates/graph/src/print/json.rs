use mip_core::ImageDesc;
use mip_plan::{Buffer, EdgeDecision, Group, GroupId, Operand, Place, Plan, PlanTask, Stage};
use serde_json::{Value, json};

use super::MemorySummary;

/// The plan as JSON, for programs: `batch, streams, inputs[], outputs[], tasks[], launches[], waits[],
/// buffers[], fusion[], arena_bytes, sum_of_buffers, output_bytes, peak_bytes, separate_bytes, saved_percent,
/// traffic_bytes`.
///
/// `launches` are the groups in launch order; `group`, `on`, `depends_on`, `producer` and `consumers` are
/// indices into it. `producers` of a task are indices into `tasks`, `from` and `to` of an edge in `fusion`
/// are names, buffers are referred to by index into `buffers`.
pub fn render_json(plan: &Plan) -> Value {
    let memory = MemorySummary::of(plan);
    let inputs = plan.inputs.iter().map(|i| json!({ "name": i.name, "buffer": i.buffer }));
    let outputs = plan.outputs.iter().map(|o| json!({ "task": plan.tasks[o.task].name, "buffer": o.buffer }));
    let waits = plan.waits.iter().map(|w| json!({ "group": w.group, "on": w.on }));
    json!({
        "batch": plan.batch,
        "streams": plan.streams,
        "inputs": inputs.collect::<Vec<_>>(),
        "outputs": outputs.collect::<Vec<_>>(),
        "tasks": plan.tasks.iter().map(task).collect::<Vec<_>>(),
        "launches": plan.groups.iter().enumerate().map(|(id, g)| launch(plan, id, g)).collect::<Vec<_>>(),
        "fusion": plan.fusion.iter().map(|d| edge(plan, d)).collect::<Vec<_>>(),
        "waits": waits.collect::<Vec<_>>(),
        "buffers": plan.buffers.iter().map(buffer).collect::<Vec<_>>(),
        "arena_bytes": memory.arena_bytes,
        "sum_of_buffers": plan.sum_of_buffers(),
        "output_bytes": memory.output_bytes,
        "peak_bytes": memory.peak_bytes,
        "separate_bytes": memory.separate_bytes,
        "saved_percent": memory.saved_percent,
        "traffic_bytes": plan.traffic_bytes(),
    })
}

fn desc(desc: &ImageDesc) -> Value {
    json!({
        "width": desc.width(),
        "height": desc.height(),
        "format": desc.format().name(),
        "dtype": desc.dtype().name(),
        "layout": desc.layout().name(),
    })
}

fn task(task: &PlanTask) -> Value {
    json!({
        "name": task.name,
        "op": task.op,
        "producers": task.producers,
        "output": desc(&task.output),
        "derived": task.derived.iter().map(|(name, number)| ((*name).to_owned(), json!(number))).collect::<serde_json::Map<_, _>>(),
        "group": task.group,
    })
}

fn launch(plan: &Plan, id: GroupId, group: &Group) -> Value {
    let tasks: Vec<&str> = group.tasks.iter().map(|&t| plan.tasks[t].name.as_ref()).collect();
    json!({
        "group": id,
        "stream": group.stream,
        "tasks": tasks,
        "stages": group.stages.iter().map(|s| stage(plan, s)).collect::<Vec<_>>(),
        "reads": group.reads(),
        "writes": group.writes(),
        "depends_on": group.depends_on,
        "workspace": group.workspace.map(|w| json!({ "offset": w.offset, "bytes": w.bytes })),
    })
}

fn edge(plan: &Plan, decision: &EdgeDecision) -> Value {
    json!({
        "from": plan.tasks[decision.from].name,
        "to": plan.tasks[decision.to].name,
        "fused": decision.fused,
        "reason": decision.reason,
        "bytes_saved": decision.bytes_saved,
    })
}

fn stage(plan: &Plan, stage: &Stage) -> Value {
    let operand = |operand: &Operand| match operand {
        Operand::Buffer(buffer) => json!({ "buffer": buffer }),
        Operand::Stage(stage) => json!({ "stage": stage }),
    };
    json!({
        "kernel": stage.kernel.name(),
        "expression": stage.kernel.expression().map(ToString::to_string),
        "task": plan.tasks[stage.task].name,
        "inputs": stage.inputs.iter().map(operand).collect::<Vec<_>>(),
        "output": desc(&stage.output),
        "store": stage.store,
    })
}

fn buffer(buffer: &Buffer) -> Value {
    let (place, offset) = match buffer.place {
        Place::Input(_) => ("input", None),
        Place::Output(_) => ("output", None),
        Place::Arena { offset } => ("arena", Some(offset)),
    };
    json!({
        "name": buffer.name,
        "place": place,
        "offset": offset,
        "bytes": buffer.layout.span(),
        "row_stride": buffer.layout.row_stride,
        "batch_stride": buffer.layout.batch_stride,
        "image": desc(&buffer.layout.desc),
        "producer": buffer.producer,
        "consumers": buffer.consumers,
    })
}
