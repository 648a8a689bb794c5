use std::fmt::Write;

use mip_plan::{Buffer, BufferId, EdgeDecision, GroupId, Place, Plan, PlanTask, Stage};

use super::MemorySummary;
use super::model::counted;
use super::table::table;

/// The plan as text: launches in order, decisions about fusion, waits, buffers with their places and
/// lifetimes, memory in all. Groups are `#0`, `#1`, ... in launch order. The same plan always gives the same
/// text.
pub fn render_text(plan: &Plan) -> String {
    let mut out = format!(
        "plan: batch {}, {}, {}, {}\n",
        plan.batch,
        counted(plan.groups.len(), "launch"),
        counted(plan.streams as usize, "stream"),
        counted(plan.waits.len(), "wait"),
    );
    let mut section = |title: &str, rows: Vec<Vec<String>>| {
        let _ = write!(out, "\n{title}\n{}", table(&rows));
    };
    section("launches", (0..plan.groups.len()).map(|id| launch_row(plan, id)).collect());
    let expressions: Vec<Vec<String>> = expression_rows(plan);
    if !expressions.is_empty() {
        section("expressions", expressions);
    }
    let derived = plan.tasks.iter().filter(|task| !task.derived.is_empty());
    let derived: Vec<Vec<String>> = derived.map(derived_row).collect();
    if !derived.is_empty() {
        section("derived", derived);
    }
    if !plan.fusion.is_empty() {
        section("fusion", plan.fusion.iter().map(|d| edge_row(plan, d)).collect());
    }
    if !plan.waits.is_empty() {
        section("waits", plan.waits.iter().map(|w| vec![format!("#{} for #{}", w.group, w.on)]).collect());
    }
    let buffers = plan.buffers.iter().map(buffer_row);
    section("buffers", buffers.chain(workspace_rows(plan)).collect());
    section("memory", memory_rows(&MemorySummary::of(plan), plan.traffic_bytes()));
    out
}

fn derived_row(task: &PlanTask) -> Vec<String> {
    let numbers = task.derived.iter().map(|(name, number)| format!("{name} {number}"));
    vec![task.name.to_string(), numbers.collect::<Vec<_>>().join(", ")]
}

fn launch_row(plan: &Plan, id: GroupId) -> Vec<String> {
    let group = &plan.groups[id];
    // Of branches of the same program the first stands for all.
    let branches = group.branches();
    let first = group.branch(&branches[0]);
    let more = branches.len() - 1;
    let like_it = if more == 0 { String::new() } else { format!(", and {more} like it") };
    let tasks: Vec<&str> = first.tasks.iter().map(|&t| plan.tasks[t].name.as_ref()).collect();
    let kernels: Vec<&str> = first.stages.iter().map(|s| s.kernel.name()).collect();
    let shape = group.stages.last().map(|s| s.output.to_string());
    vec![
        format!("#{id}"),
        format!("stream {}", group.stream),
        tasks.join(", ") + &like_it,
        kernels.join(" > "),
        shape.unwrap_or_default(),
        format!("{} -> {}{like_it}", names(plan, &first.reads()), names(plan, &first.writes())),
    ]
}

/// What each point expression computes, in the form in which it is computed.
fn expression_rows(plan: &Plan) -> Vec<Vec<String>> {
    let stages = plan.groups.iter().enumerate().flat_map(|(id, g)| g.stages.iter().map(move |s| (id, s)));
    let row = |(id, stage): (usize, &Stage)| {
        let expr = stage.kernel.expression()?;
        Some(vec![format!("#{id}"), plan.tasks[stage.task].name.to_string(), expr.to_string()])
    };
    stages.filter_map(row).collect()
}

fn edge_row(plan: &Plan, decision: &EdgeDecision) -> Vec<String> {
    let name = |task: usize| plan.tasks[task].name.as_ref();
    let saved = if decision.fused { format!("{} bytes saved", decision.bytes_saved) } else { String::new() };
    vec![
        format!("{} -> {}", name(decision.from), name(decision.to)),
        if decision.fused { "fused" } else { "not fused" }.to_owned(),
        saved,
        decision.reason.clone(),
    ]
}

fn names(plan: &Plan, buffers: &[BufferId]) -> String {
    let names: Vec<&str> = buffers.iter().map(|&b| plan.buffers[b].name.as_str()).collect();
    names.join(", ")
}

fn buffer_row(buffer: &Buffer) -> Vec<String> {
    let place = match buffer.place {
        Place::Input(_) => "input".to_owned(),
        Place::Output(_) => "output".to_owned(),
        Place::Arena { offset } => format!("arena {offset}"),
    };
    vec![
        buffer.name.clone(),
        place,
        format!("{} bytes", buffer.layout.span()),
        buffer.layout.desc.to_string(),
        lifetime(buffer),
    ]
}

/// From the group that writes it to the last that reads it; outputs live on.
fn lifetime(buffer: &Buffer) -> String {
    let first = buffer.producer.map_or_else(String::new, |p| format!("#{p}"));
    let last = match buffer.place {
        Place::Output(_) => "end".to_owned(),
        _ => buffer.consumers.last().map_or_else(|| first.clone(), |c| format!("#{c}")),
    };
    match buffer.producer {
        None => format!("start..{}", if last.is_empty() { "start" } else { &last }),
        Some(_) => format!("{first}..{last}"),
    }
}

fn workspace_rows(plan: &Plan) -> impl Iterator<Item = Vec<String>> + '_ {
    plan.groups.iter().enumerate().filter_map(|(id, group)| {
        let workspace = group.workspace?;
        Some(vec![
            format!("scratch of #{id}"),
            format!("arena {}", workspace.offset),
            format!("{} bytes", workspace.bytes),
            String::new(),
            format!("#{id}..#{id}"),
        ])
    })
}

fn memory_rows(memory: &MemorySummary, traffic: u64) -> Vec<Vec<String>> {
    let row = |what: &str, bytes: usize| vec![what.to_owned(), format!("{bytes} bytes")];
    let mut together = row("arena and outputs", memory.peak_bytes);
    together.push(format!(
        "of {} if none were shared: {:.1}% saved",
        memory.separate_bytes, memory.saved_percent
    ));
    let moved = vec!["read and written".to_owned(), format!("{traffic} bytes")];
    vec![row("arena", memory.arena_bytes), row("outputs", memory.output_bytes), together, moved]
}
