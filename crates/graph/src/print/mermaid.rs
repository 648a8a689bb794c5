use std::fmt::Write as _;

use mip_plan::Plan;

use super::model::{EdgeKind, Model, heading, stream_colours};

/// The plan for Mermaid, which many sites draw inside Markdown: tasks with their shapes, launches of several
/// tasks boxed, streams coloured, waits dashed.
pub fn render_mermaid(plan: &Plan) -> String {
    let model = Model::of(plan);
    let mut out = format!("%% {}\nflowchart TD\n", heading(plan));
    let node = |index: usize| {
        let node = &model.nodes[index];
        let label = model.lines(index).iter().map(|line| escaped(line)).collect::<Vec<_>>().join("<br>");
        match (node.group, node.is_output) {
            (None, _) => format!("n{index}([\"{label}\"])\n"),
            (_, true) => format!("n{index}[[\"{label}\"]]\n"),
            (_, false) => format!("n{index}[\"{label}\"]\n"),
        }
    };
    for index in 0..model.nodes.len() {
        if model.nodes[index].group.is_none_or(|group| model.groups[group].len() == 1) {
            let _ = write!(out, "  {}", node(index));
        }
    }
    for (group, nodes) in model.fused() {
        let _ = writeln!(out, "  subgraph g{group}[\"{}\"]", escaped(&model.launch(group)));
        for &index in nodes {
            let _ = write!(out, "    {}", node(index));
        }
        out += "  end\n";
    }
    for edge in &model.edges {
        let arrow = match edge.kind {
            EdgeKind::Inside | EdgeKind::Memory => "-->",
            EdgeKind::Waits => "-. waits .->",
        };
        let _ = writeln!(out, "  n{} {arrow} n{}", edge.from, edge.to);
    }
    for (group, _) in model.fused() {
        let (line, _) = stream_colours(model.streams[group]);
        let _ = writeln!(out, "  style g{group} fill:#ffffff,stroke:{line},color:{line}");
    }
    for index in (0..model.nodes.len()).filter(|&index| model.nodes[index].group.is_none()) {
        let _ = writeln!(out, "  style n{index} fill:#ffffff,stroke:#64707d,color:#1f2933");
    }
    for stream in 0..plan.streams {
        let nodes = (0..model.nodes.len()).filter(|&index| model.stream(index) == Some(stream));
        let nodes: Vec<String> = nodes.map(|index| format!("n{index}")).collect();
        if !nodes.is_empty() {
            let (line, fill) = stream_colours(stream);
            let _ = writeln!(out, "  classDef stream{stream} fill:{fill},stroke:{line},color:#1f2933");
            let _ = writeln!(out, "  class {} stream{stream}", nodes.join(","));
        }
    }
    out
}

/// What would end a label, or be read as a tag, as an entity.
fn escaped(text: &str) -> String {
    text.replace('#', "#35;").replace('"', "#quot;").replace('<', "#lt;").replace('>', "#gt;")
}
