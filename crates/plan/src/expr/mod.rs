//! Expressions: programs of binary32 operations on the samples of one pixel, or of the pixels around it, as plain data.

mod build;
mod calculator;
mod exponents;
mod functions;
mod print;
mod resolve;
mod table;
#[cfg(test)]
mod tests;

use mip_core::PixelFormat;

pub use build::ExprBuilder;
pub use functions::Function;
pub use table::LookupTable;

use crate::kernel::Axis;

/// What is computed for a pixel, in single-assignment form: each operation is one correctly rounded IEEE binary32
/// operation on results of operations before it, so that every device computes the same bits.
///
/// Input samples are widened to binary32 in sample units (0 to 255 for u8). Results are rounded to the output's
/// dtype once, at the end, as every kernel's ([`mip_core::Sample::from_f32`]). An expression is made by an
/// [`ExprBuilder`], in canonical form: equal expressions are the same computation, operation by operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Expr {
    ops: Vec<Op>,
    results: Results,
    uniforms: Vec<String>,
    tables: Vec<LookupTable>,
}

/// Index of an operation of an [`Expr`].
pub type ValueId = u16;

/// What an expression's results are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Results {
    /// One for each colour channel, computed by the same operations with [`Channel::Own`] standing for the channel;
    /// alpha is copied from the first input.
    EachChannel(ValueId),
    /// One for each channel of the result, in the order red, green, blue, alpha (or gray alone).
    Channels(Vec<ValueId>),
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// A sample of the pixel in one of the input images, or of a pixel near it.
    Input {
        /// Which image.
        slot: u8,
        /// Which channel.
        channel: Channel,
        /// Of which pixel.
        at: Offset,
    },
    /// The column or the row of the pixel that is being computed, counted from 0, as the nearest binary32 number: exact up
    /// to 2^24.
    Position(Axis),
    /// One of the expression's uniforms: a number that may change from launch to launch.
    Uniform(u16),
    /// A number.
    Const(Bits),
    /// An operation on one number.
    Unary(Unary, ValueId),
    /// An operation on two numbers.
    Binary(Binary, ValueId, ValueId),
    /// `a * b + c`, rounded once.
    Fma(ValueId, ValueId, ValueId),
    /// The luma of red, green and blue in whole numbers, see [`luma`].
    Luma(ValueId, ValueId, ValueId),
    /// The number of one of the expression's tables at an index, see [`LookupTable::at`].
    Lookup(u16, ValueId),
    /// `compare(a, b) ? then : other`.
    Select {
        /// How `a` and `b` are compared.
        compare: Compare,
        /// Left of the comparison.
        a: ValueId,
        /// Right of the comparison.
        b: ValueId,
        /// The result where the comparison holds.
        then: ValueId,
        /// The result elsewhere.
        other: ValueId,
    },
}

impl Op {
    /// The operations whose results it reads, in order.
    pub const fn operands(self) -> [Option<ValueId>; 4] {
        match self {
            Self::Input { .. } | Self::Position(_) | Self::Uniform(_) | Self::Const(_) => [None; 4],
            Self::Unary(_, a) | Self::Lookup(_, a) => [Some(a), None, None, None],
            Self::Binary(_, a, b) => [Some(a), Some(b), None, None],
            Self::Fma(a, b, c) | Self::Luma(a, b, c) => [Some(a), Some(b), Some(c), None],
            Self::Select { a, b, then, other, .. } => [Some(a), Some(b), Some(then), Some(other)],
        }
    }
}

impl Op {
    /// The same operation on other operands: `moved` says where the result of each has gone.
    #[must_use]
    pub fn with_operands(self, moved: impl Fn(ValueId) -> ValueId) -> Self {
        match self {
            Self::Input { .. } | Self::Position(_) | Self::Uniform(_) | Self::Const(_) => self,
            Self::Unary(op, a) => Self::Unary(op, moved(a)),
            Self::Binary(op, a, b) => Self::Binary(op, moved(a), moved(b)),
            Self::Fma(a, b, c) => Self::Fma(moved(a), moved(b), moved(c)),
            Self::Luma(r, g, b) => Self::Luma(moved(r), moved(g), moved(b)),
            Self::Lookup(table, a) => Self::Lookup(table, moved(a)),
            Self::Select { compare, a, b, then, other } => {
                Self::Select { compare, a: moved(a), b: moved(b), then: moved(then), other: moved(other) }
            }
        }
    }
}

/// A pixel's place from the one that is being computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Offset {
    /// Columns to the right, -[`Offset::MAX`] to [`Offset::MAX`].
    pub dx: i8,
    /// Rows below, likewise.
    pub dy: i8,
}

impl Offset {
    /// Columns or rows at most.
    pub const MAX: i8 = 15;
    /// The pixel itself.
    pub const NONE: Self = Self { dx: 0, dy: 0 };
}

/// A channel of an input image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channel {
    /// The one that is being computed.
    Own,
    /// Red, in whatever order the format keeps its channels.
    Red,
    /// Green.
    Green,
    /// Blue.
    Blue,
    /// Alpha.
    Alpha,
    /// By its index in memory.
    Index(u8),
}

impl Channel {
    /// Red, green, blue and alpha, or a colour space's channels in their own order: what the channels of formats other than gray are.
    pub const fn of_colors(format: PixelFormat) -> [Self; 4] {
        if format.is_color_space() {
            [Self::Index(0), Self::Index(1), Self::Index(2), Self::Alpha]
        } else {
            [Self::Red, Self::Green, Self::Blue, Self::Alpha]
        }
    }

    /// The index in memory for a format; `None` when the format has no such channel. [`Channel::Own`] has none of its own.
    pub const fn index(self, format: PixelFormat) -> Option<usize> {
        let rgb = format.rgb_indices();
        match (self, rgb) {
            (Self::Red, Some([r, _, _])) => Some(r),
            (Self::Green, Some([_, g, _])) => Some(g),
            (Self::Blue, Some([_, _, b])) => Some(b),
            (Self::Alpha, _) if format.has_alpha() => Some(3),
            (Self::Index(i), _) if (i as usize) < format.channels() => Some(i as usize),
            _ => None,
        }
    }
}

/// The bits of a binary32 number: compared as such, so that 0 and -0 are two constants and NaN is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bits(u32);

impl Bits {
    /// Of a number; every NaN becomes the one that Rust calls `f32::NAN`.
    pub const fn new(value: f32) -> Self {
        Self(if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() })
    }

    /// The number.
    pub const fn get(self) -> f32 {
        f32::from_bits(self.0)
    }
}

/// Operations on one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-a`: the sign bit turned.
    Neg,
    /// The sign bit cleared.
    Abs,
    /// Correctly rounded.
    Sqrt,
    /// The greatest whole number not above.
    Floor,
    /// The smallest whole number not below.
    Ceil,
    /// The nearest whole number, ties to even.
    Round,
    /// The greatest whole number n with `2^n <= |a|`, for subnormal numbers too: -infinity for 0, infinity for infinity, NaN for
    /// NaN. Exact.
    Exponent,
    /// `|a| / 2^n` with that n: from 1 to below 2, and 1 for 0 and infinity; NaN for NaN. Exact.
    Significand,
    /// `2^n` with the nearest whole number n, ties to even: 0 below -149, infinity above 127, NaN for NaN. Exact, for subnormal
    /// results too.
    PowerOfTwo,
}

/// Operations on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`, correctly rounded.
    Div,
    /// `a < b ? a : b`: the second when one is NaN.
    Min,
    /// `a > b ? a : b`: the second when one is NaN.
    Max,
}

/// Comparisons; all but `Ne` are false when a number is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compare {
    /// `a < b`.
    Lt,
    /// `a <= b`.
    Le,
    /// `a > b`.
    Gt,
    /// `a >= b`.
    Ge,
    /// `a == b`.
    Eq,
    /// `a != b`; true when a number is NaN.
    Ne,
}

impl Unary {
    /// The operation.
    #[inline(always)]
    pub fn apply(self, a: f32) -> f32 {
        match self {
            Self::Neg => -a,
            Self::Abs => a.abs(),
            Self::Sqrt => a.sqrt(),
            Self::Floor => a.floor(),
            Self::Ceil => a.ceil(),
            Self::Round => a.round_ties_even(),
            Self::Exponent => exponents::exponent(a),
            Self::Significand => exponents::significand(a),
            Self::PowerOfTwo => exponents::power_of_two(a),
        }
    }
}

impl Binary {
    /// The operation.
    #[inline(always)]
    pub fn apply(self, a: f32, b: f32) -> f32 {
        match self {
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::Mul => a * b,
            Self::Div => a / b,
            Self::Min => {
                if a < b {
                    a
                } else {
                    b
                }
            }
            Self::Max => {
                if a > b {
                    a
                } else {
                    b
                }
            }
        }
    }
}

impl Compare {
    /// Whether it holds.
    #[inline(always)]
    pub fn holds(self, a: f32, b: f32) -> bool {
        match self {
            Self::Lt => a < b,
            Self::Le => a <= b,
            Self::Gt => a > b,
            Self::Ge => a >= b,
            Self::Eq => a == b,
            Self::Ne => a != b,
        }
    }
}

/// `(299 r + 587 g + 114 b) / 1000` to the nearest whole number, ties to even, exactly; each of the three is rounded to
/// the nearest of -32768 to 65535 first (ties to even, NaN to 0). The weights are those of ITU-R BT.601.
#[inline(always)]
pub fn luma(r: f32, g: f32, b: f32) -> f32 {
    let [r, g, b] = [r, g, b].map(whole);
    let n = 299 * r + 587 * g + 114 * b;
    let (quotient, rest) = (n / 1000, n % 1000);
    // Up when above the middle, or on it with an odd quotient.
    let luma = quotient + i32::from(rest + (quotient & 1) > 500);
    (luma - WHOLE_OFFSET) as f32
}

/// Makes the smallest number of [`luma`] 0. It is even, so that ties stay what they are.
const WHOLE_OFFSET: i32 = 32768;

/// [`WHOLE_OFFSET`] and the nearest of -32768 to 65535: 1.5 * 2^23 leaves no bit for a fraction, so that adding it rounds.
#[inline(always)]
fn whole(value: f32) -> i32 {
    const ROUNDER: f32 = 12_582_912.0;
    let number = if value.is_nan() { 0.0 } else { value };
    let low = if number > -32768.0 { number } else { -32768.0 };
    let clamped = if low < 65535.0 { low } else { 65535.0 };
    ((clamped + ROUNDER) - ROUNDER) as i32 + WHOLE_OFFSET
}

impl Expr {
    /// Input images at most.
    pub const MAX_INPUTS: usize = 4;
    /// Operations at most.
    pub const MAX_OPS: usize = 1024;
    /// Uniforms at most.
    pub const MAX_UNIFORMS: usize = 64;

    /// The operations, producers first.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// What its results are.
    pub const fn results(&self) -> &Results {
        &self.results
    }

    /// Names of the uniforms, in the order of their numbers.
    pub fn uniforms(&self) -> &[String] {
        &self.uniforms
    }

    /// The tables that it looks up in, in the order of their numbers.
    pub fn tables(&self) -> &[LookupTable] {
        &self.tables
    }

    /// Whether both are the same operations, whatever the numbers in tables of equal sizes are.
    pub fn same_program(&self, other: &Self) -> bool {
        let sizes = |expr: &Self| expr.tables.iter().map(LookupTable::len).collect::<Vec<_>>();
        (&self.ops, &self.results, &self.uniforms) == (&other.ops, &other.results, &other.uniforms)
            && sizes(self) == sizes(other)
    }

    /// Number of input images: one more than the highest slot read, at least 1.
    pub fn input_count(&self) -> usize {
        let slots = self.ops.iter().filter_map(|op| match *op {
            Op::Input { slot, .. } => Some(usize::from(slot) + 1),
            _ => None,
        });
        slots.max().unwrap_or(1)
    }

    /// Columns and rows that it reads to each side of a pixel: 0 and 0 of an expression of the pixel's own samples.
    pub fn reach(&self) -> (u32, u32) {
        let offsets = self.ops.iter().filter_map(|op| match *op {
            Op::Input { at, .. } => Some((u32::from(at.dx.unsigned_abs()), u32::from(at.dy.unsigned_abs()))),
            Op::Position(_)
            | Op::Uniform(_)
            | Op::Const(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::Luma(..)
            | Op::Lookup(..)
            | Op::Select { .. } => None,
        });
        offsets.fold((0, 0), |(x, y), (dx, dy)| (x.max(dx), y.max(dy)))
    }

    /// Operations that compute (inputs, uniforms and constants left out); a luma counts as three, and so does a number from memory.
    pub fn operations(&self) -> usize {
        let count = |op: &Op| match op {
            Op::Input { .. } | Op::Position(_) | Op::Uniform(_) | Op::Const(_) => 0,
            Op::Unary(..) | Op::Binary(..) | Op::Fma(..) | Op::Select { .. } => 1,
            Op::Luma(..) | Op::Lookup(..) => 3,
        };
        self.ops.iter().map(count).sum()
    }

    /// Whether it depends on where a pixel lies.
    pub fn reads_position(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Position(_)))
    }

    /// The values of all operations for the pixel in column `x` and row `y`, in the order of [`Expr::ops`], into `values`;
    /// `input(slot, channel, at)` tells a sample.
    pub fn evaluate(
        &self,
        (x, y): (u32, u32),
        input: impl Fn(u8, Channel, Offset) -> f32,
        uniforms: &[f32],
        values: &mut Vec<f32>,
    ) {
        values.clear();
        for op in &self.ops {
            let at = |id: ValueId| values[usize::from(id)];
            let value = match *op {
                Op::Input { slot, channel, at } => input(slot, channel, at),
                Op::Position(Axis::X) => x as f32,
                Op::Position(Axis::Y) => y as f32,
                Op::Uniform(index) => uniforms[usize::from(index)],
                Op::Const(bits) => bits.get(),
                Op::Unary(op, a) => op.apply(at(a)),
                Op::Binary(op, a, b) => op.apply(at(a), at(b)),
                Op::Fma(a, b, c) => at(a).mul_add(at(b), at(c)),
                Op::Luma(r, g, b) => luma(at(r), at(g), at(b)),
                Op::Lookup(table, a) => self.tables[usize::from(table)].at(at(a)),
                Op::Select { compare, a, b, then, other } => {
                    if compare.holds(at(a), at(b)) {
                        at(then)
                    } else {
                        at(other)
                    }
                }
            };
            values.push(value);
        }
    }
}
