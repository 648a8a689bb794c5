//! Elementary functions, made of the operations of expressions, so that every device computes the same bits without a library's
//! version of its own.
//!
//! Where results are normal numbers, they are off by at most 4 units in the last place (2 in most cases).
//! Below the least normal number a result may be off by one more of the smallest steps, or be 0. Polynomials interpolate at Chebyshev
//! nodes; arguments are reduced as in W. J. Cody and W. Waite, "Software Manual for the Elementary Functions" (1980).

use super::calculator::{Calculator, Numbers};
use super::{Binary, Compare, ExprBuilder, Unary, ValueId};

/// An elementary function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// The cube root, negative for negative numbers.
    Cbrt,
    /// `e^a`.
    Exp,
    /// `2^a`; exact for whole numbers down to -148.
    Exp2,
    /// The natural logarithm: -infinity of 0, NaN below.
    Log,
    /// The binary logarithm, likewise; exact for powers of two.
    Log2,
    /// `a^b`, as C's `pow` defines it for finite b: 1 where b is 0; NaN for negative `a`, unless `b` is whole; 0 or infinity for `a = 0`. A
    /// zero has no sign, and -infinity is a negative number like any other.
    Pow,
}

impl Function {
    /// All of them, by name.
    pub const ALL: [Self; 6] = [Self::Cbrt, Self::Exp, Self::Exp2, Self::Log, Self::Log2, Self::Pow];

    /// Its name in expressions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cbrt => "cbrt",
            Self::Exp => "exp",
            Self::Exp2 => "exp2",
            Self::Log => "log",
            Self::Log2 => "log2",
            Self::Pow => "pow",
        }
    }

    /// How many numbers it takes.
    pub const fn operands(self) -> usize {
        match self {
            Self::Cbrt | Self::Exp | Self::Exp2 | Self::Log | Self::Log2 => 1,
            Self::Pow => 2,
        }
    }
}

/// log2(e) and log2(e) / -2, each with what rounding leaves of it.
const LOG2_E: [f32; 2] = [std::f32::consts::LOG2_E, 1.925_963e-8];
const HALF_LOG2_E: [f32; 2] = [-0.721_347_5, -9.629_815e-9];

/// `(log2(1 + z) - z log2(e) + z^2 log2(e) / 2) / z^3` for `sqrt(1/2) - 1 <= z <= sqrt(2) - 1`, from the highest power on.
const LOG2_REST: [f32; 9] = [
    0.100_579_09,
    -0.165_617_56,
    0.168_584_97,
    -0.179_264_77,
    0.205_570_44,
    -0.240_465_55,
    0.288_549_33,
    -0.360_673_73,
    0.480_898_32,
];

/// `2 (2^f - 1) / f` for `-1/2 <= f <= 1/2`, from the highest power on.
const EXP2: [f32; 7] =
    [3.059_465e-5, 0.000_309_228_9, 0.002_666_700_4, 0.019_236_114, 0.111_008_22, 0.480_453, 1.386_294_4];

impl Function {
    /// The function of numbers, with the bits of [`ExprBuilder::function`]; `b` counts for [`Function::Pow`] alone, and must be neither 1
    /// nor 2 there.
    #[inline(always)]
    pub fn apply(self, a: f32, b: f32) -> f32 {
        let mut numbers = With(&mut Numbers);
        match self {
            Self::Cbrt => numbers.cbrt(a),
            Self::Exp => numbers.exp(a),
            Self::Exp2 => numbers.exp2(a, None),
            Self::Log => numbers.log(a),
            Self::Log2 => numbers.log2(a),
            Self::Pow => numbers.pow(a, b),
        }
    }
}

impl ExprBuilder {
    /// An elementary function of one or two numbers, operation by operation.
    ///
    /// # Panics
    /// With other than [`Function::operands`] numbers.
    pub fn function(&mut self, function: Function, operands: &[ValueId]) -> ValueId {
        assert_eq!(operands.len(), function.operands(), "operands of {}", function.name());
        let (a, mut of) = (operands[0], With(self));
        match function {
            Function::Cbrt => of.cbrt(a),
            Function::Exp => of.exp(a),
            Function::Exp2 => of.exp2(a, None),
            Function::Log => of.log(a),
            Function::Log2 => of.log2(a),
            Function::Pow => of.pow(a, operands[1]),
        }
    }
}

/// The functions, written once.
struct With<'a, C>(&'a mut C);

impl<C: Calculator> With<'_, C> {
    #[inline(always)]
    fn add(&mut self, a: C::Number, b: C::Number) -> C::Number {
        self.0.binary(Binary::Add, a, b)
    }

    #[inline(always)]
    fn sub(&mut self, a: C::Number, b: C::Number) -> C::Number {
        self.0.binary(Binary::Sub, a, b)
    }

    #[inline(always)]
    fn mul(&mut self, a: C::Number, b: C::Number) -> C::Number {
        self.0.binary(Binary::Mul, a, b)
    }

    #[inline(always)]
    fn times(&mut self, a: C::Number, factor: f32) -> C::Number {
        let factor = self.0.constant(factor);
        self.mul(a, factor)
    }

    /// `a * factor`, and what rounding leaves of it.
    #[inline(always)]
    fn product(&mut self, a: C::Number, factor: C::Number) -> (C::Number, C::Number) {
        let product = self.mul(a, factor);
        let minus = self.0.unary(Unary::Neg, product);
        (product, self.0.fma(a, factor, minus))
    }

    /// The sum of two numbers, of which the first is the larger one or 0, and what rounding leaves of it.
    #[inline(always)]
    fn sum(&mut self, a: C::Number, b: C::Number) -> (C::Number, C::Number) {
        let sum = self.add(a, b);
        let rounded = self.sub(sum, a);
        (sum, self.sub(b, rounded))
    }

    #[inline(always)]
    fn polynomial<const N: usize>(&mut self, x: C::Number, factors: &[f32; N]) -> C::Number {
        let mut sum = self.0.constant(factors[0]);
        for &factor in &factors[1..] {
            let factor = self.0.constant(factor);
            sum = self.0.fma(sum, x, factor);
        }
        sum
    }

    /// `a` between two bounds; NaN stays.
    #[inline(always)]
    fn within(&mut self, a: C::Number, bound: f32) -> C::Number {
        let (low, high) = (self.0.constant(-bound), self.0.constant(bound));
        let above = self.0.binary(Binary::Max, low, a);
        self.0.binary(Binary::Min, high, above)
    }

    /// `e` and `z` such that `|a| = 2^e (1 + z)` and z is between `sqrt(1/2) - 1` and `sqrt(2) - 1`: -infinity or infinity and 0 for
    /// 0 and infinity.
    #[inline(always)]
    fn reduced(&mut self, a: C::Number) -> (C::Number, C::Number) {
        let (exponent, significand) = (self.0.unary(Unary::Exponent, a), self.0.unary(Unary::Significand, a));
        let (one, root) = (self.0.constant(1.0), self.0.constant(std::f32::consts::SQRT_2));
        let (next, half) = (self.add(exponent, one), self.times(significand, 0.5));
        let exponent = self.0.select(Compare::Gt, [significand, root], [next, exponent]);
        let significand = self.0.select(Compare::Gt, [significand, root], [half, significand]);
        (exponent, self.sub(significand, one))
    }

    #[inline(always)]
    fn log2(&mut self, a: C::Number) -> C::Number {
        let (exponent, z) = self.reduced(a);
        let rest = self.polynomial(z, &LOG2_REST);
        let half = self.0.constant(HALF_LOG2_E[0]);
        let whole = self.0.constant(LOG2_E[0]);
        let rest = self.0.fma(rest, z, half);
        let rest = self.0.fma(rest, z, whole);
        let log = self.0.fma(rest, z, exponent);
        let (zero, nan) = (self.0.constant(0.0), self.0.constant(f32::NAN));
        self.0.select(Compare::Lt, [a, zero], [nan, log])
    }

    #[inline(always)]
    fn log(&mut self, a: C::Number) -> C::Number {
        let binary = self.log2(a);
        self.times(binary, std::f32::consts::LN_2)
    }

    /// `log2(|a|)` as the sum of two numbers; the second is NaN where the first is not finite.
    #[inline(always)]
    fn log2_of_magnitude(&mut self, a: C::Number) -> (C::Number, C::Number) {
        let (exponent, z) = self.reduced(a);
        let rest = self.polynomial(z, &LOG2_REST);
        let (whole, whole_rest) = (self.0.constant(LOG2_E[0]), self.0.constant(LOG2_E[1]));
        let (half, half_rest) = (self.0.constant(HALF_LOG2_E[0]), self.0.constant(HALF_LOG2_E[1]));
        let (first, first_rest) = self.product(z, whole);
        let (square, square_rest) = self.product(z, z);
        let (second, second_rest) = self.product(square, half);
        let (sum, sum_rest) = self.sum(exponent, first);
        let (sum, last_rest) = self.sum(sum, second);
        let mut small = self.0.fma(z, whole_rest, first_rest);
        small = self.add(small, second_rest);
        small = self.0.fma(square, half_rest, small);
        small = self.0.fma(square_rest, half, small);
        let cube = self.mul(square, z);
        small = self.0.fma(cube, rest, small);
        small = self.add(small, sum_rest);
        (sum, self.add(small, last_rest))
    }

    /// `2^(a + b)`; what is not a number, or far from one, counts as `a` alone.
    #[inline(always)]
    fn exp2(&mut self, a: C::Number, b: Option<C::Number>) -> C::Number {
        let near = self.within(a, 1000.0);
        let (sum, rest) = match b {
            Some(b) => {
                let zero = self.0.constant(0.0);
                let b = self.0.select(Compare::Eq, [near, a], [b, zero]);
                let (sum, rest) = self.sum(near, b);
                (sum, Some(rest))
            }
            None => (near, None),
        };
        let whole = self.0.unary(Unary::Round, sum);
        let mut fraction = self.sub(sum, whole);
        if let Some(rest) = rest {
            fraction = self.add(fraction, rest);
        }
        let (one, two) = (self.0.constant(1.0), self.0.constant(2.0));
        let power = self.polynomial(fraction, &EXP2);
        // Twice the one times half the other: 2^128 is no number.
        let power = self.0.fma(power, fraction, two);
        let below = self.sub(whole, one);
        let scale = self.0.unary(Unary::PowerOfTwo, below);
        self.mul(power, scale)
    }

    #[inline(always)]
    fn exp(&mut self, a: C::Number) -> C::Number {
        let (factor, factor_rest) = (self.0.constant(LOG2_E[0]), self.0.constant(LOG2_E[1]));
        let (product, rest) = self.product(a, factor);
        let rest = self.0.fma(a, factor_rest, rest);
        self.exp2(product, Some(rest))
    }

    #[inline(always)]
    fn pow(&mut self, a: C::Number, b: C::Number) -> C::Number {
        match self.0.known(b) {
            Some(1.0) => return a,
            Some(2.0) => return self.mul(a, a),
            _ => {}
        }
        let (log, log_rest) = self.log2_of_magnitude(a);
        let (product, rest) = self.product(log, b);
        let rest = self.0.fma(log_rest, b, rest);
        let power = self.exp2(product, Some(rest));
        // Of negative numbers: NaN where b is not whole, negative where it is odd.
        let half = self.times(b, 0.5);
        let (whole, whole_half) = (self.0.unary(Unary::Floor, b), self.0.unary(Unary::Floor, half));
        let (minus, nan) = (self.0.unary(Unary::Neg, power), self.0.constant(f32::NAN));
        let signed = self.0.select(Compare::Eq, [half, whole_half], [power, minus]);
        let signed = self.0.select(Compare::Eq, [b, whole], [signed, nan]);
        let (zero, one) = (self.0.constant(0.0), self.0.constant(1.0));
        let power = self.0.select(Compare::Lt, [a, zero], [signed, power]);
        self.0.select(Compare::Eq, [b, zero], [one, power])
    }

    #[inline(always)]
    fn cbrt(&mut self, a: C::Number) -> C::Number {
        let magnitude = self.0.unary(Unary::Abs, a);
        let log = self.log2(magnitude);
        let third = self.times(log, 1.0 / 3.0);
        let near = self.exp2(third, None);
        // One step of Newton's method, where there is one: not for 0, infinity and NaN.
        let (square, minus) = (self.mul(near, near), self.0.unary(Unary::Neg, magnitude));
        let (excess, slope) = (self.0.fma(square, near, minus), self.times(square, 3.0));
        let step = self.0.binary(Binary::Div, excess, slope);
        let better = self.sub(near, step);
        let root = self.0.select(Compare::Eq, [step, step], [better, near]);
        let (minus, zero) = (self.0.unary(Unary::Neg, root), self.0.constant(0.0));
        self.0.select(Compare::Lt, [a, zero], [minus, root])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Channel, Expr, Results};

    fn expr(function: Function) -> Expr {
        let mut e = ExprBuilder::default();
        let operands: Vec<ValueId> =
            (0..function.operands()).map(|slot| e.input(slot as u8, Channel::Own)).collect();
        let result = e.function(function, &operands);
        e.finish(&Results::EachChannel(result)).unwrap()
    }

    fn evaluate(expr: &Expr, numbers: [f32; 2]) -> f32 {
        let mut values = Vec::new();
        expr.evaluate((0, 0), |slot, _, _| numbers[usize::from(slot)], &[], &mut values);
        values[values.len() - 1]
    }

    /// Units in the last place between a result and the exact one.
    fn units(got: f32, exact: f64) -> f64 {
        let nearest = exact as f32;
        if got == nearest || (got.is_nan() && nearest.is_nan()) {
            return 0.0;
        }
        let unit = f64::from(nearest.abs().next_up()) - f64::from(nearest.abs());
        (f64::from(got) - exact).abs() / unit
    }

    /// The largest deviation over numbers spread over a range, and their neighbours.
    fn worst(function: Function, pairs: impl Iterator<Item = [f32; 2]>, exact: fn(f64, f64) -> f64) -> f64 {
        let expr = expr(function);
        let one = |[a, b]: [f32; 2]| units(evaluate(&expr, [a, b]), exact(a.into(), b.into()));
        pairs.map(one).fold(0.0, f64::max)
    }

    fn spread(from: f32, to: f32, count: u32) -> impl Iterator<Item = f32> {
        (0..=count).map(move |i| from + (to - from) * (i as f32 / count as f32))
    }

    /// Evenly over the bits of positive normal numbers.
    fn everywhere(count: u32) -> impl Iterator<Item = f32> {
        let (least, most) = (f32::MIN_POSITIVE.to_bits(), f32::MAX.to_bits());
        (0..count).map(move |i| f32::from_bits(least + ((most - least) / count) * i + i % 7919))
    }

    fn alone(numbers: impl Iterator<Item = f32>) -> impl Iterator<Item = [f32; 2]> {
        numbers.map(|a| [a, 0.0])
    }

    #[test]
    fn functions_are_off_by_few_units_in_the_last_place() {
        const MANY: u32 = 100_000;
        let results: Vec<(&str, f64, f64)> = vec![
            ("exp2", worst(Function::Exp2, alone(spread(-125.9, 127.99, MANY)), |a, _| a.exp2()), 2.0),
            ("exp", worst(Function::Exp, alone(spread(-87.0, 88.7, MANY)), |a, _| a.exp()), 2.0),
            ("log2", worst(Function::Log2, alone(everywhere(MANY)), |a, _| a.log2()), 3.0),
            ("log2 near 1", worst(Function::Log2, alone(spread(0.4, 2.5, MANY)), |a, _| a.log2()), 3.0),
            ("log", worst(Function::Log, alone(everywhere(MANY)), |a, _| a.ln()), 4.0),
            ("log near 1", worst(Function::Log, alone(spread(0.4, 2.5, MANY)), |a, _| a.ln()), 4.0),
            ("cbrt", worst(Function::Cbrt, alone(everywhere(MANY)), |a, _| a.cbrt()), 1.0),
            (
                "cbrt of images",
                worst(Function::Cbrt, alone(spread(-1.0, 65535.0, MANY)), |a, _| a.cbrt()),
                1.0,
            ),
        ];
        for (name, got, allowed) in results {
            assert!(got <= allowed, "{name}: {got} units");
        }
    }

    /// Where results are those that images have: 2^-17 to 2^17.
    #[test]
    fn powers_of_samples_are_off_by_few_units_in_the_last_place() {
        for b in [-3.0_f32, -1.0, 1.0 / 3.0, 0.454_545_47, 0.416_666_66, 0.01, 1.5, 2.2, 2.4, 3.0, 5.0, 9.7] {
            let images = spread(0.0, 1.0, 30_000).chain(spread(1.0, 65535.0, 30_000));
            let seen = |[a, b]: &[f32; 2]| (-17.0..=17.0).contains(&(a.log2() * b));
            let got = worst(Function::Pow, images.map(|a| [a, b]).filter(seen), f64::powf);
            assert!(got <= 2.0, "pow of {b}: {got} units");
        }
        let wide = everywhere(20_000).flat_map(|a| [[a, 0.7], [a, -0.9], [a, 1.0], [a, 0.1]]);
        let got = worst(Function::Pow, wide, f64::powf);
        assert!(got <= 8.0, "pow of any number: {got} units");
    }

    #[test]
    fn what_is_special_is_defined() {
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        let same = |got: f32, wanted: f32| got == wanted || (got.is_nan() && wanted.is_nan());
        for (function, a, wanted) in [
            (Function::Exp2, 10.0, 1024.0),
            (Function::Exp2, -148.0, 2.0_f32.powi(-148)),
            (Function::Exp2, 127.0, 2.0_f32.powi(127)),
            (Function::Exp2, 128.0, inf),
            (Function::Exp2, -200.0, 0.0),
            (Function::Exp2, inf, inf),
            (Function::Exp2, -inf, 0.0),
            (Function::Exp2, nan, nan),
            (Function::Exp, 0.0, 1.0),
            (Function::Exp, inf, inf),
            (Function::Exp, 1e30, inf),
            (Function::Exp, -inf, 0.0),
            (Function::Exp, nan, nan),
            (Function::Log2, 8.0, 3.0),
            (Function::Log2, 1e-45, -149.0),
            (Function::Log2, 0.0, -inf),
            (Function::Log2, inf, inf),
            (Function::Log2, -1.0, nan),
            (Function::Log2, -inf, nan),
            (Function::Log, 1.0, 0.0),
            (Function::Log, 0.0, -inf),
            (Function::Log, nan, nan),
            (Function::Cbrt, 27.0, 3.0),
            (Function::Cbrt, -64.0, -4.0),
            (Function::Cbrt, 0.0, 0.0),
            (Function::Cbrt, -inf, -inf),
            (Function::Cbrt, nan, nan),
        ] {
            let got = evaluate(&expr(function), [a, 0.0]);
            assert!(same(got, wanted), "{} {a}: {got}, not {wanted}", function.name());
        }
        let pow = expr(Function::Pow);
        for (a, b, wanted) in [
            (0.0, 0.5, 0.0),
            (0.0, 0.0, 1.0),
            (0.0, -1.0, inf),
            (255.0, 0.0, 1.0),
            (nan, 0.0, 1.0),
            (nan, 1.0, nan),
            (1.0, 3.7, 1.0),
            (2.0, 10.0, 1024.0),
            (3.0, 4.0, 81.0),
            (255.0, 1.0, 255.0),
            (-2.0, 3.0, -8.0),
            (-2.0, 4.0, 16.0),
            (-2.0, 0.5, nan),
            (inf, 0.5, inf),
            (inf, -0.5, 0.0),
            (-inf, 3.0, -inf),
            (0.5, inf, 0.0),
            (2.0, inf, inf),
            (2.0, -inf, 0.0),
            (1e30, 5.0, inf),
            (1e30, -5.0, 0.0),
            (2.0, nan, nan),
        ] {
            let got = evaluate(&pow, [a, b]);
            assert!(same(got, wanted), "pow({a}, {b}): {got}, not {wanted}");
        }
    }

    #[test]
    fn numbers_known_are_computed_at_once() {
        let mut e = ExprBuilder::default();
        let (v, two, third) = (e.input(0, Channel::Own), e.constant(8.0), e.constant(1.0 / 3.0));
        let root = e.function(Function::Pow, &[two, third]);
        let sum = e.binary(Binary::Add, v, root);
        assert_eq!(e.finish(&Results::EachChannel(sum)).unwrap().to_string(), "v + 2");
    }
}
