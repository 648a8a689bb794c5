use std::fmt::{self, Write as _};

use crate::kernel::Axis;

use super::{Binary, Channel, Compare, Expr, Offset, Op, Results, Unary, ValueId};

impl fmt::Display for Channel {
    /// As an expression names the channel of its first input.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("v"),
            Self::Red => f.write_str("r"),
            Self::Green => f.write_str("g"),
            Self::Blue => f.write_str("b"),
            Self::Alpha => f.write_str("a"),
            Self::Index(i) => write!(f, "c{i}"),
        }
    }
}

impl Unary {
    /// Its name in expressions; the sign has none.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Neg => "-",
            Self::Abs => "abs",
            Self::Sqrt => "sqrt",
            Self::Floor => "floor",
            Self::Ceil => "ceil",
            Self::Round => "round",
            Self::Exponent => "exponent",
            Self::Significand => "significand",
            Self::PowerOfTwo => "power_of_two",
        }
    }
}

impl Compare {
    /// Its sign in expressions, which is that of C.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Eq => "==",
            Self::Ne => "!=",
        }
    }
}

/// How tightly an operation binds, for brackets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tightness {
    Select,
    Sum,
    Product,
    Sign,
    Atom,
}

/// Operations inside each other in one printed part: each takes two levels of brackets at most.
const MAX_NESTING: usize = 30;

/// Numbers of a table that are printed at most.
const MAX_PRINTED: usize = 16;

impl fmt::Display for Expr {
    /// In the text form of expressions: what is used more than once has a name of its own, and so has what would be nested
    /// too deeply to be read. Reading it gives the same expression, unless it looks up in a table of more than 16
    /// numbers, of which only their count is printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut uses = vec![0_usize; self.ops.len()];
        let roots: &[ValueId] = match &self.results {
            Results::EachChannel(root) => std::slice::from_ref(root),
            Results::Channels(roots) => roots,
        };
        let read = self.ops.iter().flat_map(|&op| op.operands().into_iter().flatten());
        for id in read.chain(roots.iter().copied()) {
            uses[usize::from(id)] += 1;
        }
        let mut printer = Printer { expr: self, names: vec![None; self.ops.len()] };
        let mut names = (0..).map(|i| format!("t{i}")).filter(|name| !self.uniforms.contains(name));
        let mut nesting = vec![0_usize; self.ops.len()];
        for (id, op) in self.ops.iter().enumerate() {
            let leaf = matches!(op, Op::Input { .. } | Op::Position(_) | Op::Uniform(_) | Op::Const(_));
            let below = op.operands().into_iter().flatten().map(|o| nesting[usize::from(o)] + 1);
            nesting[id] = below.max().unwrap_or(0);
            if (uses[id] > 1 || nesting[id] >= MAX_NESTING) && !leaf {
                nesting[id] = 0;
                let name = names.next().expect("there is always another number");
                let text = printer.text(id as ValueId, Tightness::Select);
                write!(f, "{name} = {text}; ")?;
                printer.names[id] = Some(name);
            }
        }
        // Where nothing reads `v` any more, the text still has to say that there is a result for each channel.
        let own = |op: &Op| matches!(op, Op::Input { channel: Channel::Own, .. });
        if matches!(self.results, Results::EachChannel(_)) && !self.ops.iter().any(own) {
            f.write_str("0 ? v : ")?;
        }
        let texts: Vec<String> = roots.iter().map(|&root| printer.text(root, Tightness::Select)).collect();
        f.write_str(&texts.join(", "))
    }
}

struct Printer<'a> {
    expr: &'a Expr,
    /// Of operations that have been printed with a name.
    names: Vec<Option<String>>,
}

impl Printer<'_> {
    /// An operation's text, in brackets where something that binds as tightly as `around` needs them.
    fn text(&self, id: ValueId, around: Tightness) -> String {
        let mut text = String::new();
        let own = self.write(id, &mut text);
        if own < around { format!("({text})") } else { text }
    }

    fn write(&self, id: ValueId, text: &mut String) -> Tightness {
        use Tightness::{Atom, Select, Sign, Sum};
        if let Some(name) = &self.names[usize::from(id)] {
            text.push_str(name);
            return Atom;
        }
        // Writing to a text cannot fail.
        let op = self.expr.ops[usize::from(id)];
        let (result, tightness) = match op {
            Op::Input { slot, channel, at } => {
                let input = if slot == 0 { String::new() } else { (slot + 1).to_string() };
                let place =
                    if at == Offset::NONE { String::new() } else { format!("({}, {})", at.dx, at.dy) };
                (write!(text, "{channel}{input}{place}"), Atom)
            }
            Op::Position(Axis::X) => (write!(text, "x()"), Atom),
            Op::Position(Axis::Y) => (write!(text, "y()"), Atom),
            Op::Uniform(index) => (write!(text, "{}", self.expr.uniforms[usize::from(index)]), Atom),
            Op::Const(bits) => (write!(text, "{}", Number(bits.get())), Number(bits.get()).tightness()),
            Op::Unary(Unary::Neg, a) => (write!(text, "-{}", self.text(a, Atom)), Sign),
            Op::Unary(op, a) => (write!(text, "{}({})", op.name(), self.text(a, Select)), Atom),
            Op::Binary(op, a, b) => return self.write_binary(op, a, b, text),
            Op::Fma(a, b, c) | Op::Luma(a, b, c) => {
                let name = if matches!(op, Op::Fma(..)) { "fma" } else { "luma" };
                let [a, b, c] = [a, b, c].map(|id| self.text(id, Select));
                (write!(text, "{name}({a}, {b}, {c})"), Atom)
            }
            Op::Lookup(table, a) => {
                let table = &self.expr.tables[usize::from(table)];
                let (index, numbers) = (self.text(a, Select), table.numbers().map(Number));
                let result = if table.len() > MAX_PRINTED {
                    write!(text, "lookup({index}, {} numbers)", table.len())
                } else {
                    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
                    write!(text, "lookup({index}, {})", numbers.join(", "))
                };
                (result, Atom)
            }
            Op::Select { compare, a, b, then, other } => {
                let (a, b) = (self.text(a, Sum), self.text(b, Sum));
                let (then, other) = (self.text(then, Sum), self.text(other, Select));
                (write!(text, "{a} {} {b} ? {then} : {other}", compare.sign()), Select)
            }
        };
        debug_assert!(result.is_ok());
        tightness
    }

    fn write_binary(&self, op: Binary, a: ValueId, b: ValueId, text: &mut String) -> Tightness {
        use Tightness::{Atom, Product, Select, Sign, Sum};
        let (sign, own, right) = match op {
            Binary::Add => ("+", Sum, Product),
            Binary::Sub => ("-", Sum, Product),
            Binary::Mul => ("*", Product, Sign),
            Binary::Div => ("/", Product, Sign),
            Binary::Min | Binary::Max => {
                let name = if op == Binary::Min { "min" } else { "max" };
                for part in [name, "(", &self.text(a, Select), ", ", &self.text(b, Select), ")"] {
                    text.push_str(part);
                }
                return Atom;
            }
        };
        for part in [&*self.text(a, own), " ", sign, " ", &self.text(b, right)] {
            text.push_str(part);
        }
        own
    }
}

/// A constant, in the fewest digits that give it back.
struct Number(f32);

impl Number {
    fn tightness(&self) -> Tightness {
        if self.0.is_sign_negative() && !self.0.is_nan() { Tightness::Sign } else { Tightness::Atom }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v = self.0;
        // `{}` writes 1e30 with thirty zeros, and `{:e}` writes 1 as 1e0.
        if v.is_nan() {
            f.write_str("nan")
        } else if v == 0.0 || (1e-5..1e9).contains(&v.abs()) || v.is_infinite() {
            write!(f, "{v}")
        } else {
            write!(f, "{v:e}")
        }
    }
}
