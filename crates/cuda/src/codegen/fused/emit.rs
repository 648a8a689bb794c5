use std::fmt::Write as _;

use mip_core::{DType, ImageDesc};
use mip_plan::{AxisMap, AxisTaps, Border, ChannelMap, Gather, Kernel, Known, Operand, Window};

use super::nodes::{Node, What};
use super::passes::Writer;
use super::pulled::{pixel_name, pulled_row};
use super::setting::{Setting, VECTOR, is_sample};
use crate::codegen::map::{list, sources};
use crate::codegen::point::{functor_name, point_vector};
use crate::codegen::text::{planar, sample};

/// A line of generated code that runs once a row, from a step on.
pub(super) struct Item {
    /// Counted from the first row that is written.
    pub since: i64,
    pub text: String,
}

/// Code of one pass's nodes: what stands before the rows, and what each row does.
#[derive(Default)]
pub(super) struct Code {
    pub before: String,
    pub items: Vec<Item>,
}

/// Whether all weighted sums are means: weights are not negative, and add up to no more than 1.
pub(super) fn is_mean(axis: &AxisTaps) -> bool {
    (0..axis.outputs()).all(|i| {
        let weights = axis.weights(i);
        weights.iter().all(|&w| w >= 0.0) && weights.iter().sum::<f32>() < 1.000_001
    })
}

/// The call of a pointwise stage on `n` pixels in registers, the first of them at `place`.
pub(super) fn point_call(
    setting: &Setting<'_>,
    index: usize,
    n: i64,
    name: &str,
    inputs: &[String],
    place: (&str, &str),
) -> String {
    let stage = setting.stage(index);
    let shapes: Vec<ImageDesc> = stage.inputs.iter().map(|&input| setting.desc(input)).collect();
    let (output, from, c) = (stage.output, &inputs[0], shapes[0].channels());
    let t = sample(output.dtype());
    let Kernel::Point(kernel) = &stage.kernel else { unreachable!("a pointwise kernel") };
    match kernel.known(&shapes, &output) {
        Some(Known::Channels(channels)) => match channels[..] {
            [ChannelMap::Luma([r, g, b])] => {
                format!("to_gray<{t}, {c}, {n}, {r}, {g}, {b}>({name}, {from});")
            }
            _ => format!("permute<{t}, {c}, {n}, {}>({name}, {from});", sources(&channels)),
        },
        Some(Known::Affine(pairs)) => {
            format!("affine<{t}, {c}, {n}, {}>({name}, {from}, p.u{index});", list(&pairs))
        }
        Some(Known::Threshold) => {
            let colours = c - usize::from(output.format().has_alpha());
            format!("threshold<{t}, {c}, {n}, {colours}>({name}, {from}, p.u{index});")
        }
        Some(Known::Blend) => format!("blend<{t}, {c}, {n}>({name}, {from}, {}, p.u{index});", inputs[1]),
        None => {
            let channels: Vec<usize> = shapes.iter().map(ImageDesc::channels).collect();
            let (given, functor) = (given(setting, index), functor_name(index));
            let (kind, counts) = ((&*functor, output.dtype(), n), (&*channels, output.channels()));
            point_vector(kind, counts, name, inputs, &given, place)
        }
    }
}

/// Where the uniforms and the tables of a stage are, as its functor takes them.
fn given(setting: &Setting<'_>, index: usize) -> String {
    let stage = setting.stage(index);
    let looks_up = stage.kernel.expression().is_some_and(|expr| !expr.tables().is_empty());
    let place =
        |there: bool, field: &str| if there { format!("p.{field}{index}") } else { "nullptr".to_owned() };
    format!("{}, {}", place(!stage.uniforms.is_empty(), "u"), place(looks_up, "t"))
}

/// A gather's source coordinate along an axis of so many outputs; `table` is `x` or `y`.
pub(super) fn source_of(index: usize, map: AxisMap, outputs: u32, i: &str, table: &str) -> String {
    match map {
        AxisMap::Offset { first: 0 } => i.to_owned(),
        AxisMap::Offset { first } => format!("{i} + {first}"),
        AxisMap::Flip { last } => format!("{last} - ({i})"),
        AxisMap::Extend { before, input, border: Border::Replicate, .. } => {
            format!("min(max({i} - {before}, 0), {})", input - 1)
        }
        AxisMap::Nearest { .. } | AxisMap::Extend { .. } => format!("(int)__ldg(p.s{index}_{table} + {i})"),
        AxisMap::Step { first, step, shift, last } => {
            let shared = if shift == 0 { i.to_owned() } else { format!("({i} >> {shift})") };
            let stepped = if step == 1 { shared } else { format!("{shared} * {step}") };
            let source = if first == 0 { stepped } else { format!("{first} + {stepped}") };
            let free = AxisMap::Step { first, step, shift, last: u32::MAX };
            let inside = free.map(outputs.saturating_sub(1)) <= last;
            if inside { source } else { format!("min({source}, {last})") }
        }
    }
}

/// The address of a coordinate in a tile.
fn place(tile: usize, x: &str, y: &str) -> String {
    format!("tile{tile} + ({y} - y_{tile}) * Tile{tile}::PITCH + ({x} - x_{tile}) * Tile{tile}::PIXEL")
}

impl Writer<'_> {
    /// `s2`: the name of a node's values.
    pub(super) fn name(&self, node: usize) -> String {
        let list = &self.pass.nodes.list;
        let base = match list[node].of {
            Operand::Stage(stage) => format!("s{stage}"),
            Operand::Buffer(id) => format!("in{}", self.input(id)),
        };
        let same = list[..node].iter().filter(|n| n.of == list[node].of).count();
        if same == 0 { base } else { format!("{base}_{same}") }
    }

    /// `u8, 3, 4`: dtype, channels and pixels of a vector of a source.
    fn vector(&self, source: Operand) -> String {
        let desc = self.setting.desc(source);
        format!("{}, {}, {VECTOR}", sample(desc.dtype()), desc.channels())
    }

    fn numbers(&self, source: Operand) -> usize {
        self.setting.desc(source).channels() * VECTOR as usize
    }

    pub(super) fn code(&self) -> Code {
        let mut code = Code::default();
        for n in 0..self.pass.nodes.list.len() {
            self.node(n, &mut code);
        }
        // Producers come first among those that begin at the same step.
        code.items.sort_by_key(|item| item.since);
        code
    }

    fn node(&self, n: usize, code: &mut Code) {
        let node = &self.pass.nodes.list[n];
        let name = self.name(n);
        let declare = format!("float {name}[{}];", self.numbers(node.of));
        let text = match node.what {
            What::Load(id) => format!("{declare} {}", self.load(id, node, &name)),
            What::SharedTile(tile) => format!("{declare} {}", Self::from_tile(tile, node, &name)),
            What::Mirror => {
                let channels = self.setting.desc(node.of).channels();
                format!(
                    "{declare} mirror_vector<{channels}, {VECTOR}>({name}, {});",
                    self.name(node.inputs[0])
                )
            }
            What::Point => format!("{declare} {}", self.point(node, &name)),
            What::Nearest(source) => format!("{declare} {}", self.nearest(source, node, &name)),
            What::Resample(_) if self.pass.by_warps => self.bilinear(n, &name, &declare, code),
            What::Resample(source) => self.resample(source, n, &name, &declare, code),
            What::Window(tile) => return self.window(Some(tile), n, &name, &declare, code),
            What::Shuffled => return self.window(None, n, &name, &declare, code),
            What::Stencil(tile) => format!("{declare} {}", self.stencil(tile, node, &name)),
        };
        code.items.push(Item { since: node.since, text });
    }

    fn load(&self, id: usize, node: &Node, name: &str) -> String {
        let desc = self.setting.layouts[id].desc;
        if self.loads_at_once().is_some() {
            return format!("unpacked({name}, {name}_words[u]);");
        }
        let align = if node.x.is_aligned() { self.align_in } else { 0 };
        let k = self.input(id);
        let (x, y) = (node.x.text("x"), node.y.text("y"));
        let vector = self.vector(node.of);
        format!(
            "load_vector<{vector}, {}, {align}>({name}, p.in[{k}], f, {x}, {y}, p.in{k}_w);",
            planar(&desc)
        )
    }

    fn from_tile(tile: usize, node: &Node, name: &str) -> String {
        let at = place(tile, &node.x.text("x"), &node.y.text("y"));
        let load = if node.x.is_aligned() { "tile_load" } else { "tile_load_anywhere" };
        format!("{load}<Tile{tile}::T, Tile{tile}::C, {VECTOR}>({name}, {at});")
    }

    fn point(&self, node: &Node, name: &str) -> String {
        let Operand::Stage(index) = node.of else { unreachable!("pointwise kernels are stages") };
        let inputs: Vec<String> = node.inputs.iter().map(|&n| self.name(n)).collect();
        let (x, y) = (node.x.text("x"), node.y.text("y"));
        self.luma(index, node, name)
            .unwrap_or_else(|| point_call(self.setting, index, VECTOR, name, &inputs, (&x, &y)))
    }

    /// Luma of what lies in words, or of means, which has shorter ways.
    fn luma(&self, index: usize, node: &Node, name: &str) -> Option<String> {
        let stage = self.setting.stage(index);
        let (Kernel::Point(kernel), &[input]) = (&stage.kernel, &stage.inputs[..]) else { return None };
        let (input, from) = (self.setting.desc(input), self.name(node.inputs[0]));
        let [r, g, b] = kernel.luma(&input, &stage.output)?;
        let source = &self.pass.nodes.list[node.inputs[0]];
        let words = matches!(source.what, What::Load(_)) && self.loads_at_once().is_some();
        if words && stage.output.dtype() == DType::U8 && !planar(&input) {
            let c = input.channels();
            return Some(format!("gray_of_words<{c}, {VECTOR}, {r}, {g}, {b}>({name}, {from}_words[u].w);"));
        }
        let means = self.only_for_luma(node.inputs[0]);
        means.then(|| format!("gray_of_means<{VECTOR}, {r}, {g}, {b}>({name}, {from});"))
    }

    fn stencil(&self, tile: usize, node: &Node, name: &str) -> String {
        let Operand::Stage(index) = node.of else { unreachable!("a stencil is a stage") };
        let stage = self.setting.stage(index);
        let (t, c) = (sample(stage.output.dtype()), stage.output.channels());
        let (x, y) = (node.x.text("x"), node.y.text("y"));
        let at = place(tile, &x, &y);
        let given = given(self.setting, index);
        let functor = functor_name(index);
        format!("stencil<{functor}, {t}, {VECTOR}, {c}, Tile{tile}>({name}, {at}, {given}, {x}, {y});")
    }

    fn nearest(&self, source: Operand, node: &Node, name: &str) -> String {
        let Operand::Stage(index) = node.of else { unreachable!("a gather is a stage") };
        let Kernel::Gather(Gather { x, y }) = self.setting.stage(index).kernel else {
            unreachable!("a gather")
        };
        let column = format!("min(max({} + i, 0), p.w{index} - 1)", node.x.text("x"));
        let output = self.setting.stage(index).output;
        let (column, row) = (
            source_of(index, x, output.width(), &format!("({column})"), "x"),
            source_of(index, y, output.height(), &format!("({})", node.y.text("y")), "y"),
        );
        let desc = self.setting.desc(source);
        let c = desc.channels();
        let pixel = match (self.roles.tile_of(source), source) {
            (Some(k), _) => {
                format!(
                    "tile_load_anywhere<Tile{k}::T, {c}, 1>({name} + i * {c}, {})",
                    place(k, "column", "row")
                )
            }
            (None, Operand::Buffer(id)) => {
                let (t, k, planar) = (sample(desc.dtype()), self.input(id), planar(&desc));
                format!("load_pixel<{t}, {c}, {planar}>({name} + i * {c}, p.in[{k}], f, column, row)")
            }
            (None, Operand::Stage(s)) => format!("{}({name} + i * {c}, p, f, column, row)", pixel_name(s)),
        };
        format!(
            "{{ const int row = {row};\n#pragma unroll\nfor (int i = 0; i < {VECTOR}; i++) {{ const int column = {column}; {pixel}; }} }}"
        )
    }

    fn resample(&self, source: Operand, n: usize, name: &str, declare: &str, code: &mut Code) -> String {
        let node = &self.pass.nodes.list[n];
        let Operand::Stage(index) = node.of else { unreachable!("a resampling is a stage") };
        let Kernel::Resample(kernel) = &self.setting.stage(index).kernel else {
            unreachable!("a resampling")
        };
        let desc = self.setting.desc(source);
        let (c, alpha) = (desc.channels(), desc.format().has_alpha());
        let (tx, ty) = (kernel.x.taps(), kernel.y.taps());
        // How a source row is found, and the type of its samples there.
        let (row_of, held) = match (self.roles.tile_of(source), source) {
            (Some(k), _) => (
                format!(
                    "return NearRow<Tile{k}::T, {c}, {tx}>{{tile{k} + (j - y_{k}) * Tile{k}::PITCH, -x_{k} * Tile{k}::PIXEL}};"
                ),
                format!("Tile{k}::T"),
            ),
            (None, Operand::Buffer(id)) => {
                let pitch = self.pass.raws.iter().find(|r| r.node == n).map_or(0, |r| r.pitch);
                let (k, t, pixel) = (self.input(id), sample(desc.dtype()), c * desc.dtype().size());
                (
                    format!(
                        "return NearRow<{t}, {c}, {tx}>{{{name}_raw + (j - {name}_y) * {pitch}, (int)raw_skew({name}_start, p.in[{k}].row, j) - {name}_x * {pixel}}};"
                    ),
                    t.to_owned(),
                )
            }
            (None, Operand::Stage(s)) => (pulled_row(s, c, tx), sample(desc.dtype()).to_owned()),
        };
        let _ = writeln!(
            code.before,
            "Columns<{VECTOR}, {tx}> {name}_columns; {name}_columns.set(p.s{index}_x_starts, p.s{index}_x_weights, {}, p.w{index});\nResampled<{held}, {c}, {VECTOR}, {tx}, {ty}, {alpha}> {name}_sums;",
            node.x.text("x")
        );
        let (t, numbers) = (sample(desc.dtype()), self.numbers(node.of));
        // Means of samples round to samples: nothing has to be saturated.
        let unsigned = desc.dtype().integers().is_some_and(|(min, _)| min == 0.0);
        let mean = unsigned && !alpha && is_mean(&kernel.x) && is_mean(&kernel.y);
        let round =
            if mean { format!("round_inside<{numbers}>") } else { format!("round_vector<{t}, {numbers}>") };
        format!(
            "{declare}\n{{ const int row = {};\n{name}_sums.at({name}, (int)__ldg(p.s{index}_y_starts + row), {name}_columns, p.s{index}_y_weights + (i64)row * {ty}, [&](int j) {{ {row_of} }}); }}\n{round}({name}, {name});",
            node.y.text("y")
        )
    }

    /// Whether nothing but memory takes a node's value.
    fn is_only_stored(&self, n: usize) -> bool {
        self.pass.tile.is_none() && !self.pass.nodes.list.iter().any(|node| node.inputs.contains(&n))
    }

    fn window(&self, tile: Option<usize>, n: usize, name: &str, declare: &str, code: &mut Code) {
        let node = &self.pass.nodes.list[n];
        let Operand::Stage(index) = node.of else { unreachable!("a window is a stage") };
        let stage = self.setting.stage(index);
        let Window { radius_x: rx, radius_y: ry, border } = stage.kernel.window().expect("a window");
        let (t, c) = (sample(stage.output.dtype()), stage.output.channels());
        let alpha = stage.output.format().has_alpha();
        let numbers = self.numbers(node.of);
        let (state, arguments, result) = if matches!(stage.kernel, Kernel::Separable(_)) {
            let result = if t == "u8" && !alpha {
                let _ = writeln!(
                    code.before,
                    "float {name}_wy[{}];\n#pragma unroll\nfor (int i = 0; i <= {ry}; i++) {name}_wy[i] = p.u{index}[{} + i] / 256;",
                    ry + 1,
                    rx + 1
                );
                format!("{name}_rows.bytes({name}, {name}_wy);")
            } else {
                format!(
                    "{name}_rows.result({name}, p.u{index} + {}); round_vector<{t}, {numbers}>({name}, {name});",
                    rx + 1
                )
            };
            (format!("Filter<{c}, {VECTOR}, {rx}, {ry}, {alpha}>"), format!(", p.u{index}"), result)
        } else {
            let bytes = t == "u8" && is_sample(border, stage.output.dtype());
            (
                format!("Gradient<{t}, {VECTOR}, {bytes}>"),
                String::new(),
                // What is only stored is rounded when it is stored.
                format!("{name}_rows.result<{}>({name});", !self.is_only_stored(n)),
            )
        };
        let _ = writeln!(code.before, "{state} {name}_rows;");
        let push = if let Some(k) = tile {
            let below = node.y.plus(i64::from(ry));
            // The vector it is read from begins on a whole one.
            let shift = if node.x.flipped { 0 } else { -((-node.x.offset).rem_euclid(VECTOR)) };
            let at = place(k, &node.x.plus(-shift).text("x"), &below.text("y"));
            format!(
                "{{ Window<Reach<Tile{k}, {rx}>, {VECTOR}, {alpha}, {shift}> row; row.load({at}); {name}_rows.push(row.v{arguments}); }}"
            )
        } else {
            let from = self.name(node.inputs[0]);
            format!(
                "{{ float row[{VECTOR} + 2 * {rx}]; with_next<{VECTOR}, {rx}>(row, {from}); {name}_rows.push(row{arguments}); }}"
            )
        };
        code.items.push(Item { since: node.since - 2 * i64::from(ry), text: push });
        code.items.push(Item { since: node.since, text: format!("{declare} {result}") });
    }
}
