//! Elementary functions as one operation each, whose steps stay in registers: an expression spells them out.

use mip_plan::{Binary, Channel, Expr, ExprBuilder, Function, Op, Results, Unary};

use super::program::Node;
use crate::simd::Level;

/// The larger ones first: a root holds a logarithm and a power.
const ORDER: [Function; 5] = [Function::Cbrt, Function::Exp, Function::Log, Function::Exp2, Function::Log2];

/// The nodes of an expression, each function that it spells out as one node. What only its steps read is read by nobody then.
pub(super) fn recognised(mut nodes: Vec<Node>, expr: &Expr) -> Vec<Node> {
    let patterns = patterns(expr);
    for (index, node) in nodes.iter_mut().enumerate() {
        // None ends with anything else.
        if matches!(expr.ops()[index], Op::Binary(..) | Op::Select { .. })
            && let Some(found) = patterns.iter().find_map(|pattern| pattern.found(expr, index))
        {
            *node = found;
        }
    }
    nodes
}

/// A function as an expression spells it out.
struct Pattern {
    function: Function,
    /// The exponent of a power, where it is a number.
    power: Option<f32>,
    expr: Expr,
}

/// Functions that an expression may hold; none where it holds nothing of the kind.
fn patterns(expr: &Expr) -> Vec<Pattern> {
    let bits = |op: &Op| matches!(op, Op::Unary(Unary::PowerOfTwo | Unary::Exponent, _));
    if !expr.ops().iter().any(bits) {
        return Vec::new();
    }
    let number = |op: &Op| if let Op::Const(number) = op { Some(number.get()) } else { None };
    // A logarithm times the exponent is what powers have.
    let mut powers: Vec<f32> = Vec::new();
    for op in expr.ops() {
        if let Op::Binary(Binary::Mul, _, by) = *op
            && let Some(power) = number(&expr.ops()[usize::from(by)])
            && !powers.contains(&power)
        {
            powers.push(power);
        }
    }
    let mut patterns: Vec<Pattern> =
        powers.into_iter().filter_map(|power| Pattern::new(Function::Pow, Some(power))).collect();
    patterns.extend(Pattern::new(Function::Pow, None));
    patterns.extend(ORDER.into_iter().filter_map(|function| Pattern::new(function, None)));
    patterns
}

impl Pattern {
    /// `None` where the function is nothing but its operand, or a product.
    fn new(function: Function, power: Option<f32>) -> Option<Self> {
        if matches!(power, Some(power) if power == 1.0 || power == 2.0 || power == 0.0 || power.is_nan()) {
            return None;
        }
        let mut e = ExprBuilder::default();
        let mut operands = vec![e.input(0, Channel::Own)];
        match power {
            Some(power) => operands.push(e.constant(power)),
            None if function.operands() == 2 => operands.push(e.input(1, Channel::Own)),
            None => {}
        }
        let root = e.function(function, &operands);
        let expr = e.finish(&Results::EachChannel(root)).ok()?;
        Some(Self { function, power, expr })
    }

    /// The function, if that operation is its last one.
    fn found(&self, expr: &Expr, index: usize) -> Option<Node> {
        let own = self.expr.ops();
        let mut matching =
            Matching { own, there: expr.ops(), pairs: vec![None; own.len()], operands: [None; 2] };
        let Results::EachChannel(root) = self.expr.results() else { return None };
        matching.same(usize::from(*root), index).then(|| Node::Function {
            function: self.function,
            power: self.power.unwrap_or_default(),
            of: matching.operands.into_iter().flatten().collect(),
        })
    }
}

/// Holds a pattern against a part of an expression.
struct Matching<'a> {
    own: &'a [Op],
    there: &'a [Op],
    /// For operations of the pattern those that they stand for.
    pairs: Vec<Option<usize>>,
    operands: [Option<usize>; 2],
}

impl Matching<'_> {
    fn same(&mut self, own: usize, there: usize) -> bool {
        if let Some(known) = self.pairs[own] {
            return known == there;
        }
        self.pairs[own] = Some(there);
        match (self.own[own], self.there[there]) {
            (Op::Input { slot, .. }, _) => *self.operands[usize::from(slot)].get_or_insert(there) == there,
            (Op::Const(a), Op::Const(b)) => a == b,
            (Op::Unary(a, _), Op::Unary(b, _)) => a == b && self.operands_are_same(own, there),
            (Op::Binary(a, ..), Op::Binary(b, ..)) => a == b && self.operands_are_same(own, there),
            (Op::Fma(..), Op::Fma(..)) => self.operands_are_same(own, there),
            (Op::Select { compare: a, .. }, Op::Select { compare: b, .. }) => {
                a == b && self.operands_are_same(own, there)
            }
            _ => false,
        }
    }

    fn operands_are_same(&mut self, own: usize, there: usize) -> bool {
        let pairs = self.own[own].operands().into_iter().zip(self.there[there].operands());
        pairs.into_iter().all(|pair| match pair {
            (Some(own), Some(there)) => self.same(own.into(), there.into()),
            (None, None) => true,
            _ => false,
        })
    }
}

/// Computes a function of a block.
pub(super) fn apply(level: Level, function: Function, power: f32, from: &[&[f32]], to: &mut [f32]) {
    match function {
        Function::Cbrt => each(level, from[0], to, Cbrt),
        Function::Exp => each(level, from[0], to, Exp),
        Function::Exp2 => each(level, from[0], to, Exp2),
        Function::Log => each(level, from[0], to, Log),
        Function::Log2 => each(level, from[0], to, Log2),
        Function::Pow if from.len() == 1 => each(level, from[0], to, Power(power)),
        Function::Pow => powers(level, from[0], from[1], to),
    }
}

/// A function of one number. Types, not closures: what is inlined everywhere is compiled with the level's instructions.
trait OfOne: Copy {
    fn of(self, a: f32) -> f32;
}

macro_rules! of_one {
    ($($name:ident),+) => {$(
        #[derive(Clone, Copy)]
        struct $name;

        impl OfOne for $name {
            #[inline(always)]
            fn of(self, a: f32) -> f32 {
                Function::$name.apply(a, 0.0)
            }
        }
    )+};
}

of_one!(Cbrt, Exp, Exp2, Log, Log2);

/// A power with this exponent.
#[derive(Clone, Copy)]
struct Power(f32);

impl OfOne for Power {
    #[inline(always)]
    fn of(self, a: f32) -> f32 {
        Function::Pow.apply(a, self.0)
    }
}

/// Powers of numbers with an exponent each.
fn powers(level: Level, a: &[f32], b: &[f32], to: &mut [f32]) {
    level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (to, (&a, &b)) in to.iter_mut().zip(a.iter().zip(b)) {
                *to = Function::Pow.apply(a, b);
            }
        },
    );
}

#[inline(never)]
fn each<F: OfOne>(level: Level, a: &[f32], to: &mut [f32], function: F) {
    level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (to, &a) in to.iter_mut().zip(a) {
                *to = function.of(a);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimdLevel;
    use crate::rows::expr::program::{nodes, uses};

    /// What is left of an expression's nodes that something reads, but for samples, numbers and positions.
    fn left(expr: &Expr) -> Vec<Node> {
        let Results::EachChannel(root) = expr.results() else { unreachable!("one result") };
        let results = [usize::from(*root)];
        let mut nodes = recognised(nodes(expr, &results), expr);
        loop {
            let uses = uses(&nodes, &results);
            let dead = |(index, node): &(usize, &Node)| uses[*index] == 0 && !node.operands().is_empty();
            let Some((index, _)) = nodes.iter().enumerate().find(dead) else { break };
            nodes[index] = Node::Columns([0.0; 2]);
        }
        nodes.retain(|node| !node.operands().is_empty());
        nodes
    }

    #[test]
    fn functions_are_one_node_each() {
        for function in Function::ALL {
            for power in [Some(2.4), Some(1.0 / 2.4), Some(-1.5), Some(3.0), None] {
                let mut e = ExprBuilder::default();
                let (a, two) = (e.input(0, Channel::Own), e.constant(2.0));
                let a = e.binary(Binary::Add, a, two);
                let b = match power {
                    Some(power) => e.constant(power),
                    None => e.input(1, Channel::Own),
                };
                let result = e.function(function, &[a, b][..function.operands()]);
                let result = e.binary(Binary::Sub, result, two);
                let expr = e.finish(&Results::EachChannel(result)).unwrap();
                let left = left(&expr);
                let is_sum = |node: &Node| matches!(node, Node::Binary(Binary::Add, ..));
                let is_rest = |node: &Node| matches!(node, Node::Binary(Binary::Sub, ..));
                let [first, Node::Function { function: found, power: found_power, of }, last] = &left[..]
                else {
                    panic!("{function:?} {power:?}: {left:?}");
                };
                assert!(is_sum(first) && is_rest(last), "{left:?}");
                assert_eq!(*found, function);
                let is_power = function == Function::Pow;
                assert_eq!(of.len(), if is_power && power.is_none() { 2 } else { 1 });
                assert!(!is_power || *found_power == power.unwrap_or_default());
            }
        }
    }

    #[test]
    fn what_only_looks_like_a_function_is_none() {
        let mut e = ExprBuilder::default();
        let (a, one) = (e.input(0, Channel::Own), e.constant(1.0));
        // The exponent of another number than the significand's.
        let (exponent, other) = (e.unary(Unary::Exponent, a), e.binary(Binary::Add, a, one));
        let significand = e.unary(Unary::Significand, other);
        let result = e.binary(Binary::Mul, exponent, significand);
        let expr = e.finish(&Results::EachChannel(result)).unwrap();
        assert!(left(&expr).iter().all(|node| !matches!(node, Node::Function { .. })));
    }

    /// To the bit, for numbers of every kind, with every level's instructions; NaN is NaN.
    #[test]
    fn blocks_are_what_the_expression_is_number_by_number() {
        let special = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            2.0,
            -8.0,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            1e-40,
            -1e-40,
            f32::MAX,
        ];
        let mut numbers: Vec<f32> =
            (0..4096_u32).map(|i| f32::from_bits(i.wrapping_mul(0x9E37_79B9))).collect();
        numbers.extend(special);
        numbers.extend((0..500).map(|i| i as f32 / 100.0 - 2.0));
        for (function, power) in
            Function::ALL.into_iter().flat_map(|f| [2.4, -0.5, 3.0].map(|power| (f, power)))
        {
            let mut e = ExprBuilder::default();
            let (a, b) = (e.input(0, Channel::Own), e.constant(power));
            let result = e.function(function, &[a, b][..function.operands()]);
            let expr = e.finish(&Results::EachChannel(result)).unwrap();
            for level in [SimdLevel::Portable, SimdLevel::Native] {
                let mut to = vec![0.0; numbers.len()];
                apply(Level::new(level), function, power, &[&numbers], &mut to);
                if function == Function::Pow {
                    let (mut other, powers) = (vec![0.0; numbers.len()], vec![power; numbers.len()]);
                    apply(Level::new(level), function, 0.0, &[&numbers, &powers], &mut other);
                    assert!(
                        to.iter()
                            .zip(&other)
                            .all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
                    );
                }
                let mut values = Vec::new();
                for (&number, &got) in numbers.iter().zip(&to) {
                    expr.evaluate((0, 0), |_, _, _| number, &[], &mut values);
                    let wanted = values[values.len() - 1];
                    let same = wanted.to_bits() == got.to_bits() || wanted.is_nan() && got.is_nan();
                    assert!(same, "{function:?} {power} of {number:e}: {got:e}, not {wanted:e}");
                }
            }
        }
    }
}
