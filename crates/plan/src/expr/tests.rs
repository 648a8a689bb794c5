use mip_core::{DType, ImageDesc, PixelFormat};

use super::*;

fn luma() -> Expr {
    let mut e = ExprBuilder::default();
    let [r, g, b] = [Channel::Red, Channel::Green, Channel::Blue].map(|c| e.input(0, c));
    let [x, y] = [0.25, 0.5].map(|v| e.constant(v));
    let (p, q) = (e.binary(Binary::Mul, r, x), e.binary(Binary::Mul, g, y));
    let sum = e.binary(Binary::Add, p, q);
    let all = e.binary(Binary::Add, sum, b);
    e.finish(&Results::Channels(vec![all])).unwrap()
}

#[test]
fn it_prints_with_no_more_brackets_than_it_needs() {
    assert_eq!(luma().to_string(), "r * 0.25 + g * 0.5 + b");
    let mut e = ExprBuilder::default();
    let (v, gain) = (e.input(0, Channel::Own), e.uniform("gain"));
    let d = e.binary(Binary::Sub, v, gain);
    let square = e.binary(Binary::Mul, d, d);
    let minus = e.unary(Unary::Neg, square);
    let tiny = e.constant(-1e-30);
    let quotient = e.binary(Binary::Div, minus, tiny);
    let picked = e.select(Compare::Le, [quotient, v], [d, gain]);
    let expr = e.finish(&Results::EachChannel(picked)).unwrap();
    assert_eq!(expr.to_string(), "t0 = v - gain; -(t0 * t0) / -1e-30 <= v ? t0 : gain");
}

#[test]
fn the_same_computation_is_the_same_expression() {
    let mut e = ExprBuilder::default();
    // Other order, a spare operation, and constants that are worked out.
    let half = e.constant(0.5);
    let b = e.input(0, Channel::Blue);
    let g = e.input(0, Channel::Green);
    let quarter = e.binary(Binary::Mul, half, half);
    e.unary(Unary::Sqrt, g);
    let q = e.binary(Binary::Mul, g, half);
    let r = e.input(0, Channel::Red);
    let p = e.binary(Binary::Mul, r, quarter);
    let sum = e.binary(Binary::Add, p, q);
    let all = e.binary(Binary::Add, sum, b);
    assert_eq!(e.finish(&Results::Channels(vec![all])).unwrap(), luma());
}

#[test]
fn channels_are_found_by_what_they_are() {
    let bgr = ImageDesc::new(2, 2, PixelFormat::Bgr, DType::U8).unwrap();
    let rgba = bgr.with_format(PixelFormat::Rgba).unwrap();
    let mut e = ExprBuilder::default();
    let (v, w) = (e.input(0, Channel::Own), e.input(1, Channel::Own));
    let sum = e.binary(Binary::Add, v, w);
    let expr = e.finish(&Results::EachChannel(sum)).unwrap();
    let resolved = expr.resolve(&[rgba, bgr], &rgba).unwrap();
    assert_eq!(resolved.to_string(), "c0 + c22, c1 + c12, c2 + c02, c3");
    // A gray image has one value for all channels, but a coloured one none for gray.
    let gray = bgr.with_format(PixelFormat::Gray).unwrap();
    assert!(expr.resolve(&[bgr, gray], &bgr).is_ok());
    assert!(expr.resolve(&[gray, bgr], &gray).unwrap_err().contains("no channel v"));
    assert!(luma().resolve(&[gray], &gray).unwrap_err().contains("no channel r"));
    assert_eq!(luma().resolve(&[bgr], &gray).unwrap().to_string(), "c2 * 0.25 + c1 * 0.5 + c0");
}

#[test]
fn too_much_is_refused() {
    let mut e = ExprBuilder::default();
    let mut sum = e.input(0, Channel::Own);
    for i in 0..Expr::MAX_OPS {
        let next = e.constant(i as f32);
        sum = e.binary(Binary::Add, sum, next);
    }
    assert!(e.finish(&Results::EachChannel(sum)).unwrap_err().contains("operations"));
    let mut e = ExprBuilder::default();
    let far = e.input(4, Channel::Own);
    assert!(e.finish(&Results::EachChannel(far)).unwrap_err().contains("input images"));
    let mut e = ExprBuilder::default();
    for i in 0..1 << 16 {
        e.constant(i as f32);
    }
    let one = e.constant(1.0);
    assert!(e.finish(&Results::EachChannel(one)).is_err());
    assert!(ExprBuilder::default().finish(&Results::Channels(vec![])).is_err());
}

#[test]
fn numbers_that_are_none_have_rules() {
    let nan = f32::NAN;
    assert_eq!(Binary::Min.apply(nan, 3.0), 3.0);
    assert!(Binary::Min.apply(3.0, nan).is_nan());
    assert_eq!(Binary::Max.apply(nan, 3.0), 3.0);
    assert!(Compare::Ne.holds(nan, nan) && !Compare::Eq.holds(nan, nan) && !Compare::Ge.holds(nan, nan));
    assert_eq!(Unary::Round.apply(2.5), 2.0);
}

#[test]
fn numbers_are_taken_apart_and_put_together_exactly() {
    let bits = (0..1 << 16).map(|i: u32| (i << 15) + i % 31).chain([0, 1, 0x7F_FFFF, 0x80_0000, 0x7F7F_FFFF]);
    for bits in bits.flat_map(|bits| [bits, bits | 1 << 31]) {
        let a = f32::from_bits(bits);
        let [exponent, significand] = [Unary::Exponent, Unary::Significand].map(|op| op.apply(a));
        if a.is_nan() {
            assert!(exponent.is_nan() && significand.is_nan());
        } else if a == 0.0 || a.is_infinite() {
            let of = if a == 0.0 { f32::NEG_INFINITY } else { f32::INFINITY };
            assert_eq!([exponent, significand], [of, 1.0], "{a:e}");
        } else {
            assert!((1.0..2.0).contains(&significand), "{a:e}");
            let product = f64::from(significand) * f64::from(exponent).exp2();
            assert_eq!(product, f64::from(a.abs()), "{a:e}");
        }
    }
    for n in -400..400_i16 {
        let n = f32::from(n) / 2.0;
        assert_eq!(Unary::PowerOfTwo.apply(n), f64::from(n.round_ties_even()).exp2() as f32, "2^{n}");
    }
    let ends = [f32::INFINITY, f32::MAX, f32::MIN, f32::NEG_INFINITY].map(|a| Unary::PowerOfTwo.apply(a));
    assert_eq!(ends, [f32::INFINITY, f32::INFINITY, 0.0, 0.0]);
    assert!(Unary::PowerOfTwo.apply(f32::NAN).is_nan());
}

fn looked_up(numbers: &[&[f32]]) -> Expr {
    let mut e = ExprBuilder::default();
    let v = e.input(0, Channel::Own);
    let tables: Vec<LookupTable> = numbers.iter().map(|numbers| LookupTable::new(numbers).unwrap()).collect();
    let of = |table| e.lookup(table, v);
    let sum: Vec<ValueId> = tables.iter().map(of).collect();
    let sum = sum.into_iter().reduce(|a, b| e.binary(Binary::Add, a, b)).unwrap();
    e.finish(&Results::EachChannel(sum)).unwrap()
}

#[test]
fn indices_are_cut_off_and_kept_inside() {
    let table = LookupTable::new(&[10.0, 11.0, f32::NAN]).unwrap();
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let at = |index: f32| table.at(index);
    assert_eq!(
        [0.0, 0.999, 1.0, 1.999, -0.5, -7.0, -inf, nan].map(at),
        [10.0, 10.0, 11.0, 11.0, 10.0, 10.0, 10.0, 10.0]
    );
    assert!([2.0, 2.7, 3.0, 1e30, inf].map(at).iter().all(|number| number.is_nan()));
    assert!(LookupTable::new(&[]).is_err());
    assert!(LookupTable::new(&vec![0.0; LookupTable::MAX + 1]).unwrap_err().contains("1048577 numbers"));
}

#[test]
fn tables_are_told_apart_by_their_numbers() {
    let (a, b): (&[f32], &[f32]) = (&[1.0, 2.0], &[1.0, 3.0]);
    assert_eq!(looked_up(&[a, b]), looked_up(&[a, b]));
    assert_ne!(looked_up(&[a, b]), looked_up(&[b, a]));
    assert!(looked_up(&[a, b]).same_program(&looked_up(&[b, a])));
    assert!(!looked_up(&[a]).same_program(&looked_up(&[&[1.0, 2.0, 3.0]])));
    assert_eq!(looked_up(&[a, a]).tables().len(), 1, "the same numbers are there once");
    assert_eq!(looked_up(&[a, b]).to_string(), "lookup(v, 1, 2) + lookup(v, 1, 3)");
    assert_eq!(looked_up(&[&[0.0; 257]]).to_string(), "lookup(v, 257 numbers)");
    let rgb = ImageDesc::new(2, 2, PixelFormat::Rgb, DType::U8).unwrap();
    let resolved = looked_up(&[b, a]).resolve(&[rgb], &rgb).unwrap();
    assert_eq!(resolved.tables(), looked_up(&[b, a]).tables());
    let mut e = ExprBuilder::default();
    let index = e.constant(1.5);
    let known = e.lookup(&LookupTable::new(b).unwrap(), index);
    assert_eq!(e.finish(&Results::Channels(vec![known])).unwrap().to_string(), "3");
    let mut e = ExprBuilder::default();
    let v = e.input(0, Channel::Own);
    let both = [0.0, 1.0].map(|last| {
        let mut numbers = vec![0.0; LookupTable::MAX / 2 + 1];
        numbers.push(last);
        e.lookup(&LookupTable::new(&numbers).unwrap(), v)
    });
    let sum = e.binary(Binary::Add, both[0], both[1]);
    assert!(e.finish(&Results::EachChannel(sum)).unwrap_err().contains("numbers in tables"));
}
