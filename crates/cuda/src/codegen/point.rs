//! Expressions as CUDA C++: one line an operation, in the registers of a thread.
//!
//! What an expression looks up lies in device memory, all its tables behind each other, and is read through the read-only cache: constant
//! memory takes as long as there are different addresses in a warp, and pixels have different colours.

use std::borrow::Cow;
use std::fmt::Write as _;

use mip_core::{DType, ImageDesc};
use mip_plan::{Axis, Binary, Channel, Expr, Kernel, LookupTable, Op, Results, Stencil, Unary, ValueId};

use super::rank::median_side;
use super::stage::Table;
use super::text::sample;

/// Names of a pixel's samples, by input.
const INPUTS: [&str; Expr::MAX_INPUTS] = ["a", "b", "c", "d"];

/// The functor of a stage.
pub(super) fn functor_name(stage: usize) -> String {
    format!("Expr{stage}")
}

/// The stencil that a stage computes as its expression says; `None` when it is no stencil, or one with a kernel of its own.
pub(super) fn stencil<'a>(kernel: &'a Kernel, input: &ImageDesc, output: &ImageDesc) -> Option<&'a Stencil> {
    let Kernel::Stencil(k) = kernel else { return None };
    (!k.is_gray_sobel(input, output)).then_some(k)
}

/// The functor of stage `index`, empty for a kernel that needs none. Its `of` computes the unrounded channels `o` of a pixel
/// with the uniforms `u` and the tables `t` in column `x` and row `y`: of a point expression from the samples of its inputs,
/// `of(o, a, b, c, d, u, t, x, y)`; of a stencil from the pixels `w` around it, `of(o, w, u, t, x, y)`.
///
/// # Errors
/// When the expression does not fit the images, which a checked plan's does.
pub(super) fn functor(
    kernel: &Kernel,
    index: usize,
    inputs: &[ImageDesc],
    output: &ImageDesc,
) -> Result<String, String> {
    let (expr, head) = match kernel {
        Kernel::Point(k) if k.known(inputs, output).is_none() => {
            let samples = INPUTS.map(|input| format!("const float* {input}")).join(", ");
            (
                &k.expr,
                format!(
                    "static INLINE void of(float* o, {samples}, const float* u, const float* t, int x, int y)"
                ),
            )
        }
        Kernel::Stencil(k)
            if inputs.iter().any(|input| {
                stencil(kernel, input, output).is_some() && median_side(kernel, input, output).is_none()
            }) =>
        {
            let head = "template <class W> static INLINE void of(float* o, const W& w, const float* u, const float* t, int x, int y)";
            (&k.expr, head.to_owned())
        }
        Kernel::Stencil(_)
        | Kernel::Point(_)
        | Kernel::Gather(_)
        | Kernel::Warp(_)
        | Kernel::Resample(_)
        | Kernel::Separable(_)
        | Kernel::Whole(_)
        | Kernel::Custom(_) => return Ok(String::new()),
    };
    let resolved = expr.resolve(inputs, output)?;
    let near = matches!(kernel, Kernel::Stencil(_));
    let mut text = format!("// {expr}\nstruct {} {{\n    {head} {{\n", functor_name(index));
    for (id, &op) in resolved.ops().iter().enumerate() {
        let _ = writeln!(text, "        const float t{id} = {};", operation(&resolved, op, near));
    }
    let Results::Channels(results) = resolved.results() else { unreachable!("a resolved expression") };
    for (channel, result) in results.iter().enumerate() {
        let _ = writeln!(text, "        o[{channel}] = t{result};");
    }
    text.push_str("    }\n};\n");
    Ok(text)
}

/// All tables that the functor of a kernel looks up in, behind each other, for the pointer of this name.
pub(super) fn tables(
    kernel: &Kernel,
    field: impl Into<Cow<'static, str>>,
    inputs: &[ImageDesc],
    output: &ImageDesc,
) -> Option<Table> {
    let expr = kernel.expression().filter(|expr| !expr.tables().is_empty())?;
    // In the order in which the functor has them.
    let resolved = expr.resolve(inputs, output).ok()?;
    let numbers = resolved.tables().iter().flat_map(LookupTable::numbers);
    Some(Table { field: field.into(), bytes: numbers.flat_map(f32::to_ne_bytes).collect() })
}

/// The call that computes a vector of `n` pixels in registers, rounded to the output's dtype, `given` uniforms and tables.
pub(super) fn point_vector(
    (functor, dtype, n): (&str, DType, i64),
    (channels, out): (&[usize], usize),
    name: &str,
    inputs: &[String],
    given: &str,
    (x, y): (&str, &str),
) -> String {
    let channel = |i: usize| channels.get(i).copied().unwrap_or(0).to_string();
    let input = |i: usize| inputs.get(i).map_or("nullptr", String::as_str);
    let counts: Vec<String> = (0..Expr::MAX_INPUTS).map(channel).collect();
    let values: Vec<&str> = (0..Expr::MAX_INPUTS).map(input).collect();
    format!(
        "point<{functor}, {}, {n}, {out}, {}>({name}, {}, {given}, {x}, {y});",
        sample(dtype),
        counts.join(", "),
        values.join(", ")
    )
}

fn operation(expr: &Expr, op: Op, near: bool) -> String {
    let t = |id: ValueId| format!("t{id}");
    match op {
        Op::Input { channel: Channel::Index(i), at, .. } if near => {
            format!("w.of({i}, {}, {})", at.dx, at.dy)
        }
        Op::Input { slot, channel: Channel::Index(i), .. } => format!("{}[{i}]", INPUTS[usize::from(slot)]),
        Op::Input { .. } => unreachable!("a resolved expression names channels by index"),
        Op::Position(Axis::X) => "(float)x".to_owned(),
        Op::Position(Axis::Y) => "(float)y".to_owned(),
        Op::Uniform(index) => format!("u[{index}]"),
        Op::Const(bits) => number(bits.get()),
        Op::Unary(op, a) => unary(op, &t(a)),
        Op::Binary(op, a, b) => binary(op, &t(a), &t(b)),
        Op::Fma(a, b, c) => format!("__fmaf_rn({}, {}, {})", t(a), t(b), t(c)),
        Op::Luma(r, g, b) => format!("luma({}, {}, {})", t(r), t(g), t(b)),
        Op::Lookup(table, a) => {
            let (before, rest) = expr.tables().split_at(usize::from(table));
            let start: usize = before.iter().map(LookupTable::len).sum();
            format!("lookup(t + {start}, {}, {})", rest[0].len() - 1, t(a))
        }
        Op::Select { compare, a, b, then, other } => {
            format!("{} {} {} ? {} : {}", t(a), compare.sign(), t(b), t(then), t(other))
        }
    }
}

fn unary(op: Unary, a: &str) -> String {
    match op {
        Unary::Neg => format!("-{a}"),
        Unary::Abs => format!("fabsf({a})"),
        Unary::Sqrt => format!("__fsqrt_rn({a})"),
        Unary::Floor => format!("floorf({a})"),
        Unary::Ceil => format!("ceilf({a})"),
        Unary::Round => format!("rintf({a})"),
        Unary::Exponent => format!("exponent_of({a})"),
        Unary::Significand => format!("significand_of({a})"),
        Unary::PowerOfTwo => format!("power_of_two({a})"),
    }
}

fn binary(op: Binary, a: &str, b: &str) -> String {
    match op {
        Binary::Add => format!("{a} + {b}"),
        Binary::Sub => format!("{a} - {b}"),
        Binary::Mul => format!("{a} * {b}"),
        Binary::Div => format!("__fdiv_rn({a}, {b})"),
        Binary::Min => format!("{a} < {b} ? {a} : {b}"),
        Binary::Max => format!("{a} > {b} ? {a} : {b}"),
    }
}

/// A constant: its shortest decimal form, which reads back as the same number, or its bits.
fn number(v: f32) -> String {
    if v.is_finite() { format!("{v:?}f") } else { format!("__uint_as_float(0x{:08X}u)", v.to_bits()) }
}
