use mip_plan::{AxisMap, Gather, Kernel, Operand, Window};

use super::roles::Roles;
use super::setting::{Setting, VECTOR, copies_raw};

/// A coordinate made from that of the vector (its first column, or its row) that a pass makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Coordinate {
    pub offset: i64,
    /// `offset - base` instead of `base + offset`.
    pub flipped: bool,
}

impl Coordinate {
    pub(super) const SAME: Self = Self { offset: 0, flipped: false };

    pub(super) const fn plus(self, n: i64) -> Self {
        Self { offset: self.offset + n, ..self }
    }

    /// Where a vector of `len` coordinates begins once mapped; a mirrored one is read backwards.
    fn mapped(self, map: AxisMap, len: i64) -> Option<Self> {
        match map {
            AxisMap::Offset { first } => Some(self.plus(first as i64)),
            AxisMap::Flip { last } => {
                let last = i64::from(last) - (len - 1);
                Some(Self { offset: last - self.offset, flipped: !self.flipped })
            }
            AxisMap::Nearest { .. } | AxisMap::Step { .. } | AxisMap::Extend { .. } => None,
        }
    }

    /// Whether vectors that begin here begin on whole vectors.
    pub(super) const fn is_aligned(self) -> bool {
        !self.flipped && self.offset % VECTOR == 0
    }

    /// In generated code.
    pub(super) fn text(self, base: &str) -> String {
        match (self.flipped, self.offset) {
            (true, offset) => format!("{offset} - {base}"),
            (false, 0) => base.to_owned(),
            (false, offset) if offset < 0 => format!("{base} - {}", -offset),
            (false, offset) => format!("{base} + {offset}"),
        }
    }
}

/// How a vector of values comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Loaded from a buffer.
    Load(usize),
    /// Loaded from a tile.
    SharedTile(usize),
    /// A pointwise kernel on other nodes.
    Point,
    /// Another node's pixels from right to left.
    Mirror,
    /// Single pixels through tables, from a buffer or a tile.
    Nearest(Operand),
    /// Weighted sums over pixels of a buffer (copied as they are) or of a tile.
    Resample(Operand),
    /// A window over a tile.
    Window(usize),
    /// A window over another node, whose columns come by warp shuffles.
    Shuffled,
    /// An expression of neighbours in a tile.
    Stencil(usize),
}

/// One vector of values in a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// Whose value or, for loads, the source.
    pub of: Operand,
    pub what: What,
    pub inputs: Vec<usize>,
    pub x: Coordinate,
    pub y: Coordinate,
    /// The first step at which it is needed, counted from the first row that is written.
    pub since: i64,
}

/// All values of a pass, producers first.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub list: Vec<Node>,
}

impl Nodes {
    /// Nodes that compute `targets` at the vector's own place, and those of each target.
    pub(super) fn of(setting: &Setting<'_>, roles: &Roles, targets: &[Operand]) -> (Self, Vec<usize>) {
        let mut nodes = Self::default();
        let same = Coordinate::SAME;
        let sinks: Vec<usize> =
            targets.iter().map(|&target| nodes.value(setting, roles, target, same, same, true)).collect();
        for &sink in &sinks {
            nodes.list[sink].since = 0;
        }
        for n in (0..nodes.list.len()).rev() {
            let since = nodes.list[n].since
                - if nodes.list[n].what == What::Shuffled { nodes.rows(setting, n) } else { 0 };
            for input in nodes.list[n].inputs.clone() {
                nodes.list[input].since = nodes.list[input].since.min(since);
            }
        }
        (nodes, sinks)
    }

    /// Rows that a window must have seen before its first result.
    pub(super) fn rows(&self, setting: &Setting<'_>, node: usize) -> i64 {
        let Operand::Stage(stage) = self.list[node].of else { return 0 };
        setting.stage(stage).kernel.window().map_or(0, |w| 2 * i64::from(w.radius_y))
    }

    fn add(&mut self, of: Operand, what: What, inputs: Vec<usize>, x: Coordinate, y: Coordinate) -> usize {
        let node = Node { of, what, inputs, x, y, since: i64::MAX };
        self.list.iter().position(|n| *n == node).unwrap_or_else(|| {
            self.list.push(node);
            self.list.len() - 1
        })
    }

    fn value(
        &mut self,
        setting: &Setting<'_>,
        roles: &Roles,
        source: Operand,
        x: Coordinate,
        y: Coordinate,
        target: bool,
    ) -> usize {
        if !target && let Some(tile) = roles.tile_of(source) {
            return self.add(source, What::SharedTile(tile), Vec::new(), x, y);
        }
        let Operand::Stage(index) = source else {
            let Operand::Buffer(id) = source else { unreachable!("two kinds of sources") };
            return self.add(source, What::Load(id), Vec::new(), x, y);
        };
        let stage = setting.stage(index);
        let input = stage.inputs[0];
        match &stage.kernel {
            Kernel::Gather(Gather { x: mx, y: my }) => match (x.mapped(*mx, VECTOR), y.mapped(*my, 1)) {
                (Some(sx), Some(sy)) => {
                    let from = self.value(setting, roles, input, sx, sy, false);
                    let mirrored = matches!(mx, AxisMap::Flip { .. });
                    if mirrored { self.add(source, What::Mirror, vec![from], x, y) } else { from }
                }
                _ => self.add(source, What::Nearest(input), Vec::new(), x, y),
            },
            Kernel::Resample(_) => self.add(source, What::Resample(input), Vec::new(), x, y),
            Kernel::Stencil(_) if setting.stencil(index).is_some() => {
                let tile = roles.tile_of(input).expect("what stencils read lies in a tile");
                self.add(source, What::Stencil(tile), Vec::new(), x, y)
            }
            Kernel::Separable(_) | Kernel::Stencil(_) => {
                let Window { radius_x: rx, radius_y: ry, .. } = stage.kernel.window().expect("a window");
                match input {
                    Operand::Stage(earlier) if roles.shuffled[earlier] => {
                        // The vector that begins `rx` columns further left; the next lane has what follows
                        // it.
                        let (left, below) = (x.plus(-i64::from(rx)), y.plus(i64::from(ry)));
                        let from = self.value(setting, roles, input, left, below, false);
                        self.add(source, What::Shuffled, vec![from], x, y)
                    }
                    _ => {
                        let tile = roles.tile_of(input).expect("what windows read lies in a tile");
                        self.add(source, What::Window(tile), Vec::new(), x, y)
                    }
                }
            }
            // Neither a warp nor a custom kernel is part of a fused kernel.
            Kernel::Point(_) | Kernel::Warp(_) | Kernel::Whole(_) | Kernel::Custom(_) => {
                let inputs =
                    stage.inputs.iter().map(|&i| self.value(setting, roles, i, x, y, false)).collect();
                self.add(source, What::Point, inputs, x, y)
            }
        }
    }

    /// Whether lanes hand columns to each other by warp shuffles.
    pub(super) fn shuffles(&self) -> bool {
        self.list.iter().any(|n| n.what == What::Shuffled)
    }

    /// Buffers that resamplings of this pass read as they are in memory.
    pub(super) fn raws<'a>(&'a self, setting: &'a Setting<'_>) -> impl Iterator<Item = (usize, usize)> + 'a {
        self.list.iter().enumerate().filter_map(|(n, node)| match node.what {
            What::Resample(Operand::Buffer(id)) if copies_raw(&setting.desc(Operand::Buffer(id))) => {
                Some((n, id))
            }
            _ => None,
        })
    }
}
