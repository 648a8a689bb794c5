//! Groups of several stages as one kernel.
//!
//! A block makes a rectangle of the outputs. What windows and resamplings read lies in *tiles* in shared
//! memory, filled one pass after the other; everything else is computed where it is read, in registers, a
//! vector of pixels at a time, each value rounded to its dtype where a stage ends. A warp slides its windows
//! down its rows, so that windows keep what they need of the rows above.
//!
//! ```text
//! setting   the group; what cannot be fused, and why
//! crop      resizes of crops as resizes of what is cropped, crops of buffers as buffers
//! roles     which results lie in tiles
//! pulled    which are computed one pixel at a time for who reads them
//! regions   what part of each tile a block needs, worked out backwards from the outputs
//! layout    blocks, shared memory, passes
//! nodes     the values of a pass, and when each is needed
//! emit, passes, parameters    their text
//! integer_reduction  resizing by simple ratios in integers: the integer fast path
//! bilinear  resizing RGB bytes by other ratios, source rows fetched by each warp for itself
//! ```

mod bilinear;
mod crop;
mod describe;
mod emit;
mod integer_reduction;
mod layout;
mod nodes;
mod parameters;
mod passes;
mod pulled;
mod regions;
mod roles;
mod setting;

use std::fmt::Write as _;

use mip_core::{BatchLayout, ImageDesc};
use mip_plan::{Group, Operand};

use self::crop::Cropped;
pub(crate) use self::describe::fused_tiles;
use self::layout::Layout;
use self::passes::{Writer, indented, tile_type};
use self::roles::Roles;
pub(super) use self::setting::is_sample;
use self::setting::{Setting, VECTOR, WARPS, ceil};
use super::Target;
use super::branches::entry as kernel_entry;
use super::point::functor;
use super::stage::{Grid, LONGEST, StageCode, Variant};
use super::text::Piece;

const PIECES: &[Piece] = &[Piece::Base, Piece::Tile, Piece::PixelVector, Piece::SharedTile, Piece::Window];
const ALL_PIECES: &[Piece] = &[
    Piece::Base,
    Piece::Tile,
    Piece::PixelVector,
    Piece::SharedTile,
    Piece::Window,
    Piece::IntegerReduction,
    Piece::Bilinear,
];

/// Everything decided about a fused kernel but its text.
struct Decided {
    roles: Roles,
    layout: Layout,
}

fn decide(setting: &Setting<'_>, target: Target) -> Result<Decided, String> {
    let stages = &setting.group.stages;
    let read = |s: usize| setting.consumers(Operand::Stage(s)).next().is_some();
    let dropped = (0..stages.len()).any(|s| stages[s].store.is_none() && !read(s));
    // A stencil alone is faster from a tile than straight from memory.
    let stencil = stages.len() == 1 && setting.stencil(0).is_some();
    if !dropped && !stencil && !(0..stages.len()).any(read) {
        return Err("its stages do not read each other".to_owned());
    }
    for (index, stage) in stages.iter().enumerate() {
        if let Some(reason) = setting::refusal(setting, index) {
            return Err(reason);
        }
        let inputs = stage.inputs.iter().map(|&input| setting.desc(input));
        if let Some(long) = inputs.chain([stage.output]).find(|d| d.width().max(d.height()) > LONGEST) {
            return Err(format!("{long} has a side longer than {LONGEST}"));
        }
    }
    let last = stages[stages.len() - 1].output;
    for stage in stages.iter().filter(|s| s.store.is_some()) {
        let size = (stage.output.width(), stage.output.height());
        if size != (last.width(), last.height()) {
            return Err(format!("it writes images of different sizes ({} and {last})", stage.output));
        }
    }
    if stages[stages.len() - 1].store.is_none() {
        return Err("nothing reads its last stage".to_owned());
    }
    let roles = Roles::of(setting)?;
    let layout = Layout::of(setting, &roles, target)?;
    Ok(Decided { roles, layout })
}

/// Why a branch, a group of its own, runs as unfused launches; `Ok` when it is one kernel.
///
/// # Errors
/// The reason, in words.
pub(crate) fn fuses(group: &Group, layouts: &[BatchLayout], target: Target) -> Result<(), String> {
    let cropped = Cropped::of(group, layouts);
    decide(&Setting { group: &cropped.group, layouts: &cropped.layouts }, target).map(|_| ())
}

/// The kernel of a group of several stages, for `at_once` branches like it in a launch. `fixed` says whether a buffer's
/// strides are certain, `name` names stages and buffers in comments.
///
/// # Errors
/// Why the group cannot be one kernel.
pub(super) fn fused_code(
    group: &Group,
    layouts: &[BatchLayout],
    target: Target,
    at_once: usize,
    fixed: &dyn Fn(usize) -> bool,
    name: &dyn Fn(Operand) -> String,
) -> Result<StageCode, String> {
    let cropped = Cropped::of(group, layouts);
    let (group, layouts) = (&*cropped.group, &*cropped.layouts);
    let setting = Setting { group, layouts };
    let source_name = |operand: Operand| match operand {
        Operand::Buffer(id) => name(cropped.input(id).source),
        Operand::Stage(_) => name(operand),
    };
    let name = &source_name;
    let Decided { roles, layout } = decide(&setting, target)?;
    let parameters = parameters::parameters(&setting, &roles, &layout);
    let mut text = String::new();
    let titles = (0..setting.stages()).map(|s| name(Operand::Stage(s))).collect::<Vec<_>>();
    let _ = writeln!(text, "// One kernel: {}", titles.join(", "));
    for id in group.reads() {
        let _ = writeln!(text, "//   from {}: {}", name(Operand::Buffer(id)), layouts[id].desc);
    }
    for stage in setting.stored() {
        let _ = writeln!(text, "//   to   {}: {}", titles[stage], setting.stage(stage).output);
    }
    text.push_str(&parameters.fields.definition("Params0"));
    for (index, stage) in group.stages.iter().enumerate() {
        let inputs: Vec<ImageDesc> = stage.inputs.iter().map(|&input| setting.desc(input)).collect();
        text.push_str(&functor(&stage.kernel, index, &inputs, &stage.output)?);
    }
    text.push_str(&pulled::pixel_functions(&setting, &roles));
    for (k, tile) in roles.tiles.iter().enumerate() {
        let (columns, rows) = (layout.x.tiles[k].len, layout.y.tiles[k].len);
        let _ = writeln!(text, "// {}", name(tile.source));
        text.push_str(&tile_type(&setting.desc(tile.source), tile.as_f32, k, columns, rows));
    }
    let mut variants = Vec::new();
    for (align_in, align_out) in alignments(&setting, &cropped, fixed) {
        let any = setting.group.reads().iter().map(|&id| layouts[id].desc.dtype().size()).max().unwrap_or(1);
        let entry = format!("fused_i{align_in}o{align_out}");
        let bounds = format!("{}, {}", 32 * WARPS, blocks_at_once(&setting, &roles, &layout, align_in));
        let body = indented(&block(&setting, &roles, &layout, (align_in, align_out), name), 1);
        kernel_entry(&mut text, &bounds, &entry, "Params0", at_once, &body);
        variants.push(Variant { entry, align_in: if align_in == 0 { any } else { align_in }, align_out });
    }
    let last = setting.stage(setting.stages() - 1).output;
    let grid = Grid {
        block: [32, WARPS as u32],
        x: ceil(i64::from(last.width()), layout.columns) as u32,
        y: ceil(i64::from(last.height()), layout.rows) as u64,
        planes: 1,
        shared: layout.shared as u32,
    };
    let shortcuts =
        roles.tiles.iter().any(|p| p.integer.is_some()) || layout.passes.iter().any(|p| p.by_warps);
    Ok(StageCode {
        variants,
        fields: parameters.fields,
        tables: parameters.tables,
        inputs: group.reads().into_iter().map(|id| cropped.input(id)).collect(),
        outputs: setting.stored().collect(),
        uniforms: parameters.uniforms,
        grid,
        text,
        pieces: if shortcuts { ALL_PIECES } else { PIECES },
    })
}

/// Alignments of inputs (0: none is certain) and of outputs that get an entry of their own, best first.
fn alignments(
    setting: &Setting<'_>,
    cropped: &Cropped<'_>,
    fixed: &dyn Fn(usize) -> bool,
) -> Vec<(usize, usize)> {
    let (reads, writes) = (setting.group.reads(), setting.group.writes());
    let of = |ids: &[usize]| {
        let align = |&id: &usize| super::stage::alignment(&setting.layouts[id]);
        ids.iter().map(align).min().unwrap_or(16)
    };
    let align_in = of(&reads).min(cropped.alignment());
    let planned = (if align_in < 4 { 0 } else { align_in }, of(&writes));
    let mut list = vec![planned];
    // Where a part begins is no part of the code: it may be anywhere.
    if cropped.has_views() {
        list.push((0, planned.1));
    }
    if !reads.iter().chain(&writes).all(|&id| cropped.is_fixed(id, fixed)) {
        let any_out = writes.iter().map(|&id| setting.layouts[id].desc.dtype().size()).max();
        list.push((0, any_out.unwrap_or(1)));
    }
    list.dedup();
    list
}

/// Blocks that a multiprocessor should run at once: leaves each thread enough registers to spill few or none.
fn blocks_at_once(setting: &Setting<'_>, roles: &Roles, layout: &Layout, align_in: usize) -> u32 {
    let integers =
        |pass: &layout::Pass| pass.tile.is_some_and(|k| roles.tiles[k].integer.is_some()) && align_in >= 4;
    // Sums and weights of a resampling in registers beside everything else.
    let resamples = layout.passes.iter().any(|pass| pass.chunked() && !integers(pass));
    let rings = layout.passes.iter().any(|pass| pass.by_warps);
    let kept = layout.passes.iter().map(|pass| pass.kept(setting)).max().unwrap_or(0);
    match kept {
        0..=56 if !resamples && !rings => 5,
        0..=72 => 4,
        _ => 3,
    }
}

/// The body of the kernel.
fn block(
    setting: &Setting<'_>,
    roles: &Roles,
    layout: &Layout,
    (align_in, align_out): (usize, usize),
    title: &dyn Fn(Operand) -> String,
) -> String {
    let mut text = String::from("extern __shared__ uint4 shared[];\n");
    for (k, offset) in layout.offsets.iter().enumerate() {
        let _ = writeln!(text, "u8* const tile{k} = (u8*)shared + {offset};");
    }
    let (columns, rows) = (layout.columns, layout.rows);
    let _ = writeln!(text, "const int x0 = (int)blockIdx.x * {columns};");
    let mut inner = format!("const int y0 = block * {rows};\n");
    for k in 0..roles.tiles.len() {
        inner.push_str(&Writer::origin(layout, k));
    }
    if !roles.tiles.is_empty() || layout.passes.iter().any(|p| !p.raws.is_empty()) {
        inner.push_str("__syncthreads();\n");
    }
    for pass in &layout.passes {
        let writer = Writer { setting, roles, layout, pass, align_in, align_out, title };
        inner.push_str(&writer.text());
    }
    let _ = write!(
        text,
        "for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP) {{\n    for (int block = blockIdx.y; block < p.blocks; block += gridDim.y) {{\n{}    }}\n}}\n",
        indented(&inner, 2)
    );
    text
}

/// A pixel vector never crosses the block's own last column.
const _: () = assert!(8 % VECTOR == 0);
