//! What elementary functions are written over: operations that an expression gets, or numbers.

use super::{Binary, Compare, ExprBuilder, Unary, ValueId};

/// What functions are computed with: operations that an expression gets, or numbers.
pub(super) trait Calculator {
    type Number: Copy;

    fn constant(&mut self, value: f32) -> Self::Number;
    fn unary(&mut self, op: Unary, a: Self::Number) -> Self::Number;
    fn binary(&mut self, op: Binary, a: Self::Number, b: Self::Number) -> Self::Number;
    fn fma(&mut self, a: Self::Number, b: Self::Number, c: Self::Number) -> Self::Number;
    /// `compare(a, b) ? then : other`.
    fn select(&mut self, compare: Compare, of: [Self::Number; 2], then: [Self::Number; 2]) -> Self::Number;
    /// The number, where it is known now.
    fn known(&self, a: Self::Number) -> Option<f32>;
}

impl Calculator for ExprBuilder {
    type Number = ValueId;

    fn constant(&mut self, value: f32) -> ValueId {
        Self::constant(self, value)
    }

    fn unary(&mut self, op: Unary, a: ValueId) -> ValueId {
        Self::unary(self, op, a)
    }

    fn binary(&mut self, op: Binary, a: ValueId, b: ValueId) -> ValueId {
        Self::binary(self, op, a, b)
    }

    fn fma(&mut self, a: ValueId, b: ValueId, c: ValueId) -> ValueId {
        Self::fma(self, a, b, c)
    }

    fn select(&mut self, compare: Compare, of: [ValueId; 2], then: [ValueId; 2]) -> ValueId {
        Self::select(self, compare, of, then)
    }

    fn known(&self, a: ValueId) -> Option<f32> {
        self.number(a)
    }
}

/// Numbers, computed at once.
pub(super) struct Numbers;

impl Calculator for Numbers {
    type Number = f32;

    #[inline(always)]
    fn constant(&mut self, value: f32) -> f32 {
        value
    }

    #[inline(always)]
    fn unary(&mut self, op: Unary, a: f32) -> f32 {
        op.apply(a)
    }

    #[inline(always)]
    fn binary(&mut self, op: Binary, a: f32, b: f32) -> f32 {
        op.apply(a, b)
    }

    #[inline(always)]
    fn fma(&mut self, a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }

    #[inline(always)]
    fn select(&mut self, compare: Compare, [a, b]: [f32; 2], [then, other]: [f32; 2]) -> f32 {
        if compare.holds(a, b) { then } else { other }
    }

    #[inline(always)]
    fn known(&self, _: f32) -> Option<f32> {
        None
    }
}
