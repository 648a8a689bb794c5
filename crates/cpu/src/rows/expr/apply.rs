//! The operations on blocks of numbers.

use mip_plan::{Binary, Compare, Unary};

use super::Values;
use crate::simd::Level;

/// Applies `f` to each value of a block with a level's instructions.
#[inline(always)]
fn each<const K: usize>(level: Level, from: [&Values; K], to: &mut Values, f: impl Fn([f32; K]) -> f32) {
    level.vectorize(
        #[inline(always)]
        || {
            let to = to;
            for (i, to) in to.iter_mut().enumerate() {
                let mut values = [0.0; K];
                for (value, from) in values.iter_mut().zip(&from) {
                    *value = from[i];
                }
                *to = f(values);
            }
        },
    );
}

pub(super) fn unary(level: Level, op: Unary, a: &Values, to: &mut Values) {
    match op {
        Unary::Neg => each(level, [a], to, |[a]| Unary::Neg.apply(a)),
        Unary::Abs => each(level, [a], to, |[a]| Unary::Abs.apply(a)),
        Unary::Sqrt => each(level, [a], to, |[a]| Unary::Sqrt.apply(a)),
        Unary::Floor => each(level, [a], to, |[a]| Unary::Floor.apply(a)),
        Unary::Ceil => each(level, [a], to, |[a]| Unary::Ceil.apply(a)),
        Unary::Round => each(level, [a], to, |[a]| Unary::Round.apply(a)),
    }
}

pub(super) fn binary(level: Level, op: Binary, from: [&Values; 2], to: &mut Values) {
    match op {
        Binary::Add => each(level, from, to, |[a, b]| Binary::Add.apply(a, b)),
        Binary::Sub => each(level, from, to, |[a, b]| Binary::Sub.apply(a, b)),
        Binary::Mul => each(level, from, to, |[a, b]| Binary::Mul.apply(a, b)),
        Binary::Div => each(level, from, to, |[a, b]| Binary::Div.apply(a, b)),
        Binary::Min => each(level, from, to, |[a, b]| Binary::Min.apply(a, b)),
        Binary::Max => each(level, from, to, |[a, b]| Binary::Max.apply(a, b)),
    }
}

pub(super) fn fma(level: Level, from: [&Values; 3], to: &mut Values) {
    each(level, from, to, |[a, b, c]| a.mul_add(b, c));
}

pub(super) fn select(level: Level, compare: Compare, from: [&Values; 4], to: &mut Values) {
    match compare {
        Compare::Lt => each(level, from, to, |[a, b, x, y]| if a < b { x } else { y }),
        Compare::Le => each(level, from, to, |[a, b, x, y]| if a <= b { x } else { y }),
        Compare::Gt => each(level, from, to, |[a, b, x, y]| if a > b { x } else { y }),
        Compare::Ge => each(level, from, to, |[a, b, x, y]| if a >= b { x } else { y }),
        Compare::Eq => each(level, from, to, |[a, b, x, y]| if a == b { x } else { y }),
        Compare::Ne => each(level, from, to, |[a, b, x, y]| if a == b { y } else { x }),
    }
}
