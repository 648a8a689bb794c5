use std::borrow::Cow;
use std::fmt::Write as _;

use mip_core::{BatchLayout, ImageDesc};
use mip_plan::{Kernel, Operand as Source, Stage, Stencil};

use super::Target;
use super::branches::entry as kernel_entry;
use super::fields::Fields;
use super::point::{functor, stencil as stencil_of};
use super::rank::{self, median_side};
use super::text::{Piece, identifier, planar};
use super::{custom, filter, gather, map, resample, stencil, warp, whole};

/// An image as a stage sees it when code is generated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operand {
    /// Shape, batch and the strides planned for it.
    pub layout: BatchLayout,
    /// Whether those strides are certain; otherwise the memory bound at launch may have any.
    pub fixed: bool,
}

impl Operand {
    /// The largest power of two up to 16 that divides every row's address, given aligned memory.
    fn alignment(&self) -> usize {
        alignment(&self.layout)
    }
}

/// The largest power of two up to 16 that divides every row's address, given aligned memory.
pub(super) fn alignment(l: &BatchLayout) -> usize {
    let planes = if l.desc.planes() > 1 { l.plane_stride } else { 0 };
    let frames = if l.batch_size > 1 { l.batch_stride } else { 0 };
    1 << (16 | l.row_stride | planes | frames).trailing_zeros()
}

/// Where an input image of a kernel lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Input {
    /// What it is, or is a part of.
    pub source: Source,
    /// The column and row of the source where it begins; a kernel is given that pixel's address.
    pub corner: [u32; 2],
}

impl Input {
    /// All of a source.
    pub(super) const fn whole(source: Source) -> Self {
        Self { source, corner: [0, 0] }
    }
}

/// Bytes from an image's first pixel to that of this column and row, of the first plane.
pub(crate) fn corner_offset(layout: &BatchLayout, corner: [u32; 2]) -> usize {
    let [x, y] = corner.map(|at| at as usize);
    let desc = &layout.desc;
    let pixel = desc.dtype().size() * if planar(desc) { 1 } else { desc.channels() };
    y * layout.row_stride + x * pixel
}

/// All that generating a stage depends on.
pub(super) struct Context<'a> {
    /// Position in the group; makes names unique.
    pub index: usize,
    pub stage: &'a Stage,
    pub inputs: Vec<Operand>,
    pub output: Operand,
    pub target: Target,
    /// Branches like this one that a launch is for at most.
    pub at_once: usize,
}

impl Context<'_> {
    pub(super) fn input(&self) -> &ImageDesc {
        &self.inputs[0].layout.desc
    }

    pub(super) const fn batch(&self) -> usize {
        self.output.layout.batch_size
    }

    /// The stencil it is, unless it has a kernel of its own.
    fn stencil(&self) -> Option<&Stencil> {
        stencil_of(&self.stage.kernel, self.input(), &self.output.layout.desc)
    }

    /// The side of its square where it is a median of bytes.
    fn median_side(&self) -> Option<u32> {
        median_side(&self.stage.kernel, self.input(), &self.output.layout.desc)
    }

    /// `Params0`, `Params1`, ...
    pub(super) fn params(&self) -> String {
        format!("Params{}", self.index)
    }

    /// Alignments worth an entry of their own, best first; the last one fits everything.
    fn alignments(&self) -> Vec<(usize, usize)> {
        let planned_in = self.inputs.iter().map(Operand::alignment).min().unwrap_or(16);
        let planned = (planned_in, self.output.alignment());
        let fixed = self.inputs.iter().all(|i| i.fixed) && self.output.fixed;
        let any = self.inputs.iter().map(|i| i.layout.desc.dtype().size()).max().unwrap_or(1);
        let any = (any, self.output.layout.desc.dtype().size());
        if fixed {
            return vec![planned];
        }
        if matches!(self.stage.kernel, Kernel::Custom(_))
            || (self.stencil().is_some() && self.median_side().is_none())
        {
            return vec![any]; // reads and writes sample by sample
        }
        // Memory bound at launch may be aligned better or worse than planned; uploaded inputs are aligned.
        let mut list = vec![(16, 16), (16, planned.1), planned, any];
        list.dedup();
        list
    }
}

/// One way to launch a stage.
#[derive(Debug, Clone)]
pub(crate) struct Variant {
    /// Name of the `__global__` function.
    pub entry: String,
    /// What every input row's address must be a multiple of.
    pub align_in: usize,
    /// What every output row's address must be a multiple of.
    pub align_out: usize,
}

/// The blocks of a launch. Kernels loop over what lies beyond the limits of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Threads of a block in x and y.
    pub block: [u32; 2],
    /// Blocks along x.
    pub x: u32,
    /// Blocks along y that would cover the image.
    pub y: u64,
    /// Planes handled as images of their own.
    pub planes: u32,
    /// Dynamic shared memory in bytes.
    pub shared: u32,
}

/// A table in device memory that belongs to one stage.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    /// The pointer field that gets its address.
    pub field: Cow<'static, str>,
    /// Contents.
    pub bytes: Vec<u8>,
}

/// Everything about a kernel, of one stage or of several, but its operands' memory.
#[derive(Debug, Clone)]
pub(crate) struct StageCode {
    /// Ways to launch it, best first; the last one fits every alignment that can occur.
    pub variants: Vec<Variant>,
    /// Its parameter struct.
    pub fields: Fields,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Where its input images come from, in the order of the field `in`.
    pub inputs: Vec<Input>,
    /// The stages whose results it writes, in the order of the field `out`.
    pub outputs: Vec<usize>,
    /// Stages with uniforms, and the fields that take them.
    pub uniforms: Vec<(usize, Cow<'static, str>)>,
    /// Its blocks.
    pub grid: Grid,
    /// Generated source.
    pub text: String,
    /// Fixed pieces that the source stands on.
    pub pieces: &'static [Piece],
}

/// What a family of kernels decides: everything but names and alignment.
pub(super) struct Body {
    pub fields: Fields,
    pub tables: Vec<Table>,
    pub uniforms: Option<&'static str>,
    pub grid: Grid,
    pub pieces: &'static [Piece],
    /// The call, given the alignments of input and output.
    pub call: Box<dyn Fn(usize, usize) -> String>,
}

/// Longest side: leaves room for a tile behind the last column in 32-bit arithmetic.
pub(super) const LONGEST: u32 = i32::MAX as u32 - 4096;

/// The launches of a stage: one, unless its kernel takes several with all of an image between them. Their parameters are of one
/// type, which the first one's text defines.
pub(super) fn stage_code(context: &Context<'_>, task: &str) -> Result<Vec<StageCode>, String> {
    for desc in context.inputs.iter().map(|i| &i.layout.desc).chain([&context.output.layout.desc]) {
        if desc.width().max(desc.height()) > LONGEST {
            return Err(format!("{desc} has a side longer than {LONGEST}, the most this device takes"));
        }
    }
    let one = |body| vec![body];
    let bodies = match &context.stage.kernel {
        Kernel::Point(kernel) => one(map::body(context, kernel)),
        Kernel::Gather(kernel) => one(gather::body(context, kernel)),
        Kernel::Warp(kernel) => one(warp::body(context, *kernel)),
        Kernel::Resample(kernel) => one(resample::body(context, kernel)),
        Kernel::Separable(kernel) => one(filter::separable(context, kernel)),
        Kernel::Stencil(kernel) => match (context.median_side(), context.stencil()) {
            (Some(side), _) => one(rank::median(context, side)),
            (None, Some(kernel)) => one(stencil::body(context, kernel)),
            (None, None) => one(filter::sobel(context, kernel)),
        },
        Kernel::Whole(kernel) => whole::bodies(context, *kernel),
        Kernel::Custom(kernel) => one(custom::body(context, &**kernel)?),
    };
    let mut text = String::new();
    let name = context.stage.kernel.name();
    let _ = writeln!(text, "// Stage {}: {name}, task '{}'", context.index, task.escape_default());
    for input in &context.inputs {
        let _ = writeln!(text, "//   from {}, batch {}", input.layout.desc, input.layout.batch_size);
    }
    let _ = writeln!(text, "//   to   {}", context.output.layout.desc);
    text.push_str(&bodies[0].fields.definition(&context.params()));
    if let Kernel::Custom(kernel) = &context.stage.kernel {
        text.push_str(&custom::declarations(context, &**kernel)?);
    }
    let inputs: Vec<ImageDesc> = context.inputs.iter().map(|i| i.layout.desc).collect();
    let output = &context.output.layout.desc;
    text.push_str(&functor(&context.stage.kernel, context.index, &inputs, output)?);
    let launch = |(number, body): (usize, Body)| {
        let mut text = if number == 0 { std::mem::take(&mut text) } else { String::new() };
        let threads = body.grid.block[0] * body.grid.block[1];
        let mut variants = Vec::new();
        for (align_in, align_out) in context.alignments() {
            let step = if number == 0 { String::new() } else { format!("_{number}") };
            let entry = format!("s{}_{}{step}_i{align_in}o{align_out}", context.index, identifier(name));
            let call = format!("    {}(p);\n", (body.call)(align_in, align_out));
            let (params, at_once) = (context.params(), context.at_once);
            kernel_entry(&mut text, &threads.to_string(), &entry, &params, at_once, &call);
            variants.push(Variant { entry, align_in, align_out });
        }
        let Body { fields, tables, uniforms, grid, pieces, .. } = body;
        let inputs = context.stage.inputs.iter().map(|&source| Input::whole(source)).collect();
        let outputs = vec![context.index];
        let uniforms = uniforms.map(|field| (context.index, field.into())).into_iter().collect();
        StageCode { variants, fields, tables, inputs, outputs, uniforms, grid, text, pieces }
    };
    Ok(bodies.into_iter().enumerate().map(launch).collect())
}

/// Rows each warp makes: many share the rows around them, few fill the device. `shared` says what a count needs.
pub(super) fn rows_per_warp(
    context: &Context<'_>,
    blocks_x: u64,
    warps: u32,
    shared: impl Fn(u32) -> u64,
) -> u32 {
    const SHARED_LIMIT: u64 = 32 << 10;
    let height = u64::from(context.output.layout.desc.height());
    let enough = 4 * u64::from(context.target.multiprocessors);
    let frames = (context.batch() * context.target.branches) as u64;
    let blocks = |rows: u32| blocks_x * height.div_ceil(u64::from(rows * warps)) * frames;
    let fits = |rows: &u32| shared(*rows) <= SHARED_LIMIT;
    let candidates = [16, 8, 4, 2, 1];
    let good = candidates.iter().filter(|r| fits(r)).find(|&&rows| rows <= 4 || blocks(rows) >= enough);
    good.copied().unwrap_or(1)
}
