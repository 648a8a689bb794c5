use std::collections::{HashMap, HashSet};
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::Arc;

use mip_core::ImageDesc;
use mip_plan::{
    Axis, Binary, Channel, Compare, Expr, ExprBuilder, Function, LookupTable, Offset, Op, Results, Unary,
    ValueId,
};

/// A number that depends on the samples of a pixel, or of pixels near it: the parts that expressions are made of.
///
/// Made from channels ([`v`], [`r`], [`v_of`], ...), [`uniform`]s and `f32` with `+ - * /` and the methods here. Each is one
/// correctly rounded binary32 operation; nothing is contracted (write [`Term::mul_add`] where you want one).
#[derive(Debug, Clone)]
pub struct Term(Arc<Node>);

#[derive(Debug)]
struct Node {
    /// Operations on the longest way to a leaf.
    depth: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Input {
        slot: u8,
        channel: Channel,
        at: Offset,
    },
    Position(Axis),
    Uniform(String),
    Const(f32),
    Unary(Unary, Term),
    Binary(Binary, Term, Term),
    Fma([Term; 3]),
    Luma([Term; 3]),
    Lookup(LookupTable, Term),
    Function(Function, Vec<Term>),
    Select(Compare, [Term; 4]),
    /// Stands for what is nested more deeply than [`MAX_DEPTH`]; such an expression is refused.
    TooDeep,
}

/// Deeper than any expression of the allowed length needs to be, and no danger to the stack.
const MAX_DEPTH: usize = 1000;

/// A comparison, see [`Term::greater`].
#[derive(Debug, Clone)]
pub struct Condition {
    compare: Compare,
    a: Term,
    b: Term,
}

/// The channel that is being computed, of the first input, in sample units.
pub fn v() -> Term {
    v_of(0)
}

/// Red of the first input.
pub fn r() -> Term {
    red_of(0)
}

/// Green of the first input.
pub fn g() -> Term {
    green_of(0)
}

/// Blue of the first input.
pub fn b() -> Term {
    blue_of(0)
}

/// Alpha of the first input.
pub fn a() -> Term {
    alpha_of(0)
}

/// The channel that is being computed, of input `slot`, counted from 0. A gray image has one value for all channels.
pub fn v_of(slot: u8) -> Term {
    Term::channel(slot, Channel::Own)
}

/// Red of input `slot`, counted from 0.
pub fn red_of(slot: u8) -> Term {
    Term::channel(slot, Channel::Red)
}

/// Green of input `slot`.
pub fn green_of(slot: u8) -> Term {
    Term::channel(slot, Channel::Green)
}

/// Blue of input `slot`.
pub fn blue_of(slot: u8) -> Term {
    Term::channel(slot, Channel::Blue)
}

/// Alpha of input `slot`.
pub fn alpha_of(slot: u8) -> Term {
    Term::channel(slot, Channel::Alpha)
}

/// A number that may change between executions without a new plan, under a name.
pub fn uniform(name: impl Into<String>) -> Term {
    Term::new(Kind::Uniform(name.into()))
}

/// The column of the pixel, counted from 0; its nearest binary32 number, exact up to 2^24.
pub fn x() -> Term {
    Term::new(Kind::Position(Axis::X))
}

/// The row of the pixel, counted from 0.
pub fn y() -> Term {
    Term::new(Kind::Position(Axis::Y))
}

/// Columns of the image.
pub fn width() -> Term {
    uniform(WIDTH)
}

/// Rows of the image.
pub fn height() -> Term {
    uniform(HEIGHT)
}

/// The size of the image is given by uniforms, so that images of all sizes need the same code. No name can be one of these.
const WIDTH: &str = "width()";
const HEIGHT: &str = "height()";

/// The number of [`width`] or [`height`], if that is what a uniform is.
pub(crate) fn size_of(name: &str, image: &ImageDesc) -> Option<f64> {
    match name {
        WIDTH => Some(image.width().into()),
        HEIGHT => Some(image.height().into()),
        _ => None,
    }
}

/// Whether the image's size is what a uniform stands for.
pub(crate) fn is_size(name: &str) -> bool {
    [WIDTH, HEIGHT].contains(&name)
}

impl Term {
    fn new(kind: Kind) -> Self {
        let below = match &kind {
            Kind::Unary(_, a) | Kind::Lookup(_, a) => a.0.depth,
            Kind::Binary(_, a, b) => a.0.depth.max(b.0.depth),
            Kind::Fma(terms) | Kind::Luma(terms) => terms.iter().map(|t| t.0.depth).max().unwrap_or(0),
            Kind::Function(_, terms) => terms.iter().map(|t| t.0.depth).max().unwrap_or(0),
            Kind::Select(_, terms) => terms.iter().map(|t| t.0.depth).max().unwrap_or(0),
            Kind::Input { .. } | Kind::Position(_) | Kind::Uniform(_) | Kind::Const(_) | Kind::TooDeep => 0,
        };
        let deep = below >= MAX_DEPTH;
        let (depth, kind) = if deep { (MAX_DEPTH, Kind::TooDeep) } else { (below + 1, kind) };
        Self(Arc::new(Node { depth, kind }))
    }

    pub(crate) fn channel(slot: u8, channel: Channel) -> Self {
        Self::neighbor(slot, channel, Offset::NONE)
    }

    pub(crate) fn neighbor(slot: u8, channel: Channel, at: Offset) -> Self {
        Self::new(Kind::Input { slot, channel, at })
    }

    /// The same of the pixel `dx` columns to the right and `dy` rows below, each -15 to 15 in all: for
    /// [`mip_plan::Stencil`]. `v().at(1, 0) - v().at(-1, 0)` is a derivative.
    #[must_use]
    pub fn at(&self, dx: i8, dy: i8) -> Self {
        self.moved(Offset { dx, dy }, &mut HashMap::new())
    }

    fn moved(&self, by: Offset, known: &mut HashMap<*const Node, Self>) -> Self {
        if let Some(known) = known.get(&Arc::as_ptr(&self.0)) {
            return known.clone();
        }
        let mut moved = |term: &Self| term.moved(by, known);
        let kind = match &self.0.kind {
            Kind::Input { slot, channel, at } => {
                // Too far stays too far.
                let at = Offset { dx: at.dx.saturating_add(by.dx), dy: at.dy.saturating_add(by.dy) };
                Kind::Input { slot: *slot, channel: *channel, at }
            }
            Kind::Position(axis) => {
                let by = if *axis == Axis::X { by.dx } else { by.dy };
                return if by == 0 { self.clone() } else { self.clone() + f32::from(by) };
            }
            Kind::Uniform(name) => Kind::Uniform(name.clone()),
            Kind::Const(value) => Kind::Const(*value),
            Kind::Unary(op, a) => Kind::Unary(*op, moved(a)),
            Kind::Binary(op, a, b) => Kind::Binary(*op, moved(a), moved(b)),
            Kind::Fma(terms) => Kind::Fma(terms.each_ref().map(moved)),
            Kind::Luma(terms) => Kind::Luma(terms.each_ref().map(moved)),
            Kind::Lookup(table, a) => Kind::Lookup(table.clone(), moved(a)),
            Kind::Function(function, terms) => Kind::Function(*function, terms.iter().map(moved).collect()),
            Kind::Select(compare, terms) => Kind::Select(*compare, terms.each_ref().map(moved)),
            Kind::TooDeep => Kind::TooDeep,
        };
        let made = Self::new(kind);
        known.insert(Arc::as_ptr(&self.0), made.clone());
        made
    }

    pub(crate) fn unary(self, op: Unary) -> Self {
        Self::new(Kind::Unary(op, self))
    }

    /// `operands` are as many as it takes.
    pub(crate) fn function(function: Function, operands: Vec<Self>) -> Self {
        Self::new(Kind::Function(function, operands))
    }

    fn binary(self, op: Binary, other: impl Into<Self>) -> Self {
        Self::new(Kind::Binary(op, self, other.into()))
    }

    /// `self * factor + offset`, rounded once.
    #[must_use]
    pub fn mul_add(self, factor: impl Into<Self>, offset: impl Into<Self>) -> Self {
        Self::new(Kind::Fma([self, factor.into(), offset.into()]))
    }

    /// `self < other ? self : other`: `other` when one of them is NaN.
    #[must_use]
    pub fn min(self, other: impl Into<Self>) -> Self {
        self.binary(Binary::Min, other)
    }

    /// `self > other ? self : other`: `other` when one of them is NaN.
    #[must_use]
    pub fn max(self, other: impl Into<Self>) -> Self {
        self.binary(Binary::Max, other)
    }

    /// `self.max(low).min(high)`: `low` for NaN.
    #[must_use]
    pub fn clamp(self, low: impl Into<Self>, high: impl Into<Self>) -> Self {
        self.max(low).min(high)
    }

    /// The luma of red, green and blue in whole numbers, see [`mip_plan::luma`]: what `color_convert` to gray makes of integers.
    #[must_use]
    pub fn luma(r: impl Into<Self>, g: impl Into<Self>, b: impl Into<Self>) -> Self {
        Self::new(Kind::Luma([r.into(), g.into(), b.into()]))
    }

    /// The number of a table at this index: its fraction is dropped, what lies outside counts as the nearest end, and NaN as 0.
    #[must_use]
    pub fn lookup(self, table: &LookupTable) -> Self {
        Self::new(Kind::Lookup(table.clone(), self))
    }

    /// The number that it is, if it depends on nothing.
    pub(crate) fn constant(&self) -> Option<f32> {
        match Self::compile(std::slice::from_ref(self), false).ok()?.ops() {
            [Op::Const(bits)] => Some(bits.get()),
            _ => None,
        }
    }

    /// The absolute value.
    #[must_use]
    pub fn abs(self) -> Self {
        self.unary(Unary::Abs)
    }

    /// The square root, correctly rounded; NaN below 0.
    #[must_use]
    pub fn sqrt(self) -> Self {
        self.unary(Unary::Sqrt)
    }

    /// The cube root; see [`Function`] for this and the functions below, which are the same operations on every device.
    #[must_use]
    pub fn cbrt(self) -> Self {
        Self::function(Function::Cbrt, vec![self])
    }

    /// `e^self`.
    #[must_use]
    pub fn exp(self) -> Self {
        Self::function(Function::Exp, vec![self])
    }

    /// `2^self`.
    #[must_use]
    pub fn exp2(self) -> Self {
        Self::function(Function::Exp2, vec![self])
    }

    /// The natural logarithm; NaN below 0.
    #[must_use]
    pub fn log(self) -> Self {
        Self::function(Function::Log, vec![self])
    }

    /// The binary logarithm; NaN below 0.
    #[must_use]
    pub fn log2(self) -> Self {
        Self::function(Function::Log2, vec![self])
    }

    /// `self^exponent`; NaN below 0 unless the exponent is a whole number.
    #[must_use]
    pub fn pow(self, exponent: impl Into<Self>) -> Self {
        Self::function(Function::Pow, vec![self, exponent.into()])
    }

    /// The greatest whole number not above.
    #[must_use]
    pub fn floor(self) -> Self {
        self.unary(Unary::Floor)
    }

    /// The smallest whole number not below.
    #[must_use]
    pub fn ceil(self) -> Self {
        self.unary(Unary::Ceil)
    }

    /// The nearest whole number, ties to even.
    #[must_use]
    pub fn round(self) -> Self {
        self.unary(Unary::Round)
    }

    /// Whether `self > other`; use it as `v().greater(128.0).then(255.0, 0.0)`.
    pub fn greater(self, other: impl Into<Self>) -> Condition {
        self.compare(Compare::Gt, other)
    }

    /// Whether `self < other`.
    pub fn less(self, other: impl Into<Self>) -> Condition {
        self.compare(Compare::Lt, other)
    }

    /// Any comparison.
    pub fn compare(self, compare: Compare, other: impl Into<Self>) -> Condition {
        Condition { compare, a: self, b: other.into() }
    }

    /// The expression with these results.
    ///
    /// # Errors
    /// What makes it no expression, in words.
    pub(crate) fn compile(results: &[Self], each: bool) -> Result<Expr, String> {
        let mut compiler =
            Compiler { builder: ExprBuilder::default(), known: HashMap::new(), too_deep: false };
        let ids: Vec<ValueId> = results.iter().map(|term| compiler.value(term)).collect();
        if compiler.too_deep {
            return Err(format!("its operations are nested more than {MAX_DEPTH} deep"));
        }
        let results = match ids[..] {
            [one] if each => Results::EachChannel(one),
            _ => Results::Channels(ids),
        };
        compiler.builder.finish(&results)
    }

    /// Whether it reads the channel that is being computed.
    pub(crate) fn is_of_each_channel(results: &[Self]) -> bool {
        let mut stack: Vec<&Self> = results.iter().collect();
        let mut seen: HashSet<*const Node> = HashSet::new();
        while let Some(term) = stack.pop() {
            if !seen.insert(Arc::as_ptr(&term.0)) {
                continue;
            }
            match &term.0.kind {
                Kind::Input { channel: Channel::Own, .. } => return true,
                Kind::Unary(_, a) | Kind::Lookup(_, a) => stack.push(a),
                Kind::Binary(_, a, b) => stack.extend([a, b]),
                Kind::Fma(terms) | Kind::Luma(terms) => stack.extend(terms),
                Kind::Function(_, terms) => stack.extend(terms),
                Kind::Select(_, terms) => stack.extend(terms),
                Kind::Input { .. }
                | Kind::Position(_)
                | Kind::Uniform(_)
                | Kind::Const(_)
                | Kind::TooDeep => {}
            }
        }
        false
    }
}

impl Condition {
    /// `then` where the comparison holds, `other` elsewhere.
    #[must_use]
    pub fn then(self, then: impl Into<Term>, other: impl Into<Term>) -> Term {
        Term::new(Kind::Select(self.compare, [self.a, self.b, then.into(), other.into()]))
    }
}

struct Compiler {
    builder: ExprBuilder,
    /// Terms that are used in several places are computed once.
    known: HashMap<*const Node, ValueId>,
    too_deep: bool,
}

impl Compiler {
    fn value(&mut self, term: &Term) -> ValueId {
        let place = Arc::as_ptr(&term.0);
        if let Some(&known) = self.known.get(&place) {
            return known;
        }
        let id = match &term.0.kind {
            Kind::Input { slot, channel, at } => self.builder.neighbor(*slot, *channel, *at),
            Kind::Position(axis) => self.builder.position(*axis),
            Kind::Uniform(name) => self.builder.uniform(name),
            Kind::Const(value) => self.builder.constant(*value),
            Kind::Unary(op, a) => {
                let a = self.value(a);
                self.builder.unary(*op, a)
            }
            Kind::Binary(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                self.builder.binary(*op, a, b)
            }
            Kind::Luma([r, g, b]) => {
                let [r, g, b] = [r, g, b].map(|term| self.value(term));
                self.builder.luma(r, g, b)
            }
            Kind::Lookup(table, a) => {
                let a = self.value(a);
                self.builder.lookup(table, a)
            }
            Kind::Fma([a, b, c]) => {
                let (a, b, c) = (self.value(a), self.value(b), self.value(c));
                self.builder.fma(a, b, c)
            }
            Kind::Function(function, terms) => {
                let ids: Vec<ValueId> = terms.iter().map(|term| self.value(term)).collect();
                self.builder.function(*function, &ids)
            }
            Kind::Select(compare, [a, b, then, other]) => {
                let (a, b) = (self.value(a), self.value(b));
                let (then, other) = (self.value(then), self.value(other));
                self.builder.select(*compare, [a, b], [then, other])
            }
            Kind::TooDeep => {
                self.too_deep = true;
                self.builder.constant(0.0)
            }
        };
        self.known.insert(place, id);
        id
    }
}

impl From<f32> for Term {
    fn from(value: f32) -> Self {
        Self::new(Kind::Const(value))
    }
}

impl Neg for Term {
    type Output = Self;

    fn neg(self) -> Self {
        self.unary(Unary::Neg)
    }
}

/// An operator between terms, and between a term and a number.
macro_rules! operator {
    ($($of:ident, $method:ident;)*) => {
        $(impl<T: Into<Term>> $of<T> for Term {
            type Output = Self;

            fn $method(self, other: T) -> Self {
                self.binary(Binary::$of, other)
            }
        }

        impl $of<Term> for f32 {
            type Output = Term;

            fn $method(self, other: Term) -> Term {
                Term::from(self).binary(Binary::$of, other)
            }
        })*
    };
}

operator! {
    Add, add;
    Sub, sub;
    Mul, mul;
    Div, div;
}
