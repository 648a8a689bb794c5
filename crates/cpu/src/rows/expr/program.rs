//! Programs of blocks: the operations of an expression with their operands in registers, each a block of numbers in the
//! first-level cache. A row that is read at several places is loaded once, with the columns beside the block, and an operand is a
//! shifted place in it.

use mip_core::{ImageDesc, Layout};
use mip_plan::{Axis, Binary, Channel, Compare, Expr, Function, LookupTable, Offset, Op, Unary};

/// An operation of a program in the making; operands are earlier nodes.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// A sample of an input.
    Tap {
        slot: u8,
        channel: Channel,
        at: Offset,
    },
    /// The same number everywhere.
    Number(Number),
    /// The pixel's column or row.
    Position(Axis),
    /// One number in columns 0, 2, ..., another in the others.
    Columns([f32; 2]),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
    Fma([usize; 3]),
    Luma([usize; 3]),
    Lookup(LookupTable, usize),
    Select {
        compare: Compare,
        of: [usize; 4],
    },
    /// Products added to a start one after the other, as `fma` does.
    Sum {
        start: Start,
        terms: Vec<(usize, Number)>,
    },
    /// Products of two added to a node one after the other, as `fma` does: first that node, then the factors.
    Products(Vec<usize>),
    /// The least or the greatest of more than two, from the first to the last.
    Extreme {
        op: Binary,
        of: Vec<usize>,
    },
    /// `power` is the exponent where there is one operand to a power.
    Function {
        function: Function,
        power: f32,
        of: Vec<usize>,
    },
    /// The number that a table has for a small whole one, or for the difference of two.
    Tabulated {
        table: usize,
        of: Vec<usize>,
    },
}

/// A number that is there before a row is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Uniform(u16),
    Const(f32),
}

impl Number {
    pub(super) fn get(self, uniforms: &[f32]) -> f32 {
        match self {
            Self::Uniform(index) => uniforms[usize::from(index)],
            Self::Const(value) => value,
        }
    }
}

/// What a sum starts from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Start {
    Number(Number),
    Node(usize),
}

/// Operands of an operation at most.
pub(super) const MAX_OPERANDS: usize = 32;

impl Node {
    pub(super) fn operands(&self) -> Vec<usize> {
        match self {
            Self::Tap { .. } | Self::Number(_) | Self::Position(_) | Self::Columns(_) => vec![],
            Self::Unary(_, a) | Self::Lookup(_, a) => vec![*a],
            Self::Binary(_, a, b) => vec![*a, *b],
            Self::Fma(of) | Self::Luma(of) => of.to_vec(),
            Self::Select { of, .. } => of.to_vec(),
            Self::Sum { start, terms } => {
                let first = if let Start::Node(first) = start { Some(*first) } else { None };
                first.into_iter().chain(terms.iter().map(|(of, _)| *of)).collect()
            }
            Self::Products(of)
            | Self::Extreme { of, .. }
            | Self::Function { of, .. }
            | Self::Tabulated { of, .. } => of.clone(),
        }
    }

    /// An operation of an expression, as it stands there.
    pub(super) fn of(expr: &Expr, op: Op) -> Self {
        let at = usize::from;
        match op {
            Op::Input { slot, channel, at } => Self::Tap { slot, channel, at },
            Op::Position(axis) => Self::Position(axis),
            Op::Uniform(index) => Self::Number(Number::Uniform(index)),
            Op::Const(bits) => Self::Number(Number::Const(bits.get())),
            Op::Unary(op, a) => Self::Unary(op, at(a)),
            Op::Binary(op, a, b) => Self::Binary(op, at(a), at(b)),
            Op::Fma(a, b, c) => Self::Fma([at(a), at(b), at(c)]),
            Op::Luma(r, g, b) => Self::Luma([at(r), at(g), at(b)]),
            Op::Lookup(table, a) => Self::Lookup(expr.tables()[at(table)].clone(), at(a)),
            Op::Select { compare, a, b, then, other } => {
                Self::Select { compare, of: [at(a), at(b), at(then), at(other)] }
            }
        }
    }
}

/// How often each node is read; a result counts as two, so that it is never part of another operation.
pub(super) fn uses(nodes: &[Node], results: &[usize]) -> Vec<usize> {
    let mut uses = vec![0; nodes.len()];
    nodes.iter().flat_map(Node::operands).for_each(|operand| uses[operand] += 1);
    for &result in results {
        uses[result] += 2;
    }
    uses
}

/// The operations of an expression, minima of minima (and maxima of maxima) as one.
pub(super) fn nodes(expr: &Expr, results: &[usize]) -> Vec<Node> {
    let mut nodes: Vec<Node> = expr.ops().iter().map(|&op| Node::of(expr, op)).collect();
    let uses = uses(&nodes, results);
    for index in 0..nodes.len() {
        let Node::Binary(op @ (Binary::Min | Binary::Max), a, b) = nodes[index] else { continue };
        // What is compared first stays first, which NaN would tell.
        let mut of = match &nodes[a] {
            Node::Extreme { op: inner, of } if *inner == op && uses[a] == 1 => of.clone(),
            &Node::Binary(inner, first, second) if inner == op && uses[a] == 1 => vec![first, second],
            _ => continue,
        };
        of.push(b);
        if of.len() <= MAX_OPERANDS {
            nodes[index] = Node::Extreme { op, of };
        }
    }
    nodes
}

/// What is done in one go.
#[derive(Debug)]
pub(super) enum Work {
    Load(Load),
    Do(Do),
}

/// Loads a row around a block.
#[derive(Debug, Clone)]
pub(super) struct Load {
    pub(super) slot: usize,
    /// The row's distance.
    pub(super) dy: i8,
    /// Of a flat row the register, else that of each channel that is wanted.
    pub(super) to: [Option<usize>; 4],
}

#[derive(Debug)]
pub(super) struct Do {
    pub(super) op: Operation,
    pub(super) from: Vec<Operand>,
    pub(super) to: usize,
}

/// Where an operand lies: a register, so many places further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) register: usize,
    pub(super) shift: isize,
}

/// An operation, without its operands.
#[derive(Debug)]
pub(super) enum Operation {
    Number(Number),
    Position(Axis),
    Columns([f32; 2]),
    Unary(Unary),
    Binary(Binary),
    Fma,
    Luma,
    Lookup(LookupTable),
    Select(Compare),
    /// From a number, or from the first operand.
    Sum {
        start: Option<Number>,
        weights: Vec<Number>,
    },
    Products,
    Extreme(Binary),
    Function(Function, f32),
    /// Which table.
    Tabulated(usize),
}

#[derive(Debug)]
pub(super) struct Program {
    /// What is the same for every block of a row.
    pub(super) once: Vec<Work>,
    pub(super) work: Vec<Work>,
    pub(super) results: Vec<Operand>,
    pub(super) registers: usize,
    /// Places beside a block that its operations read.
    pub(super) reach: usize,
    /// Places of a row are samples, not pixels.
    pub(super) flat: bool,
}

/// Numbers that keep their registers from block to block; more of them would push everything else out of the cache.
const MAX_KEPT: usize = 12;

/// A row that taps read: an input, a distance, and a channel of pixels that are not flat.
type Window = (u8, i8, u8);

/// Gives registers to nodes and to the rows that they read.
struct Allocation<'a> {
    nodes: &'a [Node],
    inputs: &'a [ImageDesc],
    flat: bool,
    keeps: bool,
    /// The last node that reads each node.
    last: Vec<usize>,
    place: Vec<Option<Operand>>,
    /// Rows that have been loaded, their registers, and the last nodes that read them.
    windows: Vec<(Window, usize, usize)>,
    free: Vec<usize>,
    registers: usize,
}

impl Program {
    /// `flat`: see [`Program::flat`].
    pub(super) fn new(nodes: &[Node], results: &[usize], inputs: &[ImageDesc], flat: bool) -> Self {
        let mut needed = vec![false; nodes.len()];
        for &result in results {
            needed[result] = true;
        }
        for index in (0..nodes.len()).rev() {
            if needed[index] {
                nodes[index].operands().into_iter().for_each(|operand| needed[operand] = true);
            }
        }
        let mut last = vec![0; nodes.len()];
        for (index, node) in nodes.iter().enumerate().filter(|(index, _)| needed[*index]) {
            node.operands().into_iter().for_each(|operand| last[operand] = index);
        }
        for &result in results {
            last[result] = nodes.len();
        }
        let numbers = nodes.iter().zip(&needed).filter(|(node, needed)| **needed && is_number(node)).count();
        let mut all = Allocation {
            nodes,
            inputs,
            flat,
            keeps: numbers <= MAX_KEPT,
            last,
            place: vec![None; nodes.len()],
            windows: Vec::new(),
            free: Vec::new(),
            registers: 0,
        };
        let (mut once, mut work) = (Vec::new(), Vec::new());
        // What is kept comes first, so that nothing else is in its registers.
        for kept in [true, false] {
            for index in (0..nodes.len()).filter(|&index| needed[index]) {
                if (all.keeps && is_number(&nodes[index])) == kept {
                    all.visit(index, if kept { &mut once } else { &mut work });
                }
            }
        }
        let results = results.iter().map(|&result| all.operand(result, nodes.len(), &mut work)).collect();
        let reach = nodes.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(node, _)| match node {
            Node::Tap { slot, at, .. } => all.shift(*slot, *at).unsigned_abs(),
            _ => 0,
        });
        Self { reach: reach.max().unwrap_or(0), once, work, results, registers: all.registers, flat }
    }
}

/// Whether a node's result is the same for all blocks of a row.
const fn is_number(node: &Node) -> bool {
    matches!(node, Node::Number(_) | Node::Columns(_))
}

impl Allocation<'_> {
    fn shift(&self, slot: u8, at: Offset) -> isize {
        let desc = &self.inputs[usize::from(slot)];
        let pixel = if self.flat { desc.row_samples() / desc.width() as usize } else { 1 };
        isize::from(at.dx) * pixel as isize
    }

    fn window(&self, index: usize) -> Option<Window> {
        let Node::Tap { slot, channel, at } = self.nodes[index] else { return None };
        // The samples of a flat row are alike.
        let channel = if let Channel::Index(channel) = channel { channel } else { 0 };
        Some((slot, at.dy, channel))
    }

    fn register(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.registers += 1;
            self.registers - 1
        })
    }

    /// The last node that reads a window.
    fn last_of(&self, window: Window) -> usize {
        let of = |index: &usize| self.window(*index) == Some(window);
        (0..self.nodes.len()).filter(of).map(|index| self.last[index]).max().unwrap_or_default()
    }

    /// Where a node's result lies when `at` reads it; a row is loaded when it is first read.
    fn operand(&mut self, index: usize, at: usize, work: &mut Vec<Work>) -> Operand {
        if let Some(place) = self.place[index] {
            return place;
        }
        let window = self.window(index).expect("operands come first");
        let Node::Tap { slot, at: offset, .. } = self.nodes[index] else { unreachable!("just asked") };
        if !self.windows.iter().any(|(known, ..)| *known == window) {
            self.load(window, at, work);
        }
        let found = self.windows.iter().find(|(known, ..)| *known == window);
        let register = found.map(|(_, register, _)| *register).expect("just loaded");
        let place = Operand { register, shift: self.shift(slot, offset) };
        self.place[index] = Some(place);
        place
    }

    /// Loads a row, and of interleaved pixels all channels of it that will be read.
    fn load(&mut self, (slot, dy, channel): Window, now: usize, work: &mut Vec<Work>) {
        let desc = &self.inputs[usize::from(slot)];
        let together = !self.flat && desc.layout() == Layout::Hwc && desc.channels() > 1;
        let mut to = [None; 4];
        for other in 0..4 {
            let window = (slot, dy, other);
            let wanted = other == channel || (together && self.last_of(window) >= now);
            let known = self.windows.iter().any(|(known, ..)| *known == window);
            if wanted && !known && (0..self.nodes.len()).any(|index| self.window(index) == Some(window)) {
                let register = self.register();
                to[usize::from(other)] = Some(register);
                self.windows.push((window, register, self.last_of(window)));
            }
        }
        work.push(Work::Load(Load { slot: slot.into(), dy, to }));
    }

    fn visit(&mut self, index: usize, work: &mut Vec<Work>) {
        let node = &self.nodes[index];
        let (op, of) = match node {
            Node::Tap { .. } => return,
            Node::Number(number) => (Operation::Number(*number), vec![]),
            Node::Position(axis) => (Operation::Position(*axis), vec![]),
            Node::Columns(numbers) => (Operation::Columns(*numbers), vec![]),
            Node::Unary(op, _) => (Operation::Unary(*op), node.operands()),
            Node::Binary(op, ..) => (Operation::Binary(*op), node.operands()),
            Node::Fma(_) => (Operation::Fma, node.operands()),
            Node::Luma(_) => (Operation::Luma, node.operands()),
            Node::Lookup(table, _) => (Operation::Lookup(table.clone()), node.operands()),
            Node::Select { compare, .. } => (Operation::Select(*compare), node.operands()),
            Node::Extreme { op, .. } => (Operation::Extreme(*op), node.operands()),
            Node::Function { function, power, .. } => {
                (Operation::Function(*function, *power), node.operands())
            }
            Node::Products(_) => (Operation::Products, node.operands()),
            Node::Tabulated { table, .. } => (Operation::Tabulated(*table), node.operands()),
            Node::Sum { start, terms } => {
                let start = if let Start::Number(number) = start { Some(*number) } else { None };
                let weights = terms.iter().map(|(_, weight)| *weight).collect();
                (Operation::Sum { start, weights }, node.operands())
            }
        };
        let from: Vec<Operand> = of.iter().map(|&operand| self.operand(operand, index, work)).collect();
        // Never one of its operands' registers.
        let to = self.register();
        self.place[index] = Some(Operand { register: to, shift: 0 });
        work.push(Work::Do(Do { op, from, to }));
        let mut ends: Vec<usize> = Vec::new();
        for &operand in &of {
            let kept = self.keeps && is_number(&self.nodes[operand]);
            let tap = self.window(operand).is_some();
            if self.last[operand] == index && !kept && !tap {
                ends.extend(self.place[operand].map(|place| place.register));
            }
        }
        let over = |(_, _, last): &(Window, usize, usize)| *last <= index;
        ends.extend(self.windows.iter().filter(|window| over(window)).map(|(_, register, _)| *register));
        self.windows.retain(|window| !over(window));
        ends.sort_unstable();
        ends.dedup();
        self.free.extend(ends);
    }
}
