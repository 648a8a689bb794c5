//! The operations on blocks of numbers.

use mip_plan::{Binary, Compare, Unary};

use super::Values;
use crate::simd::Level;

/// Applies `f` to each value of a block with a level's instructions. One function a number of operands, each a plain walk
/// side by side: what is indexed is not turned into vectors.
#[inline(always)]
fn each1(level: Level, a: &Values, to: &mut Values, f: impl Fn(f32) -> f32) {
    level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (to, &a) in to.iter_mut().zip(a) {
                *to = f(a);
            }
        },
    );
}

#[inline(always)]
fn each2(level: Level, [a, b]: [&Values; 2], to: &mut Values, f: impl Fn(f32, f32) -> f32) {
    level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (to, (&a, &b)) in to.iter_mut().zip(a.iter().zip(b)) {
                *to = f(a, b);
            }
        },
    );
}

#[inline(always)]
fn each3(level: Level, [a, b, c]: [&Values; 3], to: &mut Values, f: impl Fn(f32, f32, f32) -> f32) {
    level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (to, ((&a, &b), &c)) in to.iter_mut().zip(a.iter().zip(b).zip(c)) {
                *to = f(a, b, c);
            }
        },
    );
}

#[inline(always)]
fn each4(level: Level, [a, b, x, y]: [&Values; 4], to: &mut Values, f: impl Fn([f32; 4]) -> f32) {
    level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            let from = a.iter().zip(b).zip(x.iter().zip(y));
            for (to, ((&a, &b), (&x, &y))) in to.iter_mut().zip(from) {
                *to = f([a, b, x, y]);
            }
        },
    );
}

pub(super) fn unary(level: Level, op: Unary, a: &Values, to: &mut Values) {
    match op {
        Unary::Neg => each1(level, a, to, |a| Unary::Neg.apply(a)),
        Unary::Abs => each1(level, a, to, |a| Unary::Abs.apply(a)),
        Unary::Sqrt => each1(level, a, to, |a| Unary::Sqrt.apply(a)),
        Unary::Floor => each1(level, a, to, |a| Unary::Floor.apply(a)),
        Unary::Ceil => each1(level, a, to, |a| Unary::Ceil.apply(a)),
        Unary::Round => each1(level, a, to, |a| Unary::Round.apply(a)),
    }
}

pub(super) fn binary(level: Level, op: Binary, from: [&Values; 2], to: &mut Values) {
    match op {
        Binary::Add => each2(level, from, to, |a, b| Binary::Add.apply(a, b)),
        Binary::Sub => each2(level, from, to, |a, b| Binary::Sub.apply(a, b)),
        Binary::Mul => each2(level, from, to, |a, b| Binary::Mul.apply(a, b)),
        Binary::Div => each2(level, from, to, |a, b| Binary::Div.apply(a, b)),
        Binary::Min => each2(level, from, to, |a, b| Binary::Min.apply(a, b)),
        Binary::Max => each2(level, from, to, |a, b| Binary::Max.apply(a, b)),
    }
}

/// The columns of pixels side by side.
pub(super) fn columns(level: Level, first: usize, to: &mut Values) {
    level.vectorize(
        #[inline(always)]
        || {
            let first = first as u32;
            for (to, i) in to.iter_mut().zip(0_u32..) {
                *to = first.wrapping_add(i) as f32;
            }
        },
    );
}

pub(super) fn fma(level: Level, from: [&Values; 3], to: &mut Values) {
    each3(level, from, to, f32::mul_add);
}

pub(super) fn luma(level: Level, from: [&Values; 3], to: &mut Values) {
    each3(level, from, to, mip_plan::luma);
}

pub(super) fn select(level: Level, compare: Compare, from: [&Values; 4], to: &mut Values) {
    match compare {
        Compare::Lt => each4(level, from, to, |[a, b, x, y]| if a < b { x } else { y }),
        Compare::Le => each4(level, from, to, |[a, b, x, y]| if a <= b { x } else { y }),
        Compare::Gt => each4(level, from, to, |[a, b, x, y]| if a > b { x } else { y }),
        Compare::Ge => each4(level, from, to, |[a, b, x, y]| if a >= b { x } else { y }),
        Compare::Eq => each4(level, from, to, |[a, b, x, y]| if a == b { x } else { y }),
        Compare::Ne => each4(level, from, to, |[a, b, x, y]| if a == b { y } else { x }),
    }
}
