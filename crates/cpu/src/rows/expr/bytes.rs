//! Expressions of bytes that are one instruction for bytes: sums and differences of two, and the negative of one.

use mip_core::ImageDesc;
use mip_plan::Unary;

use super::fixed::Root;
use super::program::{Node, Number, Start};
use crate::rows::Job;
use crate::rows::row::RowMut;

/// Of inputs by their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bytes {
    Sum([usize; 2]),
    Difference([usize; 2]),
    Distance([usize; 2]),
    Negative(usize),
}

impl Bytes {
    /// What a result is, of pixels that read nothing beside themselves.
    pub(super) fn of(nodes: &[Node], root: Root) -> Option<Self> {
        let slot = |node: usize| match nodes[node] {
            Node::Tap { slot, .. } => Some(usize::from(slot)),
            _ => None,
        };
        let two = |node: usize| match &nodes[node] {
            Node::Sum { start: Start::Number(Number::Const(0.0)), terms } => match terms[..] {
                [(a, Number::Const(x)), (b, Number::Const(y))] => Some(([slot(a)?, slot(b)?], [x, y])),
                _ => None,
            },
            _ => None,
        };
        if root.exponent > 0 {
            return None;
        }
        match &nodes[root.node] {
            Node::Unary(Unary::Abs, of) => match two(*of)? {
                (slots, [1.0, -1.0] | [-1.0, 1.0]) => Some(Self::Distance(slots)),
                _ => None,
            },
            Node::Sum { start: Start::Number(Number::Const(255.0)), terms } => match terms[..] {
                [(a, Number::Const(-1.0))] => Some(Self::Negative(slot(a)?)),
                _ => None,
            },
            _ => match two(root.node)? {
                (slots, [1.0, 1.0]) => Some(Self::Sum(slots)),
                (slots, [1.0, -1.0]) => Some(Self::Difference(slots)),
                ([a, b], [-1.0, 1.0]) => Some(Self::Difference([b, a])),
                _ => None,
            },
        }
    }

    pub(super) fn run(self, job: &Job<'_>, output: &ImageDesc, out: &mut RowMut<'_>) {
        for plane in 0..output.planes() {
            let out = out.plane::<u8>(plane);
            let rows = |slots: [usize; 2]| slots.map(|slot| job.own(slot).plane::<u8>(plane));
            match self {
                Self::Sum(slots) => each(job, rows(slots), out, u8::saturating_add),
                Self::Difference(slots) => each(job, rows(slots), out, u8::saturating_sub),
                Self::Distance(slots) => each(job, rows(slots), out, u8::abs_diff),
                Self::Negative(slot) => each(job, rows([slot; 2]), out, |a, _| !a),
            }
        }
    }
}

#[inline(always)]
fn each(job: &Job<'_>, [a, b]: [&[u8]; 2], out: &mut [u8], f: impl Fn(u8, u8) -> u8) {
    job.level.vectorize(
        #[inline(always)]
        || {
            let out = out;
            for (out, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
                *out = f(a, b);
            }
        },
    );
}
