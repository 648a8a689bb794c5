use maud::{Markup, html};
use mip_plan::{GroupId, Place, Plan};

use super::super::model::stream_colours;
use super::{px, shortened, text_width};

const LEFT: f64 = 110.0;
const TOP: f64 = 72.0;
const HEIGHT: f64 = 340.0;
/// Least and most width of a step.
const STEP: (f64, f64) = (64.0, 150.0);
/// Height from which text fits into a block.
const READABLE: f64 = 15.0;

/// What lies where in the arena from when to when.
struct Region {
    name: String,
    offset: usize,
    bytes: usize,
    first: GroupId,
    last: GroupId,
    scratch: bool,
}

/// The arena over time as an SVG diagram: offsets downwards, launches in order to the right, a block
/// for every image from the launch that writes it to the last that reads it.
pub fn render_memory_svg(plan: &Plan) -> String {
    let regions = regions(plan);
    let names: Vec<String> = (0..plan.groups.len()).map(|id| group_name(plan, id)).collect();
    let widest = names.iter().map(|name| text_width(name)).fold(0.0, f64::max);
    let step = (widest + 12.0).clamp(STEP.0, STEP.1);
    let notes = notes(plan, &regions);
    let used: usize = regions.iter().map(|region| region.bytes).sum();
    let title =
        format!("arena: {} bytes, for {used} bytes of intermediate images and scratch", plan.arena_bytes);
    let right = LEFT + step * names.len() as f64;
    let texts = notes.iter().chain([&title]).map(|text| text_width(text) * 1.2 + 32.0);
    let width = texts.fold(right + 24.0, f64::max);
    let bottom = if regions.is_empty() { TOP + 20.0 } else { TOP + HEIGHT };
    let height = bottom + 30.0 + 16.0 * notes.len() as f64;
    let diagram = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(px(width)) height=(px(height))
            viewBox=(format!("0 0 {} {}", px(width), px(height))) font-family="sans-serif" font-size="12" fill="#1f2933" {
            title { (title) }
            defs {
                pattern id="scratch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect width="7" height="7" fill="#ffffff" {}
                    path d="M0 0v7" stroke="#9aa5b1" stroke-width="3" {}
                }
            }
            rect width="100%" height="100%" fill="#ffffff" {}
            text x="16" y="22" font-size="13" font-weight="bold" { (title) }
            @if regions.is_empty() {
                text x="16" y=(px(TOP - 22.0)) {
                    "Nothing lies in the arena: results are outputs, or never exist as whole images."
                }
            } @else {
                (axes(&names, step, plan))
                @for region in &regions { (block(plan, region, step)) }
            }
            @for (number, text) in notes.iter().enumerate() {
                text x="16" y=(px(bottom + 24.0 + 16.0 * number as f64)) fill="#3e4c59" font-size="11" { (text) }
            }
        }
    };
    diagram.into_string() + "\n"
}

fn group_name(plan: &Plan, id: GroupId) -> String {
    let tasks = &plan.groups[id].tasks;
    let last = tasks.last().map_or("", |&task| plan.tasks[task].name.as_ref());
    let others = if tasks.len() > 1 { format!(" +{}", tasks.len() - 1) } else { String::new() };
    format!("#{id} {}{others}", shortened(last, 14))
}

/// What stands below the diagram.
fn notes(plan: &Plan, regions: &[Region]) -> Vec<String> {
    let hatched = regions.iter().any(|region| region.scratch);
    let hatched = hatched.then(|| "hatched: scratch that a launch works in".to_owned());
    let outside = plan.buffers.iter().filter(|buffer| matches!(buffer.place, Place::Output(_)));
    let outside = outside.map(|b| format!("beside the arena: output {}, {} bytes", b.name, b.layout.span()));
    hatched.into_iter().chain(outside).collect()
}

fn regions(plan: &Plan) -> Vec<Region> {
    let buffers = plan.buffers.iter().filter_map(|buffer| {
        let (Place::Arena { offset }, Some(first)) = (buffer.place, buffer.producer) else { return None };
        let last = buffer.consumers.last().copied().unwrap_or(first).max(first);
        let bytes = buffer.layout.span();
        Some(Region { name: buffer.name.clone(), offset, bytes, first, last, scratch: false })
    });
    let workspaces = plan.groups.iter().enumerate().filter_map(|(id, group)| {
        let workspace = group.workspace.filter(|workspace| workspace.bytes > 0)?;
        let name = "scratch".to_owned();
        let (offset, bytes) = (workspace.offset, workspace.bytes);
        Some(Region { name, offset, bytes, first: id, last: id, scratch: true })
    });
    buffers.chain(workspaces).collect()
}

fn axes(names: &[String], step: f64, plan: &Plan) -> Markup {
    let right = LEFT + step * names.len() as f64;
    html! {
        @for (id, name) in names.iter().enumerate() {
            @let x = LEFT + step * id as f64;
            path d=(format!("M{} {}V{}", px(x), px(TOP - 6.0), px(TOP + HEIGHT))) stroke="#d5dbe1" {}
            text x=(px(x + step / 2.0)) y=(px(TOP - 12.0)) text-anchor="middle" font-size="11"
                fill=(stream_colours(plan.groups[id].stream).0) { (name) }
        }
        @for part in 0..=4_usize {
            @let y = TOP + HEIGHT * part as f64 / 4.0;
            path d=(format!("M{} {}H{}", px(LEFT), px(y), px(right))) stroke="#d5dbe1" {}
            text x=(px(LEFT - 6.0)) y=(px(y + 4.0)) text-anchor="end" font-size="11" fill="#3e4c59" {
                (plan.arena_bytes * part / 4)
            }
        }
    }
}

fn block(plan: &Plan, region: &Region, step: f64) -> Markup {
    let scale = HEIGHT / plan.arena_bytes.max(1) as f64;
    let (x, y) = (LEFT + step * region.first as f64 + 2.0, TOP + region.offset as f64 * scale);
    let width = step * (region.last - region.first + 1) as f64 - 4.0;
    let height = (region.bytes as f64 * scale).max(1.5);
    let (line, fill) = stream_colours(plan.groups[region.first].stream);
    let fill = if region.scratch { "url(#scratch)" } else { fill };
    let fits = ((width - 6.0) / 7.0).max(1.0) as usize;
    html! {
        g {
            title {
                (region.name) ": " (region.bytes) " bytes at " (region.offset)
                ", launches #" (region.first) " to #" (region.last)
            }
            rect x=(px(x)) y=(px(y)) width=(px(width)) height=(px(height)) fill=(fill) stroke=(line) {}
            @if height >= READABLE && fits >= 3 {
                text x=(px(x + width / 2.0)) y=(px(y + height / 2.0 + 4.0)) text-anchor="middle" font-size="11" {
                    (shortened(&region.name, fits))
                }
            }
        }
    }
}
