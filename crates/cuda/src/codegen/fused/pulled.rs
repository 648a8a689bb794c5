//! Values that are computed where they are read, one pixel at a time: of a resize (or another gather) by so much that most
//! of what it reads from would be made in vain.

use std::fmt::Write as _;

use mip_plan::{Gather, Kernel, Operand};

use super::emit::{point_call, source_of};
use super::roles::Roles;
use super::setting::Setting;
use crate::codegen::text::{planar, sample};

/// Pixels of the source a pixel of the result, for each pixel that it reads, from which on single pixels are cheaper: as
/// vectors, a few of them come with one load.
const SPARSE: u64 = 2;

/// Whether a stage that reads `source` at computed places has each pixel computed for it alone.
pub(super) fn pulls(setting: &Setting<'_>, reader: usize, source: Operand) -> bool {
    let (Operand::Stage(from), stage) = (source, setting.stage(reader)) else { return false };
    let taps = match &stage.kernel {
        Kernel::Resample(kernel) => kernel.x.taps() * kernel.y.taps(),
        Kernel::Gather(_) => 1,
        Kernel::Point(_)
        | Kernel::Warp(_)
        | Kernel::Separable(_)
        | Kernel::Stencil(_)
        | Kernel::Whole(_)
        | Kernel::Custom(_) => return false,
    };
    let pixels = |desc: mip_core::ImageDesc| u64::from(desc.width()) * u64::from(desc.height());
    let read = pixels(stage.output).saturating_mul(taps as u64);
    read.saturating_mul(SPARSE) <= pixels(setting.desc(source)) && is_pointwise(setting, from)
}

/// Whether a stage can be computed from memory a pixel at a time.
fn is_pointwise(setting: &Setting<'_>, stage: usize) -> bool {
    let stage = setting.stage(stage);
    matches!(stage.kernel, Kernel::Point(_) | Kernel::Gather(_))
        && stage.inputs.iter().all(|&input| match input {
            Operand::Stage(earlier) => is_pointwise(setting, earlier),
            Operand::Buffer(_) => true,
        })
}

/// The function of a stage's single pixels.
pub(super) fn pixel_name(stage: usize) -> String {
    format!("pixel{stage}")
}

/// A row of a stage whose pixels are computed when they are asked for, `taps` of them at once.
pub(super) fn pulled_row(stage: usize, channels: usize, taps: usize) -> String {
    format!(
        "return [&, j](float* near, int column) {{\n#pragma unroll\nfor (int k = 0; k < {taps}; k++) {}(near + k * {channels}, p, f, column + k, j);\n}};",
        pixel_name(stage)
    )
}

/// The functions of all stages that are computed so, producers first.
pub(super) fn pixel_functions(setting: &Setting<'_>, roles: &Roles) -> String {
    let n = setting.stages();
    let mut wanted = vec![false; n];
    for reader in 0..n {
        for &source in &setting.stage(reader).inputs {
            let Operand::Stage(from) = source else { continue };
            wanted[from] |= roles.tile_of(source).is_none() && pulls(setting, reader, source);
        }
    }
    for stage in (0..n).rev().filter(|&s| wanted[s]).collect::<Vec<_>>() {
        want_producers(setting, stage, &mut wanted);
    }
    let mut text = String::new();
    for stage in (0..n).filter(|&s| wanted[s]) {
        text.push_str(&pixel_function(setting, stage));
    }
    text
}

fn want_producers(setting: &Setting<'_>, stage: usize, wanted: &mut [bool]) {
    for &input in &setting.stage(stage).inputs {
        if let Operand::Stage(earlier) = input {
            wanted[earlier] = true;
            want_producers(setting, earlier, wanted);
        }
    }
}

/// `pixel3(o, p, f, x, y)`: the channels of stage 3 at column x and row y of frame f, rounded to its dtype.
fn pixel_function(setting: &Setting<'_>, index: usize) -> String {
    let stage = setting.stage(index);
    let read = |source: Operand, to: &str, x: &str, y: &str| {
        let desc = setting.desc(source);
        match source {
            Operand::Stage(earlier) => format!("{}({to}, p, f, {x}, {y});", pixel_name(earlier)),
            Operand::Buffer(id) => {
                let (t, c, planar) = (sample(desc.dtype()), desc.channels(), planar(&desc));
                format!("load_pixel<{t}, {c}, {planar}>({to}, p.in[{}], f, {x}, {y});", setting.input(id))
            }
        }
    };
    let body = match &stage.kernel {
        Kernel::Gather(Gather { x, y }) => {
            let output = stage.output;
            let column = source_of(index, *x, output.width(), "x", "x");
            let row = source_of(index, *y, output.height(), "y", "y");
            read(stage.inputs[0], "o", &column, &row)
        }
        Kernel::Point(_) => {
            let (mut text, mut names) = (String::new(), Vec::new());
            for (slot, &source) in stage.inputs.iter().enumerate() {
                let name = format!("v{slot}");
                let _ = write!(text, "float {name}[{}]; ", setting.desc(source).channels());
                let _ = writeln!(text, "{}", read(source, &name, "x", "y"));
                names.push(name);
            }
            text + &point_call(setting, index, 1, "o", &names, ("x", "y"))
        }
        Kernel::Resample(_)
        | Kernel::Warp(_)
        | Kernel::Separable(_)
        | Kernel::Stencil(_)
        | Kernel::Whole(_)
        | Kernel::Custom(_) => unreachable!("only what is pointwise is pulled"),
    };
    let body = super::indented(&body, 1);
    format!(
        "template <class P> INLINE void {}(float* o, const P& p, u32 f, int x, int y) {{\n{body}}}\n",
        pixel_name(index)
    )
}
