use std::fmt::Write as _;

use mip_core::ImageDesc;
use mip_plan::{Kernel, Operand};

use super::layout::{Layout, Pass, Raw};
use super::regions::Axis;
use super::roles::Roles;
use super::setting::{STRIP, Setting, WARPS, window};
use crate::codegen::text::{border, planar, sample};

/// Writes one pass.
pub(super) struct Writer<'a> {
    pub setting: &'a Setting<'a>,
    pub roles: &'a Roles,
    pub layout: &'a Layout,
    pub pass: &'a Pass,
    /// Alignment of input strips, 0 where none is certain; and of output rows.
    pub align_in: usize,
    pub align_out: usize,
    /// Names of tasks and inputs, for comments.
    pub title: &'a dyn Fn(Operand) -> String,
}

/// Indents lines by four spaces a level.
pub(super) fn indented(text: &str, level: usize) -> String {
    let line = |line: &str| {
        let pad = if line.is_empty() || line.starts_with('#') { 0 } else { 4 * level };
        format!("{}{line}\n", " ".repeat(pad))
    };
    text.lines().map(line).collect()
}

impl Writer<'_> {
    /// The position of a buffer among the kernel's inputs.
    pub(super) fn input(&self, id: usize) -> usize {
        self.setting.group.reads().iter().position(|&r| r == id).expect("a buffer the group reads")
    }

    fn size(&self, source: Operand) -> (String, String) {
        match source {
            Operand::Stage(s) => (format!("p.w{s}"), format!("p.h{s}")),
            Operand::Buffer(id) => {
                let k = self.input(id);
                (format!("p.in{k}_w"), format!("p.in{k}_h"))
            }
        }
    }

    /// The whole pass, barriers included: what it wrote can be read behind it.
    pub(super) fn text(&self) -> String {
        let (first_x, first_y, height) = match self.pass.patch {
            Some(k) => {
                let source = self.roles.patches[k].source;
                (format!("x_{k}"), format!("y_{k}"), self.size(source).1)
            }
            None => {
                let last = self.setting.stages() - 1;
                ("x0".to_owned(), "y0".to_owned(), format!("p.h{last}"))
            }
        };
        let first_x = if self.pass.nodes.chains() { format!("{first_x} - {STRIP}") } else { first_x };
        let mut text = self.comment();
        let rows = self.rows(&first_x, &first_y, &height);
        if self.pass.raws.is_empty() {
            text.push_str(&rows);
        } else {
            let (all, chunk) = (self.pass.rows, self.pass.chunk);
            let _ = writeln!(text, "for (int chunk = 0; chunk < {all}; chunk += {chunk}) {{");
            let last = format!("min({first_y} + min(chunk + {chunk}, {all}), {height}) - 1");
            let mut inner = format!(
                "const int top = max({first_y} + chunk, 0), bottom = {last};\nif (bottom < top) continue;\n__syncthreads();\n"
            );
            for raw in &self.pass.raws {
                inner.push_str(&self.raw(raw, &first_x));
            }
            inner.push_str("wait_for_copies();\n__syncthreads();\n");
            inner.push_str(&rows);
            text.push_str(&indented(&inner, 1));
            text.push_str("}\n");
        }
        if let Some(k) = self.pass.patch {
            text.push_str("__syncthreads();\n");
            let patch = self.roles.patches[k];
            if let Some(b) = patch.border {
                let (w, h) = self.size(patch.source);
                let _ = writeln!(
                    text,
                    "mend<P{k}, {}>(patch{k}, x_{k}, y_{k}, {w}, {h}, p.constant{k});\n__syncthreads();",
                    border(b).0
                );
            }
        }
        text
    }

    fn comment(&self) -> String {
        let names = self.pass.sinks.iter().map(|(_, of)| (self.title)(*of)).collect::<Vec<_>>().join(", ");
        let made = self.pass.nodes.list.iter().filter(|n| matches!(n.of, Operand::Stage(_)));
        let mut through: Vec<String> = Vec::new();
        for node in made {
            let title = (self.title)(node.of);
            if !through.contains(&title) {
                through.push(title);
            }
        }
        let what = if self.pass.patch.is_some() { "Into shared memory" } else { "To memory" };
        format!(
            "// {what}: {names}; computed here: {}\n",
            if through.is_empty() { "nothing".to_owned() } else { through.join(", ") }
        )
    }

    /// Copies what one resampling of a chunk reads.
    fn raw(&self, raw: &Raw, first_x: &str) -> String {
        let node = &self.pass.nodes.list[raw.node];
        let Operand::Stage(index) = node.of else { unreachable!("a resampling is a stage") };
        let Kernel::Resample(kernel) = &self.setting.stage(index).kernel else {
            unreachable!("a resampling")
        };
        let desc = self.setting.layouts[raw.buffer].desc;
        let (k, name) = (self.input(raw.buffer), self.name(raw.node));
        let pixel = desc.channels() * desc.dtype.size();
        let reach = |first: String, last: String, flipped: bool, size: &str, taps: usize, table: &str| {
            let (low, high) = if flipped { (last, first) } else { (first, last) };
            let start = |i: &str| {
                format!("(int)__ldg(p.s{index}_{table}_starts + min(max({i}, 0), p.{size}{index} - 1))")
            };
            (start(&low), format!("{} + {taps}", start(&high)))
        };
        let wide = self.pass.strips * STRIP;
        let end_x = format!("({first_x} + {})", if node.x.flipped { wide - STRIP } else { wide - 1 });
        let begin_x = format!("({first_x})");
        let (first, last) = (node.x.text(&begin_x), node.x.text(&end_x));
        let first = if node.x.flipped { format!("{first} + {}", STRIP - 1) } else { first };
        let (x, x_end) = reach(first, last, node.x.flipped, "w", kernel.x.taps(), "x");
        let (y, y_end) =
            reach(node.y.text("top"), node.y.text("bottom"), node.y.flipped, "h", kernel.y.taps(), "y");
        format!(
            "u8* const {name}_raw = (u8*)shared + {offset};\nconst int {name}_x = {x}, {name}_y = {y};\nconst u8* const {name}_start = p.in[{k}].start + f * p.in[{k}].frame + (i64){name}_x * {pixel};\nraw_fill<{pitch}>({name}_raw, {name}_start, p.in[{k}].row, {name}_y, {y_end} - {name}_y, ({x_end} - {name}_x) * {pixel});\n",
            offset = raw.offset,
            pitch = raw.pitch,
        )
    }

    /// The rows of a pass, or of a chunk of it.
    fn rows(&self, first_x: &str, first_y: &str, height: &str) -> String {
        let pass = self.pass;
        let code = self.code();
        let lead = code.items.iter().map(|i| -i.since).max().unwrap_or(0).max(0);
        let each = (pass.chunk + WARPS - 1) / WARPS;
        let chunk = if pass.raws.is_empty() { "" } else { " + chunk" };
        let bottom = format!("min({first_y}{chunk} + {}, {height})", pass.chunk.min(pass.rows));
        let bottom = if pass.raws.is_empty() { bottom } else { "bottom + 1".to_owned() };
        let mut strip = format!(
            "const int x = {first_x} + strip * {STRIP};\nconst int from = {first_y}{chunk} + (int)threadIdx.y * {each}, first = max(from, 0), last = min(from + {each}, {bottom});\n"
        );
        strip.push_str(&code.before);
        let mut row = String::new();
        let mut reached = 0;
        for item in &code.items {
            let step = item.since + lead;
            if step > reached {
                let _ = writeln!(row, "if (t < {step}) continue;");
                reached = step;
            }
            row.push_str(&item.text);
            row.push('\n');
        }
        if lead > reached {
            let _ = writeln!(row, "if (t < {lead}) continue;");
        }
        row.push_str(&self.sinks());
        if lead == 0 {
            let _ = write!(strip, "for (int y = first; y < last; y++) {{\n{}}}\n", indented(&row, 1));
        } else {
            let unroll = self.unroll();
            let body =
                format!("const int t = base + k, y = first + t - {lead};\nif (y >= last) break;\n{row}");
            let _ = write!(
                strip,
                "for (int base = 0; base < last - first + {lead}; base += {unroll}) {{\n#pragma unroll\n    for (int k = 0; k < {unroll}; k++) {{\n{}    }}\n}}\n",
                indented(&body, 2)
            );
        }
        let strips = pass.strips;
        if pass.nodes.chains() {
            // All lanes take part: they hand columns to their neighbours.
            format!(
                "{{\n    const int strip = min((int)threadIdx.x, {});\n{}}}\n",
                strips - 1,
                indented(&strip, 1)
            )
        } else {
            format!(
                "for (int strip = threadIdx.x; strip < {strips}; strip += 32) {{\n{}}}\n",
                indented(&strip, 1)
            )
        }
    }

    /// Rows after which the registers of the tallest window are where they began.
    fn unroll(&self) -> i64 {
        let tall = self.pass.nodes.list.iter().filter_map(|n| match n.of {
            Operand::Stage(s) => {
                window(&self.setting.stage(s).kernel).map(|(_, ry, _)| 2 * i64::from(ry) + 1)
            }
            Operand::Buffer(_) => None,
        });
        tall.max().unwrap_or(1)
    }

    fn sinks(&self) -> String {
        let mut text = String::new();
        let pass = self.pass;
        // Strips beside the block's own are computed only for their neighbours.
        let inner = format!("strip >= 1 && strip <= {}", pass.strips - 2);
        for &(node, of) in &pass.sinks {
            let name = self.name(node);
            let desc = self.setting.desc(of);
            if let Some(k) = pass.patch {
                let guard = if pass.nodes.chains() { format!("if ({inner}) ") } else { String::new() };
                let _ = writeln!(
                    text,
                    "{guard}tile_store<P{k}::T, P{k}::C, {STRIP}>(patch{k} + (y - y_{k}) * P{k}::PITCH + (x - x_{k}) * P{k}::PIXEL, {name});"
                );
            }
            let Operand::Stage(stage) = of else { continue };
            let Some(out) = self.setting.stored().position(|s| s == stage) else { continue };
            let own = match (pass.patch, pass.nodes.chains()) {
                (Some(_), _) => Some(format!(
                    "x >= x0 && x < x0 + {} && y >= y0 && y < y0 + {}{}",
                    self.layout.columns,
                    self.layout.rows,
                    if pass.nodes.chains() { format!(" && {inner}") } else { String::new() }
                )),
                (None, true) => Some(inner.clone()),
                (None, false) => None,
            };
            let guard = own.map_or(String::new(), |own| format!("if ({own}) "));
            let (t, c) = (sample(desc.dtype), desc.channels());
            let _ = writeln!(
                text,
                "{guard}store_strip<{t}, {c}, {STRIP}, {}, {}>(p.out[{out}], f, x, y, p.w{stage} - x, {name});",
                planar(&desc),
                self.align_out
            );
        }
        text
    }

    /// `const int x_0 = x0 - 8;`: where a patch begins.
    pub(super) fn origin(layout: &Layout, k: usize) -> String {
        let place = |axis: Axis| {
            let (regions, step, name, block) = match axis {
                Axis::X => (&layout.x, layout.columns, "x", "blockIdx.x"),
                Axis::Y => (&layout.y, layout.rows, "y", "block"),
            };
            match regions.patches[k].offset(step) {
                Some(0) => format!("{name}_{k} = {name}0"),
                Some(offset) if offset < 0 => format!("{name}_{k} = {name}0 - {}", -offset),
                Some(offset) => format!("{name}_{k} = {name}0 + {offset}"),
                None => format!("{name}_{k} = __ldg(p.patch{k}_{name} + {block})"),
            }
        };
        format!("const int {}, {};\n", place(Axis::X), place(Axis::Y))
    }
}

/// A patch's type: `typedef Patch<float, 1, 128, 80> P0;`.
pub(super) fn patch_type(desc: &ImageDesc, wide: bool, k: usize, columns: i64, rows: i64) -> String {
    let t = if wide { "float" } else { sample(desc.dtype) };
    format!("typedef Patch<{t}, {}, {columns}, {rows}> P{k};\n", desc.channels())
}
