use std::fmt::Write as _;

use mip_plan::Plan;

use super::model::{EdgeKind, Model, heading, stream_colours};

/// The plan for Graphviz: tasks with their shapes, launches of several tasks boxed, streams coloured, waits
/// dashed.
pub fn render_dot(plan: &Plan) -> String {
    let model = Model::of(plan);
    let mut out = format!(
        "digraph plan {{\n  label={};\n  labelloc=t;\n  fontname=\"sans-serif\";\n  \
         node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n  \
         edge [fontname=\"sans-serif\", fontsize=10];\n",
        quoted(&heading(plan))
    );
    let node = |index: usize| {
        let node = &model.nodes[index];
        let label = model.lines(index).join("\n");
        let (line, fill) = model.stream(index).map_or(("#64707d", "#ffffff"), stream_colours);
        let shape = if node.group.is_none() { ", shape=ellipse, style=filled" } else { "" };
        let weight = if node.is_output { ", penwidth=3" } else { "" };
        format!(
            "n{index} [label={}, color=\"{line}\", fillcolor=\"{fill}\"{shape}{weight}];\n",
            quoted(&label)
        )
    };
    for index in 0..model.nodes.len() {
        if model.nodes[index].group.is_none_or(|group| model.groups[group].len() == 1) {
            let _ = write!(out, "  {}", node(index));
        }
    }
    for (group, nodes) in model.fused() {
        let (line, _) = stream_colours(model.streams[group]);
        let _ = write!(
            out,
            "  subgraph cluster_{group} {{\n    label=\"{}\";\n    labeljust=l;\n    fontcolor=\"{line}\";\n    color=\"{line}\";\n    \
             style=rounded;\n",
            model.launch(group)
        );
        for &index in nodes {
            let _ = write!(out, "    {}", node(index));
        }
        out += "  }\n";
    }
    for edge in &model.edges {
        let stream = model.stream(edge.from).or_else(|| model.stream(edge.to)).unwrap_or(0);
        let (colour, _) = stream_colours(stream);
        let style = match edge.kind {
            EdgeKind::Inside => " [color=\"#7b8794\"]".to_owned(),
            EdgeKind::Memory => format!(" [color=\"{colour}\"]"),
            EdgeKind::Waits => {
                format!(" [color=\"{colour}\", fontcolor=\"{colour}\", style=dashed, label=\"waits\"]")
            }
        };
        let _ = writeln!(out, "  n{} -> n{}{style};", edge.from, edge.to);
    }
    out + "}\n"
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
