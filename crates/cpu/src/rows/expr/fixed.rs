//! Which expressions of bytes can be computed in 16 bits. A value is a whole number of units of `2^-exponent`, between bounds; sums
//! and multiples of samples are kept as such until something else reads them. Binary32 holds every value exactly, and 16 bits hold
//! every one that is computed, so that both give the same bytes.

use mip_plan::{Axis, Binary, Compare, Expr, Op, Unary};

use super::program::{MAX_OPERANDS, Node, Number, Start};

/// Units of `2^-15` at most.
const MAX_EXPONENT: u32 = 15;

/// What a value is.
#[derive(Debug, Clone)]
struct Value {
    /// A constant and nodes with their factors, in units.
    constant: i64,
    terms: Vec<(usize, i64)>,
    exponent: u32,
    /// In units.
    low: i64,
    high: i64,
}

/// What is known of a value.
#[derive(Debug, Clone)]
enum Known {
    Value(Value),
    /// It follows from the column or the row alone, and repeats in no two of them.
    Place,
}

/// A program in 16 bits.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(super) struct Root {
    pub(super) node: usize,
    /// The result is the node's number times `2^-exponent`.
    pub(super) exponent: u32,
}

/// What an expression is computed of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) uniforms: &'a [f32],
    /// The constant outside.
    pub(super) outside: Option<f32>,
    pub(super) size: [u32; 2],
    /// Whether the row's number is odd.
    pub(super) odd_row: bool,
    /// Where only every second column counts, whether these are the odd ones.
    pub(super) odd_column: Option<bool>,
}

/// The nodes of a program, and its results among them; `None` where it may not be exact.
#[inline(never)]
pub(super) fn nodes(expr: &Expr, results: &[usize], setting: Setting<'_>) -> Option<(Vec<Node>, Vec<Root>)> {
    let ops = expr.ops();
    let outside = setting.outside.map_or(Some(0), |value| {
        let whole = Value::number(value)?;
        (whole.exponent == 0).then_some(whole.constant)
    })?;
    let mut uses = vec![0_usize; ops.len()];
    ops.iter().flat_map(|op| op.operands()).flatten().for_each(|operand| uses[usize::from(operand)] += 1);
    let mut all =
        Fixed { nodes: Vec::new(), known: Vec::with_capacity(ops.len()), made: vec![None; ops.len()] };
    let places = places(expr, setting);
    for (index, op) in ops.iter().enumerate() {
        let known = match (&places[index], op) {
            (Some(Repeats::Always(value)), _) => Known::Value(Value::number(*value)?),
            (Some(Repeats::Columns(numbers)), _) => Known::Value(all.columns(*numbers)?),
            (Some(Repeats::Never), _) => Known::Place,
            (None, op) => Known::Value(all.value(*op, outside)?),
        };
        all.known.push(known);
        if let Known::Value(value) = &all.known[index]
            && !value.is_exact()
        {
            return None;
        }
        // A long sum that is read twice is computed once.
        if let Known::Value(value) = &all.known[index]
            && value.terms.len() > 3
            && uses[index] > 1
            && value.fits()
        {
            let node = all.made(index)?;
            let Known::Value(value) = &mut all.known[index] else { return None };
            (value.constant, value.terms) = (0, vec![(node, 1)]);
        }
    }
    let root = |&result: &usize| {
        let Known::Value(Value { exponent, low, high, .. }) = all.known[result] else { return None };
        // Rounding adds a half.
        let half = (1_i64 << exponent) >> 1;
        (low - half > i64::from(i16::MIN) && high + half < i64::from(i16::MAX)).then_some(())?;
        Some(Root { node: all.made(result)?, exponent })
    };
    let roots = results.iter().map(root).collect::<Option<Vec<_>>>()?;
    Some((all.nodes, roots))
}

/// How a number that follows from the place alone goes on.
#[derive(Debug, Clone, Copy)]
enum Repeats {
    Always(f32),
    /// Even columns, odd columns.
    Columns([f32; 2]),
    Never,
}

/// For each operation what follows from the pixel's place and numbers alone.
fn places(expr: &Expr, setting: Setting<'_>) -> Vec<Option<Repeats>> {
    /// Of what a value is made.
    #[derive(Clone, Copy, PartialEq)]
    enum Of {
        Numbers,
        Column,
        Row,
        Samples,
    }
    let ops = expr.ops();
    let mut of: Vec<Of> = Vec::with_capacity(ops.len());
    for op in ops {
        let own = match op {
            Op::Input { .. } => Of::Samples,
            Op::Position(Axis::X) => Of::Column,
            Op::Position(Axis::Y) => Of::Row,
            Op::Uniform(_) | Op::Const(_) => Of::Numbers,
            Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::Luma(..)
            | Op::Lookup(..)
            | Op::Select { .. } => {
                let operands = op.operands().into_iter().flatten().map(|operand| of[usize::from(operand)]);
                operands.fold(Of::Numbers, |all, operand| match (all, operand) {
                    (Of::Numbers, other) | (other, Of::Numbers) => other,
                    (all, operand) if all == operand => all,
                    _ => Of::Samples,
                })
            }
        };
        of.push(own);
    }
    let evaluate = |place: (u32, u32)| {
        let mut values = Vec::with_capacity(ops.len());
        expr.evaluate(place, |_, _, _| 0.0, setting.uniforms, &mut values);
        values
    };
    let first = [evaluate((0, 0)), evaluate((1, 1))];
    let mut repeats: Vec<bool> = vec![true; ops.len()];
    if of.iter().any(|of| matches!(of, Of::Column | Of::Row)) {
        for place in 2..setting.size[0].max(setting.size[1]) {
            let values = evaluate((place.min(setting.size[0] - 1), place.min(setting.size[1] - 1)));
            for index in 0..ops.len() {
                let size = if of[index] == Of::Column { setting.size[0] } else { setting.size[1] };
                let same = values[index] == first[(place % 2) as usize][index];
                repeats[index] &= place >= size || same;
            }
        }
    }
    let known = |index: usize| {
        let [even, odd] = [first[0][index], first[1][index]];
        match of[index] {
            Of::Samples => None,
            Of::Numbers => Some(Repeats::Always(even)),
            Of::Column | Of::Row if !repeats[index] => Some(Repeats::Never),
            Of::Column if even == odd => Some(Repeats::Always(even)),
            Of::Column if let Some(is_odd) = setting.odd_column => {
                Some(Repeats::Always(if is_odd { odd } else { even }))
            }
            Of::Column => Some(Repeats::Columns([even, odd])),
            Of::Row => Some(Repeats::Always(if setting.odd_row { odd } else { even })),
        }
    };
    (0..ops.len()).map(known).collect()
}

impl Value {
    /// A number that is a whole number of units.
    fn number(value: f32) -> Option<Self> {
        let mut exponent = 0;
        // Exact: a factor of two.
        let scaled = |exponent: u32| f64::from(value) * f64::from(1_u32 << exponent);
        while exponent < MAX_EXPONENT && scaled(exponent).fract() != 0.0 {
            exponent += 1;
        }
        let units = scaled(exponent);
        if units.fract() != 0.0 || units.abs() > EXACT as f64 {
            return None;
        }
        let units = units as i64;
        Some(Self { constant: units, terms: vec![], exponent, low: units, high: units })
    }

    fn node(node: usize, exponent: u32, [low, high]: [i64; 2]) -> Self {
        Self { constant: 0, terms: vec![(node, 1)], exponent, low, high }
    }

    /// Whether binary32 holds every such value.
    const fn is_exact(&self) -> bool {
        self.low >= -EXACT && self.high <= EXACT && self.exponent <= MAX_EXPONENT
    }

    /// Whether 16 bits hold every such value.
    const fn fits(&self) -> bool {
        self.low > i16::MIN as i64 && self.high <= i16::MAX as i64
    }

    /// In smaller units.
    fn shifted_to(&self, exponent: u32) -> Self {
        let bits = exponent - self.exponent;
        self.times(1 << bits, bits)
    }

    /// The product with a number of units of `2^-exponent`.
    fn times(&self, factor: i64, exponent: u32) -> Self {
        let ends = [self.low * factor, self.high * factor];
        Self {
            constant: self.constant * factor,
            terms: self.terms.iter().map(|&(node, f)| (node, f * factor)).filter(|(_, f)| *f != 0).collect(),
            exponent: self.exponent + exponent,
            low: ends[0].min(ends[1]),
            high: ends[0].max(ends[1]),
        }
    }

    /// In the largest units that do.
    fn reduced(mut self) -> Self {
        while self.exponent > 0
            && self.constant % 2 == 0
            && self.terms.iter().all(|(_, factor)| factor % 2 == 0)
        {
            self.constant /= 2;
            self.terms.iter_mut().for_each(|(_, factor)| *factor /= 2);
            self.exponent -= 1;
            // Bounds may be wider than they could be.
            (self.low, self.high) = (self.low.div_euclid(2), (self.high + 1).div_euclid(2));
        }
        self
    }

    fn plus(&self, other: &Self) -> Self {
        let [mut sum, other] = aligned(self, other);
        for (node, factor) in other.terms {
            match sum.terms.iter_mut().find(|(known, _)| *known == node) {
                Some((_, known)) => *known += factor,
                None => sum.terms.push((node, factor)),
            }
        }
        sum.terms.retain(|(_, factor)| *factor != 0);
        Self {
            constant: sum.constant + other.constant,
            low: sum.low + other.low,
            high: sum.high + other.high,
            ..sum
        }
    }
}

/// Binary32 holds whole numbers up to this.
const EXACT: i64 = 1 << 24;

/// Two values in the same units.
fn aligned(a: &Value, b: &Value) -> [Value; 2] {
    let exponent = a.exponent.max(b.exponent);
    [a.shifted_to(exponent), b.shifted_to(exponent)]
}

/// A program in the making.
struct Fixed {
    nodes: Vec<Node>,
    known: Vec<Known>,
    /// The node of each operation that has one.
    made: Vec<Option<usize>>,
}

impl Fixed {
    fn push(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The node of a number: one for all that read it.
    fn number(&mut self, number: Number) -> usize {
        let same = |node: &Node| matches!(node, Node::Number(known) if *known == number);
        self.nodes.iter().position(same).unwrap_or_else(|| self.push(Node::Number(number)))
    }

    fn columns(&mut self, numbers: [f32; 2]) -> Option<Value> {
        let [even, odd] = [Value::number(numbers[0])?, Value::number(numbers[1])?];
        let [even, odd] = aligned(&even, &odd);
        let node = self.push(Node::Columns([even.constant as f32, odd.constant as f32]));
        let ends = [even.constant.min(odd.constant), even.constant.max(odd.constant)];
        let value = Value::node(node, even.exponent, ends);
        value.fits().then_some(value)
    }

    fn operand(&self, operand: u16) -> Option<&Value> {
        match &self.known[usize::from(operand)] {
            Known::Value(value) => Some(value),
            Known::Place => None,
        }
    }

    /// The node of an operation's value.
    fn made(&mut self, index: usize) -> Option<usize> {
        if let Some(node) = self.made[index] {
            return Some(node);
        }
        let Known::Value(value) = self.known[index].clone() else { return None };
        let node = self.make(&value)?;
        self.made[index] = Some(node);
        Some(node)
    }

    /// The node of a value.
    fn make(&mut self, value: &Value) -> Option<usize> {
        if !value.fits() {
            return None;
        }
        // Modulo 2^16 nothing is lost of what fits.
        let number = |units: i64| Number::Const(f32::from(units as i16));
        match value.terms[..] {
            [] => Some(self.number(number(value.constant))),
            [(node, 1)] if value.constant == 0 => Some(node),
            _ => {
                let (mut start, mut made) = (Start::Number(number(value.constant)), None);
                for terms in value.terms.chunks(MAX_OPERANDS - 1) {
                    let terms = terms.iter().map(|&(node, factor)| (node, number(factor))).collect();
                    let node = self.push(Node::Sum { start, terms });
                    (start, made) = (Start::Node(node), Some(node));
                }
                made
            }
        }
    }

    /// The nodes of two values in the same units, and these.
    fn pair(&mut self, a: u16, b: u16) -> Option<[(usize, Value); 2]> {
        let [x, y] = aligned(self.operand(a)?, self.operand(b)?);
        Some([(self.make(&x)?, x), (self.make(&y)?, y)])
    }

    fn value(&mut self, op: Op, outside: i64) -> Option<Value> {
        Some(match op {
            Op::Input { slot, channel, at } => {
                let node = self.push(Node::Tap { slot, channel, at });
                let value = Value::node(node, 0, [outside.min(0), outside.max(255)]);
                value.fits().then_some(value)?
            }
            Op::Unary(Unary::Neg, a) => self.operand(a)?.times(-1, 0),
            Op::Unary(Unary::Abs, a) => {
                let value = self.operand(a)?.clone();
                let node = self.make(&value)?;
                let node = self.push(Node::Unary(Unary::Abs, node));
                Value::node(node, value.exponent, [0, value.low.abs().max(value.high.abs())])
            }
            Op::Unary(Unary::Floor | Unary::Ceil | Unary::Round, a) => {
                let value = self.operand(a)?;
                (value.exponent == 0).then(|| value.clone())?
            }
            Op::Binary(Binary::Add, a, b) => self.operand(a)?.plus(self.operand(b)?),
            Op::Binary(Binary::Sub, a, b) => self.operand(a)?.plus(&self.operand(b)?.times(-1, 0)),
            Op::Binary(Binary::Mul, a, b) => self.product(a, b)?,
            Op::Fma(a, b, c) => self.product(a, b)?.plus(self.operand(c)?),
            Op::Binary(op @ (Binary::Min | Binary::Max), a, b) => {
                let [(a, x), (b, y)] = self.pair(a, b)?;
                let node = self.push(Node::Binary(op, a, b));
                let of: fn(i64, i64) -> i64 = if op == Binary::Min { Ord::min } else { Ord::max };
                Value::node(node, x.exponent, [of(x.low, y.low), of(x.high, y.high)])
            }
            Op::Select { compare, a, b, then, other } => self.select(compare, [a, b], [then, other])?,
            Op::Unary(Unary::Sqrt | Unary::Exponent | Unary::Significand | Unary::PowerOfTwo, _)
            | Op::Binary(Binary::Div, ..)
            | Op::Luma(..)
            | Op::Lookup(..) => return None,
            Op::Position(_) | Op::Uniform(_) | Op::Const(_) => {
                unreachable!("they follow from place or numbers")
            }
        })
    }

    /// A multiple of a value, or a product of two that 16 bits hold.
    fn product(&mut self, a: u16, b: u16) -> Option<Value> {
        let (a, b) = (self.operand(a)?.clone(), self.operand(b)?.clone());
        match (&a.terms[..], &b.terms[..]) {
            ([], _) => return Some(b.times(a.constant, a.exponent).reduced()),
            (_, []) => return Some(a.times(b.constant, b.exponent).reduced()),
            _ => {}
        }
        let nodes = [self.make(&a)?, self.make(&b)?];
        let ends = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
        let (low, high) = ends.iter().fold((i64::MAX, i64::MIN), |(l, h), &n| (l.min(n), h.max(n)));
        let node = self.push(Node::Binary(Binary::Mul, nodes[0], nodes[1]));
        let value = Value::node(node, a.exponent + b.exponent, [low, high]);
        value.fits().then_some(value)
    }

    fn select(&mut self, compare: Compare, [a, b]: [u16; 2], [then, other]: [u16; 2]) -> Option<Value> {
        let [x, y] = aligned(self.operand(a)?, self.operand(b)?);
        if x.terms.is_empty() && y.terms.is_empty() {
            let holds = compare.holds(x.constant as f32, y.constant as f32);
            return self.operand(if holds { then } else { other }).cloned();
        }
        let compared = [self.make(&x)?, self.make(&y)?];
        let [(then, x), (other, y)] = self.pair(then, other)?;
        let node = self.push(Node::Select { compare, of: [compared[0], compared[1], then, other] });
        Some(Value::node(node, x.exponent, [x.low.min(y.low), x.high.max(y.high)]))
    }
}
