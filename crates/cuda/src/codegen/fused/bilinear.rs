//! Bilinear resizing of interleaved RGB bytes by any ratio: each warp fetches its source rows by itself,
//! so that nothing waits for the block, a few rows ahead of what it computes.

use std::fmt::Write as _;

use mip_core::{DType, ImageDesc, Layout as Samples};
use mip_plan::{Axis, AxisTaps, Kernel, Operand};

use super::emit::{Code, is_mean};
use super::layout::{Layout, Pass, Raw, span};
use super::nodes::{Node, What};
use super::passes::Writer;
use super::setting::{Setting, VECTOR, WARPS};

/// Most source pixels of a row, and vectors: a lane copies few pieces and makes one vector.
const MAX_PIXELS: i64 = 333;
const MAX_VECTORS: i64 = 32;
/// Most rows a warp: a lane looks up the weights of one.
const MAX_ROWS: i64 = 32;
/// Rows in a warp's ring; `RgbRows` in the kernel counts on four.
const SLOTS: i64 = 4;

impl Layout {
    /// A ring of source rows for each warp, if the pass can be made that way.
    pub(super) fn ring(&self, setting: &Setting<'_>, pass: &Pass, offset: i64) -> Option<Raw> {
        let mut found = pass.nodes.raws(setting);
        let (node, buffer) = found.next()?;
        let pointwise = |what| matches!(what, What::Point | What::Resample(Operand::Buffer(_)));
        if found.next().is_some()
            || pass.vectors > MAX_VECTORS
            || pass.rows_of_warp() > MAX_ROWS
            || !pass.nodes.list.iter().all(|n| pointwise(n.what))
        {
            return None;
        }
        let resampling = &pass.nodes.list[node];
        let Operand::Stage(stage) = resampling.of else { return None };
        let Kernel::Resample(kernel) = &setting.stage(stage).kernel else { return None };
        let two_taps = |axis: &AxisTaps| axis.taps() == 2 && is_mean(axis) && is_scalable(axis);
        let turned = resampling.x.flipped || resampling.y.flipped;
        if turned || !two_taps(&kernel.x) || !two_taps(&kernel.y) || !is_rgb(&setting.layouts[buffer].desc) {
            return None;
        }
        let pixels = self.origins(pass, Axis::X).into_iter().map(|first| {
            let columns = kernel.x.footprint(span(resampling.x, first, pass.vectors * VECTOR, VECTOR));
            columns.end - columns.start
        });
        let pixels = pixels.max().filter(|&pixels| pixels <= MAX_PIXELS)?;
        // Up to 15 bytes before the first pixel, and words that are read around the last one.
        let pitch = (3 * pixels + 15 + 8 + 15) / 16 * 16;
        let bytes = WARPS * (SLOTS * pitch + 16 * pass.rows_of_warp());
        Some(Raw { node, buffer, pitch, offset, bytes, end: offset + bytes })
    }
}

/// Whether no product of a byte and two weights comes near the smallest numbers, where scaling is not exact.
fn is_scalable(axis: &AxisTaps) -> bool {
    axis.all_weights().iter().all(|&w| w == 0.0 || w > 1e-20)
}

fn is_rgb(desc: &ImageDesc) -> bool {
    desc.dtype() == DType::U8 && desc.layout() == Samples::Hwc && desc.channels() == 3
}

impl Writer<'_> {
    /// The values of one row, and what stands before all rows.
    pub(super) fn bilinear(&self, n: usize, name: &str, declare: &str, code: &mut Code) -> String {
        let node = &self.pass.nodes.list[n];
        let Operand::Stage(index) = node.of else { unreachable!("a resampling is a stage") };
        let raw = &self.pass.raws[0];
        let first = self.pass.tile.map_or("x0".to_owned(), |tile| format!("x_{tile}"));
        let k = self.input(raw.buffer);
        let shared = format!("(u8*)shared + {}", raw.offset);
        let Kernel::Resample(kernel) = &self.setting.stage(index).kernel else {
            unreachable!("a resampling")
        };
        let skips = kernel.y.starts().windows(2).any(|pair| pair[1] - pair[0] > 2);
        let task = format!("s{index}");
        let (pitch, rows) = (raw.pitch, self.pass.rows_of_warp());
        let (left, x, top) = (node.x.text(&first), node.x.text("x"), node.y.text("first"));
        let lines = [
            format!(
                "const int {name}_x = (int)__ldg(p.{task}_x_starts + min(max({left}, 0), p.w{index} - 1));"
            ),
            format!("typedef RgbRows<{pitch}> Rows_{name};"),
            format!("Bilinear<{VECTOR}, Rows_{name}, {skips}> {name}_sums;"),
            format!(
                "{name}_sums.set_columns(p.{task}_x_starts, p.{task}_x_weights, {x}, p.w{index}, {name}_x);"
            ),
            format!(
                "{name}_sums.set_rows({shared} + {} + threadIdx.y * {}, p.{task}_y_starts, p.{task}_y_weights, min({top}, p.h{index} - 1), max(last - first, 1));",
                WARPS * SLOTS * pitch,
                16 * rows,
            ),
            format!("Rows_{name} {name}_rows;"),
            format!(
                "{name}_rows.set({shared} + threadIdx.y * {}, p.in[{k}], f, {name}_x, p.in{k}_w, {name}_sums.next, (int){name}_sums.row_number(max(last - first, 1) - 1).x + 1);",
                SLOTS * pitch,
            ),
        ];
        for line in lines {
            let _ = writeln!(code.before, "{line}");
        }
        let round = if self.only_for_luma(n) {
            String::new()
        } else {
            format!("\nround_inside<{}>({name}, {name});", 3 * VECTOR)
        };
        format!("{declare}\n{name}_sums.result({name}, y - first, last - first - 1, {name}_rows);{round}")
    }

    /// Whether a resampling of this pass is read by the luma of its pixels alone, which rounds it as well.
    pub(super) fn only_for_luma(&self, n: usize) -> bool {
        let list = &self.pass.nodes.list;
        let is_luma = |node: &Node| {
            let Operand::Stage(index) = node.of else { return false };
            let stage = self.setting.stage(index);
            let Kernel::Point(kernel) = &stage.kernel else { return false };
            kernel.luma(&self.setting.desc(stage.inputs[0]), &stage.output).is_some()
        };
        let mut readers = list.iter().filter(|node| node.inputs.contains(&n));
        self.pass.by_warps
            && matches!(list[n].what, What::Resample(_))
            && self.pass.sinks.iter().all(|&(sink, _)| sink != n)
            && readers.next().is_some_and(is_luma)
            && readers.next().is_none()
    }
}
