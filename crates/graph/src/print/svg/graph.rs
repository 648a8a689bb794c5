use maud::{Markup, html};
use mip_plan::Plan;

use super::super::model::{Edge, EdgeKind, Model, heading, stream_colours};
use super::place::{Places, place};
use super::route::{NODE_HEIGHT, Routes, TOP, route};
use super::{px, shortened, text_width};

/// Characters of a name that are shown; the rest is in a tooltip.
const MAX: usize = 30;
const BOX_ABOVE: f64 = 22.0;
const BOX_BELOW: f64 = 8.0;
const BOX_SIDE: f64 = 7.0;

/// The plan as an SVG diagram: a column for each stream, time downwards, tasks with their shapes, launches of
/// several tasks boxed, waits dashed.
pub fn render_svg(plan: &Plan) -> String {
    let model = Model::of(plan);
    let places = place(plan, &model);
    let width_of = |text: &String| text_width(&shortened(text, MAX));
    let lines = model.nodes.iter().flat_map(|node| &node.lines).map(|text| width_of(text) + 44.0);
    // Titles are bold, and have the launch's number beside them.
    let titles = model.nodes.iter().map(|node| width_of(&node.title) * 1.15 + 64.0);
    let node_width = lines.chain(titles).fold(154.0, f64::max);
    let routes = route(&model, &places, node_width);
    let title = heading(plan);
    let width = routes.width.max(text_width(&title) * 1.2 + 32.0).max(440.0);
    let height = routes.height + 44.0;
    let diagram = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(px(width)) height=(px(height))
            viewBox=(format!("0 0 {} {}", px(width), px(height))) font-family="sans-serif" font-size="12" fill="#1f2933" {
            title { (title) }
            rect width="100%" height="100%" fill="#ffffff" {}
            text x="16" y="22" font-size="13" font-weight="bold" { (title) }
            @for column in 0..places.columns { (strip(&routes, column)) }
            @for (group, nodes) in model.fused() { (group_box(&model, &places, &routes, group, nodes, node_width)) }
            @for (edge, line) in model.edges.iter().zip(&routes.lines) { (arrow(&model, edge, line)) }
            @for node in 0..model.nodes.len() { (node_box(&model, &places, &routes, node, node_width)) }
            (legend(routes.height + 16.0))
        }
    };
    diagram.into_string() + "\n"
}

/// The background of a stream, with its name.
fn strip(routes: &Routes, column: usize) -> Markup {
    let (line, fill) = stream_colours(column as u32);
    let (left, right) = (routes.strips[column], routes.strips[column + 1]);
    html! {
        rect x=(px(left + 2.0)) y="34" width=(px(right - left - 4.0)) height=(px(routes.height - 40.0)) rx="6"
            fill=(fill) fill-opacity="0.45" {}
        text x=(px(f64::midpoint(left, right))) y=(px(TOP - 14.0)) text-anchor="middle" fill=(line) font-weight="bold" {
            "stream " (column)
        }
    }
}

fn group_box(
    model: &Model,
    places: &Places,
    routes: &Routes,
    group: usize,
    nodes: &[usize],
    node_width: f64,
) -> Markup {
    let (line, _) = stream_colours(model.streams[group]);
    let rows = || nodes.iter().map(|&node| places.of[node].0);
    let column = places.of[nodes[0]].1;
    let top = routes.row_y[rows().min().unwrap_or(0)] - BOX_ABOVE;
    let bottom = routes.row_y[rows().max().unwrap_or(0)] + NODE_HEIGHT + BOX_BELOW;
    let left = routes.column_x[column] - BOX_SIDE;
    let width = node_width + routes.inner[column] + 2.0 * BOX_SIDE;
    html! {
        rect x=(px(left)) y=(px(top)) width=(px(width)) height=(px(bottom - top)) rx="8" fill="#ffffff"
            fill-opacity="0.7" stroke=(line) stroke-width="1.5" {}
        text x=(px(left + 8.0)) y=(px(top + 15.0)) fill=(line) font-size="11" { "launch #" (group) }
    }
}

fn arrow(model: &Model, edge: &Edge, line: &[(f64, f64)]) -> Markup {
    let stream = model.stream(edge.from).or_else(|| model.stream(edge.to)).unwrap_or(0);
    let (colour, width, dashes) = match edge.kind {
        EdgeKind::Inside => ("#7b8794", "1", "none"),
        EdgeKind::Memory => (stream_colours(stream).0, "1.6", "none"),
        EdgeKind::Waits => (stream_colours(stream).0, "1.8", "6 4"),
    };
    let Some(&(x, y)) = line.last() else { return html! {} };
    html! {
        path d=(rounded(line)) fill="none" stroke=(colour) stroke-width=(width) stroke-dasharray=(dashes) {}
        path d=(format!("M{} {}l-4 -7h8z", px(x), px(y))) fill=(colour) {}
    }
}

/// A line through the points with round corners, ending where the arrow head begins.
fn rounded(points: &[(f64, f64)]) -> String {
    const RADIUS: f64 = 5.0;
    let part = |(index, &(x, y)): (usize, &(f64, f64))| {
        let toward = |(a, b): (f64, f64)| {
            let length = (a - x).hypot(b - y).max(f64::MIN_POSITIVE);
            let step = RADIUS.min(length / 2.0) / length;
            (x + (a - x) * step, y + (b - y) * step)
        };
        match (index.checked_sub(1).map(|i| points[i]), points.get(index + 1)) {
            (None, _) => format!("M{} {}", px(x), px(y)),
            (Some(_), None) => format!("L{} {}", px(x), px(y - 6.0)),
            (Some(before), Some(&after)) => {
                let ((a, b), (c, d)) = (toward(before), toward(after));
                format!("L{} {}Q{} {} {} {}", px(a), px(b), px(x), px(y), px(c), px(d))
            }
        }
    };
    points.iter().enumerate().map(part).collect()
}

fn node_box(model: &Model, places: &Places, routes: &Routes, index: usize, width: f64) -> Markup {
    let node = &model.nodes[index];
    let (row, column) = places.of[index];
    let (x, y) = (routes.column_x[column], routes.row_y[row]);
    let (line, fill) = model.stream(index).map_or(("#64707d", "#ffffff"), stream_colours);
    let (radius, weight) =
        (if node.group.is_none() { 28.0 } else { 6.0 }, if node.is_output { 3.0 } else { 1.2 });
    let alone = node.group.filter(|&group| model.groups[group].len() == 1);
    let middle = px(x + width / 2.0);
    let first = y + 18.0 + 7.5 * (2.0 - node.lines.len() as f64);
    html! {
        g {
            title { (node.title) ": " (node.lines.join(", ")) @if node.is_output { ", an output" } }
            rect x=(px(x)) y=(px(y)) width=(px(width)) height=(px(NODE_HEIGHT)) rx=(radius) fill=(fill) stroke=(line)
                stroke-width=(weight) {}
            text x=(middle) y=(px(first)) text-anchor="middle" font-weight="bold" { (shortened(&node.title, MAX)) }
            @for (number, text) in node.lines.iter().enumerate() {
                text x=(middle) y=(px(first + 15.0 + 15.0 * number as f64)) text-anchor="middle" fill="#3e4c59" font-size="11" {
                    (shortened(text, MAX))
                }
            }
            @if let Some(group) = alone {
                text x=(px(x + width - 6.0)) y=(px(y + 13.0)) text-anchor="end" fill=(line) font-size="10" { "#" (group) }
            }
        }
    }
}

fn legend(y: f64) -> Markup {
    let line = |x: f64, colour: &str, dashes: &str, width: &str| {
        html! {
            path d=(format!("M{} {}h26", px(x), px(y))) stroke=(colour) stroke-dasharray=(dashes) stroke-width=(width) {}
        }
    };
    html! {
        g font-size="11" fill="#3e4c59" {
            (line(16.0, "#3e4c59", "none", "1.6"))
            text x="47" y=(px(y + 4.0)) { "through memory" }
            (line(156.0, "#3e4c59", "6 4", "1.8"))
            text x="187" y=(px(y + 4.0)) { "a stream waits" }
            (line(296.0, "#9aa5b1", "none", "1"))
            text x="327" y=(px(y + 4.0)) { "inside a launch" }
            text x="16" y=(px(y + 22.0)) { "Thick frame: an output. Colour: the stream." }
        }
    }
}
