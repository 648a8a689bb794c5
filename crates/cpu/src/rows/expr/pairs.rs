//! Two images of bytes, sample by sample, in binary32 and in one pass: scaled products and weighted sums.

use std::ops::Range;

use mip_core::{DType, ImageDesc};
use mip_plan::{Binary, Channel, Expr, Offset, Op, Results, ValueId};

use super::is_flat;
use super::program::Number;
use crate::rows::Job;
use crate::rows::row::RowMut;
use crate::simd::{Block, Vector, chunks, chunks_mut};

/// What is computed of two inputs, whose numbers come first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Pairs {
    /// `a * b * scale`.
    Product([usize; 2], Number),
    /// `fma(a, alpha, fma(b, beta, gamma))`.
    Weighted([usize; 2], [Number; 3]),
}

impl Pairs {
    /// `None` when it is another expression, or of other images.
    pub(super) fn of(expr: &Expr, inputs: &[ImageDesc], output: &ImageDesc) -> Option<Self> {
        let bytes = inputs.iter().chain([output]).all(|desc| desc.dtype() == DType::U8);
        if !bytes || !is_flat(expr, inputs, output) {
            return None;
        }
        let Results::EachChannel(root) = expr.results() else { return None };
        let op = |id: ValueId| expr.ops()[usize::from(id)];
        let slot = |id: ValueId| match op(id) {
            Op::Input { slot, channel: Channel::Own, at: Offset::NONE } => Some(usize::from(slot)),
            _ => None,
        };
        let number = |id: ValueId| match op(id) {
            Op::Uniform(index) => Some(Number::Uniform(index)),
            Op::Const(bits) => Some(Number::Const(bits.get())),
            _ => None,
        };
        match op(*root) {
            Op::Binary(Binary::Mul, product, scale) => match op(product) {
                Op::Binary(Binary::Mul, a, b) => Some(Self::Product([slot(a)?, slot(b)?], number(scale)?)),
                _ => None,
            },
            Op::Fma(a, alpha, rest) => match op(rest) {
                Op::Fma(b, beta, gamma) => Some(Self::Weighted(
                    [slot(a)?, slot(b)?],
                    [number(alpha)?, number(beta)?, number(gamma)?],
                )),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn run(self, job: &Job<'_>, output: &ImageDesc, out: &mut RowMut<'_>) {
        let get = |number: Number| number.get(job.uniforms);
        for plane in 0..output.planes() {
            let out = out.plane::<u8>(plane);
            let rows = |slots: [usize; 2]| slots.map(|slot| job.own(slot).plane::<u8>(plane));
            let count = out.len();
            match self {
                Self::Product(slots, scale) => {
                    job.level.drive(Product { of: rows(slots), scale: get(scale), out }, count);
                }
                Self::Weighted(slots, numbers) => {
                    job.level.drive(Weighted { of: rows(slots), numbers: numbers.map(get), out }, count);
                }
            }
        }
    }
}

struct Product<'a> {
    of: [&'a [u8]; 2],
    scale: f32,
    out: &'a mut [u8],
}

impl Block for Product<'_> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let [a, b] = self.of.map(|row| chunks::<_, N>(row, range.clone()));
        let scale = v.splat(self.scale);
        for (out, (a, b)) in chunks_mut(self.out, range).iter_mut().zip(a.iter().zip(b)) {
            // Exact, so that only the scale is rounded.
            let mut products = [0; N];
            for (product, (&a, &b)) in products.iter_mut().zip(a.iter().zip(b)) {
                *product = u16::from(a) * u16::from(b);
            }
            v.store_u8(v.mul(v.load_u16(&products), scale), out);
        }
    }
}

struct Weighted<'a> {
    of: [&'a [u8]; 2],
    numbers: [f32; 3],
    out: &'a mut [u8],
}

impl Block for Weighted<'_> {
    #[inline(always)]
    fn blocks<const N: usize, V: Vector<N>>(&mut self, v: V, range: Range<usize>) {
        let [a, b] = self.of.map(|row| chunks::<_, N>(row, range.clone()));
        let [alpha, beta, gamma] = self.numbers.map(|number| v.splat(number));
        for (out, (a, b)) in chunks_mut(self.out, range).iter_mut().zip(a.iter().zip(b)) {
            v.store_u8(v.fma(v.load_u8(a), alpha, v.fma(v.load_u8(b), beta, gamma)), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mip_ops::{Arithmetic, ArithmeticOp, Operator};
    use mip_plan::Kernel;

    fn of(operator: &Arithmetic, dtype: DType) -> Option<Pairs> {
        let image = ImageDesc::new(5, 2, mip_core::PixelFormat::Rgb, dtype).unwrap();
        let step = operator.lower(&[image; 2]).unwrap().steps.remove(0);
        let Kernel::Point(point) = step.kernel else { panic!("{:?}", step.kernel) };
        Pairs::of(&point.expr, &[image; 2], &step.output)
    }

    #[test]
    fn products_and_weighted_sums_of_bytes_are_found() {
        let (scaled, bytes) = (|op| Arithmetic::new(op).scale(0.3), DType::U8);
        let multiply = scaled(ArithmeticOp::Multiply);
        assert!(matches!(of(&multiply, bytes), Some(Pairs::Product([0, 1], _))));
        assert_eq!(of(&scaled(ArithmeticOp::Divide), bytes), None);
        let weighted = Arithmetic::weighted(0.3, -2.0, 5.0);
        let Some(Pairs::Weighted([0, 1], [a, b, c])) = of(&weighted, bytes) else { panic!("a sum") };
        assert!(a != b && b != c && a != c);
        assert_eq!(of(&multiply, DType::U16), None);
        assert_eq!(of(&Arithmetic::new(ArithmeticOp::Add), bytes), None);
    }
}
