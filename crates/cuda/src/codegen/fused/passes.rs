use std::fmt::Write as _;

use mip_core::ImageDesc;
use mip_plan::{Axis, Kernel, Operand};

use super::integer_reduction::IntegerReduction;
use super::layout::{Layout, Pass, Raw};
use super::nodes::What;
use super::roles::Roles;
use super::setting::{Setting, VECTOR, WARPS};
use crate::codegen::text::{border, pixels, planar, sample};

/// Writes one pass.
pub(super) struct Writer<'a> {
    pub setting: &'a Setting<'a>,
    pub roles: &'a Roles,
    pub layout: &'a Layout,
    pub pass: &'a Pass,
    /// Alignment of input vectors, 0 where none is certain; and of output rows.
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
        self.setting.input(id)
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
        let (first_x, first_y, height) = if let Some(k) = self.pass.tile {
            let source = self.roles.tiles[k].source;
            (format!("x_{k}"), format!("y_{k}"), self.size(source).1)
        } else {
            let last = self.setting.stages() - 1;
            ("x0".to_owned(), "y0".to_owned(), format!("p.h{last}"))
        };
        let mut text = self.comment();
        if let Some(integer) = self.integer() {
            text.push_str(&self.integer_rows(integer));
        } else if let Some(at_once) = self.loads_at_once() {
            text.push_str(&self.pointwise(at_once, &first_x, &first_y, &height));
        } else if !self.pass.chunked() {
            text.push_str(&self.rows(&first_x, &first_y, &height));
        } else {
            text.push_str(&self.chunks(&first_x, &first_y, &height));
        }
        if let Some(k) = self.pass.tile {
            text.push_str("__syncthreads();\n");
            let tile = self.roles.tiles[k];
            if let Some(b) = tile.border {
                let (w, h) = self.size(tile.source);
                let (rx, ry) = self.reach(tile.source);
                let _ = writeln!(
                    text,
                    "fill_borders<Tile{k}, {}, {rx}, {ry}>(tile{k}, x_{k}, y_{k}, {w}, {h}, p.constant{k});\n__syncthreads();",
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
        let what = if self.pass.tile.is_some() { "Into shared memory" } else { "To memory" };
        format!(
            "// {what}: {names}; computed here: {}\n",
            if through.is_empty() { "nothing".to_owned() } else { through.join(", ") }
        )
    }

    /// Rows in chunks: the bytes that the next chunk's resamplings read are copied while one is computed.
    fn chunks(&self, first_x: &str, first_y: &str, height: &str) -> String {
        let pass = self.pass;
        let (chunk, count) = (pass.chunk, (pass.rows + pass.chunk - 1) / pass.chunk);
        let range = |n: &str| {
            format!(
                "const int chunk = {n} * {chunk}, top = max({first_y} + chunk, 0), bottom = min({first_y} + min(chunk + {chunk}, {}), {height}) - 1;\n",
                pass.rows
            )
        };
        let mut text = String::from("{\n");
        let mut fill =
            format!("auto fill = [&](int n) {{\n    {}    if (bottom < top) return;\n", range("n"));
        let mut inner = String::new();
        for raw in &pass.raws {
            let (before, copy, here) = self.raw(raw, first_x, count > 1);
            text.push_str(&indented(&before, 1));
            fill.push_str(&indented(&copy, 1));
            inner.push_str(&here);
        }
        fill.push_str("};\nfill(0);\n");
        text.push_str(&indented(&fill, 1));
        let mut body = String::from("wait_for_copies();\n__syncthreads();\n");
        if count > 1 {
            let _ = writeln!(body, "if (n + 1 < {count}) fill(n + 1);");
        }
        let _ = write!(body, "{}if (bottom < top) continue;\n{inner}", range("n"));
        body.push_str(&self.rows(first_x, first_y, height));
        let _ = write!(text, "    for (int n = 0; n < {count}; n++) {{\n{}    }}\n}}\n", indented(&body, 2));
        text
    }

    /// What one resampling reads: what all chunks share, the copy for chunk `n`, and where a chunk finds it.
    fn raw(&self, raw: &Raw, first_x: &str, several: bool) -> (String, String, String) {
        let node = &self.pass.nodes.list[raw.node];
        let Operand::Stage(index) = node.of else { unreachable!("a resampling is a stage") };
        let Kernel::Resample(kernel) = &self.setting.stage(index).kernel else {
            unreachable!("a resampling")
        };
        let desc = self.setting.layouts[raw.buffer].desc;
        let (k, name) = (self.input(raw.buffer), self.name(raw.node));
        let pixel = desc.channels() * desc.dtype().size();
        let start = |i: &str, size: &str, table: &str| {
            format!("(int)__ldg(p.s{index}_{table}_starts + min(max({i}, 0), p.{size}{index} - 1))")
        };
        let wide = self.pass.vectors * VECTOR;
        let (begin, end) = (format!("({first_x})"), format!("({first_x} + {})", wide - VECTOR));
        // Columns of the first and of the last vector, in the order of the source.
        let (low, high) = if node.x.flipped { (&end, &begin) } else { (&begin, &end) };
        let (low, high) = (node.x.text(low), format!("{} + {}", node.x.text(high), VECTOR - 1));
        let mut before = format!(
            "u8* const {name}_copies = (u8*)shared + {};\nconst int {name}_x = {}, {name}_bytes = ({} + {} - {name}_x) * {pixel};\n",
            raw.offset,
            start(&low, "w", "x"),
            start(&high, "w", "x"),
            kernel.x.taps()
        );
        let _ = writeln!(
            before,
            "const u8* const {name}_start = p.in[{k}].start + f * p.in[{k}].frame + (i64){name}_x * {pixel};"
        );
        let (low, high) = if node.y.flipped { ("bottom", "top") } else { ("top", "bottom") };
        let top = start(&node.y.text(low), "h", "y");
        let place =
            if several { format!("{name}_copies + n % 2 * {}", raw.bytes) } else { format!("{name}_copies") };
        let copy = format!(
            "const int y = {top}, rows = {} + {} - y;\nraw_fill<{}>({place}, {name}_start, p.in[{k}].row, y, rows, {name}_bytes, {name}_x * {pixel}, {} - {name}_x * {pixel} - {name}_bytes);\n",
            start(&node.y.text(high), "h", "y"),
            kernel.y.taps(),
            raw.pitch,
            desc.width() as usize * pixel
        );
        let copy = format!("{{\n{}}}\n", indented(&copy, 1));
        let here = format!("const u8* const {name}_raw = {place};\nconst int {name}_y = {top};\n");
        (before, copy, here)
    }

    /// How a tile is computed in integers, where it is.
    fn integer(&self) -> Option<IntegerReduction> {
        self.roles.tiles[self.pass.tile?].integer
    }

    /// A whole tile in integers, straight from memory.
    fn integer_rows(&self, integer: IntegerReduction) -> String {
        let k = self.pass.tile.expect("a tile");
        let (columns, rows) = integer.ratio.unit();
        let units = self.layout.x.tiles[k].len / columns;
        let (input, pixel) = (self.input(integer.buffer), integer.rgb.map_or(1, |_| 3));
        let Operand::Stage(stage) = self.roles.tiles[k].source else { unreachable!("it is a stage") };
        let (sx, sy) = (integer.ratio.source(columns), integer.ratio.source(rows));
        let body = format!(
            "const int x = x_{k} + i % {units} * {columns}, y = y_{k} + i / {units} * {rows};\nif (x < 0 || x >= p.w{stage} || y < 0 || y >= p.h{stage}) continue;\n{}, {}>(tile{k} + (y - y_{k}) * Tile{k}::PITCH + (x - x_{k}) * Tile{k}::PIXEL, from + (u32)(y / {rows} * {sy}) * p.in[{input}].row + x / {columns} * {}, p.in[{input}].row);\n",
            integer.function(k),
            self.align_in,
            sx * pixel,
        );
        format!(
            "{{\n    const u8* const from = p.in[{input}].start + f * p.in[{input}].frame;\n    for (int i = threadIdx.y * 32 + threadIdx.x; i < {}; i += {}) {{\n{}    }}\n}}\n",
            units * (self.layout.y.tiles[k].len / rows),
            32 * WARPS,
            indented(&body, 2)
        )
    }

    /// Pixel vectors that a thread of a tile's pass loads before it computes the first of them: only where
    /// everything is pointwise and vectors of the images lie wholly inside or outside.
    pub(super) fn loads_at_once(&self) -> Option<i64> {
        self.pass.tile.filter(|_| self.align_in >= 4)?;
        let mut words = 0;
        for node in &self.pass.nodes.list {
            match node.what {
                What::Load(id) => {
                    let desc = self.setting.layouts[id].desc;
                    if !node.x.is_aligned() || i64::from(desc.width()) % VECTOR != 0 {
                        return None;
                    }
                    words += desc.channels() * desc.dtype().size();
                }
                What::Point => {}
                _ => return None,
            }
        }
        Some((16 / words.max(1) as i64).clamp(1, 4))
    }

    /// A tile that is computed pixel by pixel from memory: several loads are on their way at once.
    fn pointwise(&self, at_once: i64, first_x: &str, first_y: &str, height: &str) -> String {
        let pass = self.pass;
        let (total, threads) = (pass.vectors * pass.rows, 32 * WARPS);
        let place =
            format!("const int x = {first_x} + k % {0} * {VECTOR}, y = {first_y} + k / {0};\n", pass.vectors);
        let (mut declared, mut loads) = (String::new(), String::new());
        for (n, node) in pass.nodes.list.iter().enumerate() {
            let What::Load(id) = node.what else { continue };
            let desc = self.setting.layouts[id].desc;
            let (name, k) = (self.name(n), self.input(id));
            let kind = pixels(&desc, desc.channels(), VECTOR as u32, planar(&desc));
            let _ = writeln!(declared, "{kind} {name}_words[{at_once}];");
            let _ = writeln!(
                loads,
                "load_inside<{}>({name}_words[u], p.in[{k}], f, {}, {}, p.in{k}_w);",
                self.align_in,
                node.x.text("x"),
                node.y.text(&format!("min(max(y, 0), {height} - 1)"))
            );
        }
        let mut compute = format!("const int k = i + u * {threads};\nif (k >= {total}) break;\n{place}");
        let _ = writeln!(compute, "if (y < 0 || y >= {height}) continue;");
        for item in self.code().items {
            compute.push_str(&item.text);
            compute.push('\n');
        }
        compute.push_str(&self.sinks());
        format!(
            "for (int i = threadIdx.y * 32 + threadIdx.x; i < {total}; i += {}) {{\n{}#pragma unroll\n    for (int u = 0; u < {at_once}; u++) {{\n{}    }}\n#pragma unroll\n    for (int u = 0; u < {at_once}; u++) {{\n{}    }}\n}}\n",
            threads * at_once,
            indented(&declared, 1),
            indented(&format!("const int k = min(i + u * {threads}, {total} - 1);\n{place}{loads}"), 2),
            indented(&compute, 2)
        )
    }

    /// Columns and rows outside the image that windows over a tile read.
    fn reach(&self, source: Operand) -> (u32, u32) {
        let readers = self.setting.consumers(source).map(|s| {
            let window = self.setting.stage(s).kernel.window();
            let (rx, ry) = window.map_or((0, 0), |w| (w.radius_x, w.radius_y));
            let through = if self.roles.shuffled[s] { self.reach(Operand::Stage(s)) } else { (0, 0) };
            (rx + through.0, ry + through.1)
        });
        readers.fold((0, 0), |(x, y), (rx, ry)| (x.max(rx), y.max(ry)))
    }

    /// The rows of a pass, or of a chunk of it.
    fn rows(&self, first_x: &str, first_y: &str, height: &str) -> String {
        let pass = self.pass;
        let code = self.code();
        let lead = code.items.iter().map(|i| -i.since).max().unwrap_or(0).max(0);
        let each = pass.rows_of_warp();
        let chunk = if pass.chunked() { " + chunk" } else { "" };
        let bottom = format!("min({first_y}{chunk} + {}, {height})", pass.chunk.min(pass.rows));
        let bottom = if pass.chunked() { "bottom + 1".to_owned() } else { bottom };
        let mut vector = format!(
            "const int x = {first_x} + vector * {VECTOR};\nconst int from = {first_y}{chunk} + (int)threadIdx.y * {each}, first = max(from, 0), last = min(from + {each}, {bottom});\n"
        );
        vector.push_str(&code.before);
        let mut row = String::new();
        let mut reached = 0;
        for item in &code.items {
            let step = item.since + lead;
            if step > reached {
                let _ = writeln!(row, "if (t < {step}) return;");
                reached = step;
            }
            row.push_str(&item.text);
            row.push('\n');
        }
        if lead > reached {
            let _ = writeln!(row, "if (t < {lead}) return;");
        }
        row.push_str(&self.sinks());
        if lead == 0 {
            let _ = write!(vector, "for (int y = first; y < last; y++) {{\n{}}}\n", indented(&row, 1));
        } else {
            // The rows that fill the windows are unrolled, so that what each of them leaves out is known; the others
            // leave nothing out, and the last one ends everything at once: where ways of different lengths met,
            // registers would have to be moved.
            let unroll = self.unroll();
            let _ = write!(
                vector,
                "auto step = [&](const int t, const int y) {{\n{}}};\nauto slide = [&](int y) {{\n    if (y >= last) return;\n#pragma unroll\n    for (int t = 0; t < {lead}; t++) step(t, y + t - {lead});\n    for (;;) {{\n#pragma unroll\n        for (int k = 0; k < {unroll}; k++) {{\n            if (y >= last) return;\n            step({lead}, y);\n            y++;\n        }}\n    }}\n}};\nslide(first);\n",
                indented(&row, 1)
            );
        }
        let vectors = pass.vectors;
        if pass.nodes.shuffles() || pass.by_warps {
            // All lanes take part: they hand columns to their neighbours, or fetch rows together.
            format!(
                "{{\n    const int vector = min((int)threadIdx.x, {});\n{}}}\n",
                vectors - 1,
                indented(&vector, 1)
            )
        } else {
            format!(
                "for (int vector = threadIdx.x; vector < {vectors}; vector += 32) {{\n{}}}\n",
                indented(&vector, 1)
            )
        }
    }

    /// Rows after which the registers of the tallest window are where they began.
    fn unroll(&self) -> i64 {
        let tall = self.pass.nodes.list.iter().filter_map(|n| match n.of {
            Operand::Stage(s) => self.setting.stage(s).kernel.window().map(|w| 2 * i64::from(w.radius_y) + 1),
            Operand::Buffer(_) => None,
        });
        tall.max().unwrap_or(1)
    }

    fn sinks(&self) -> String {
        let mut text = String::new();
        let pass = self.pass;
        // The last vector is computed only for the one before it.
        let inner = format!("vector < {}", pass.vectors - 1);
        for &(node, of) in &pass.sinks {
            let name = self.name(node);
            let desc = self.setting.desc(of);
            if let Some(k) = pass.tile {
                let guard = match (pass.nodes.shuffles(), pass.by_warps) {
                    (true, _) => format!("if ({inner}) "),
                    (false, true) => format!("if ((int)threadIdx.x < {}) ", pass.vectors),
                    (false, false) => String::new(),
                };
                let _ = writeln!(
                    text,
                    "{guard}tile_store<Tile{k}::T, Tile{k}::C, {VECTOR}>(tile{k} + (y - y_{k}) * Tile{k}::PITCH + (x - x_{k}) * Tile{k}::PIXEL, {name});"
                );
            }
            let Operand::Stage(stage) = of else { continue };
            let Some(out) = self.setting.stored().position(|s| s == stage) else { continue };
            let own_lane = format!("(int)threadIdx.x < {}", pass.vectors);
            let own = match (pass.tile, pass.nodes.shuffles()) {
                (Some(_), _) => Some(format!(
                    "x >= x0 && x < x0 + {} && y >= y0 && y < y0 + {}{}",
                    self.layout.columns,
                    self.layout.rows,
                    match (pass.nodes.shuffles(), pass.by_warps) {
                        (true, _) => format!(" && {inner}"),
                        (false, true) => format!(" && {own_lane}"),
                        (false, false) => String::new(),
                    }
                )),
                (None, true) => Some(inner.clone()),
                (None, false) if pass.by_warps => Some(own_lane),
                (None, false) => None,
            };
            let guard = own.map_or(String::new(), |own| format!("if ({own}) "));
            let (t, c) = (sample(desc.dtype()), desc.channels());
            let _ = writeln!(
                text,
                "{guard}store_vector<{t}, {c}, {VECTOR}, {}, {}>(p.out[{out}], f, x, y, p.w{stage} - x, {name});",
                planar(&desc),
                self.align_out
            );
        }
        text
    }

    /// `const int x_0 = x0 - 8;`: where a tile begins.
    pub(super) fn origin(layout: &Layout, k: usize) -> String {
        let place = |axis: Axis| {
            let (regions, step, name, block) = match axis {
                Axis::X => (&layout.x, layout.columns, "x", "blockIdx.x"),
                Axis::Y => (&layout.y, layout.rows, "y", "block"),
            };
            match regions.tiles[k].offset(step) {
                Some(0) => format!("{name}_{k} = {name}0"),
                Some(offset) if offset < 0 => format!("{name}_{k} = {name}0 - {}", -offset),
                Some(offset) => format!("{name}_{k} = {name}0 + {offset}"),
                None => format!("{name}_{k} = __ldg(p.tile{k}_{name} + {block})"),
            }
        };
        format!("const int {}, {};\n", place(Axis::X), place(Axis::Y))
    }
}

/// A tile's type: `typedef SharedTile<float, 1, 128, 80> Tile0;`.
pub(super) fn tile_type(desc: &ImageDesc, as_f32: bool, k: usize, columns: i64, rows: i64) -> String {
    let t = if as_f32 { "float" } else { sample(desc.dtype()) };
    format!("typedef SharedTile<{t}, {}, {columns}, {rows}> Tile{k};\n", desc.channels())
}
