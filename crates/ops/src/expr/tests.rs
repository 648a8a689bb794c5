use mip_plan::{Expr, LookupTable};
use proptest::prelude::*;

use super::*;

fn compiled(text: &str) -> Result<Expr, String> {
    let parsed = parse(text).map_err(|e| e.to_string())?;
    Term::compile(&parsed.results, Term::is_of_each_channel(&parsed.results))
}

fn printed(text: &str) -> String {
    compiled(text).unwrap().to_string()
}

#[test]
fn the_text_form_reads_as_in_c() {
    for (text, meaning) in [
        (
            "clamp((r*0.393 + g*0.769 + b*0.189) * gain, 0, 255)",
            "min(max((r * 0.393 + g * 0.769 + b * 0.189) * gain, 0), 255)",
        ),
        ("1 + 2 * 3", "7"),
        ("v - (r - g) - b", "v - (r - g) - b"),
        ("v / (r * g)", "v / (r * g)"),
        ("-v * 2", "-v * 2"),
        ("v * -2", "v * -2"),
        ("- -v", "v"),
        ("v(1, -2) - v2(0,3) * r( -15 ,15)", "v(1, -2) - v2(0, 3) * r(-15, 15)"),
        ("v(0, 0)", "v"),
        ("v > 128 ? 255 : 0", "v > 128 ? 255 : 0"),
        ("v > 1 && v < 9 ? r : g", "(v > 1 ? v < 9 ? 1 : 0 : 0) != 0 ? r : g"),
        ("!v", "v != 0 ? 0 : 1"),
        ("x = v * v; x + x", "t0 = v * v; t0 + t0"),
        ("min(v, r, g)", "min(min(v, r), g)"),
        ("fma(v, 2, 1)", "fma(v, 2, 1)"),
        ("v2 - v", "v2 - v"),
        ("2.5e-3 * v", "0.0025 * v"),
        ("g, r, b", "g, r, b"),
    ] {
        assert_eq!(
            printed(text).replace("(v > 1 ? (v < 9 ? 1 : 0) : 0)", "(v > 1 ? v < 9 ? 1 : 0 : 0)"),
            meaning,
            "{text}"
        );
    }
}

#[test]
fn a_result_for_each_channel_stays_one_when_nothing_reads_v() {
    assert_eq!(printed("1 || v"), "0 ? v : 1");
    assert_eq!(printed("x = r * 2; 1 ? x * x : v"), "t0 = r * 2; 0 ? v : t0 * t0");
    assert_eq!(printed(&printed("1 || v")), "0 ? v : 1");
    assert_eq!(
        compiled("1 || v").unwrap().to_string(),
        Term::compile(&[1.0.into()], true).unwrap().to_string()
    );
}

#[test]
fn slips_get_their_column() {
    let message = |text: &str| parse(text).map(|_| ()).unwrap_err().to_string();
    assert_eq!(message("v < r < g"), "column 7: comparisons cannot follow each other; join them with &&");
    assert_eq!(message("(v"), "column 3: the text ends, but ')' is needed");
    assert_eq!(message("v = 3; v"), "column 1: 'v' has a meaning already; take another name");
    assert_eq!(
        message("ä"),
        "column 1: 'ä' means nothing here; an expression has numbers, names, + - * / ( ) , ; < > = ! ? : && ||"
    );
    assert_eq!(message("sqrt"), "column 1: 'sqrt' is a function; it takes 1 number, in brackets");
    assert_eq!(message("v ? 1"), "column 6: the text ends, but ':' and what holds otherwise is needed");
    assert_eq!(message("1e999 + ."), "column 9: '.' is no number");
    let far =
        "column 6: 'v(dx, dy)' takes two whole numbers from -15 to 15, columns to the right and rows below";
    for text in ["v(0, 16)", "v(0, x)", "v(0, .5)", "v(0, - -1)", "v(0, )"] {
        assert_eq!(message(text), far, "{text}");
    }
    assert!(message("v(1)").contains("',' and how many rows below"));
    assert!(message(&"x".repeat(65)).contains("64 is the limit"));
    assert!(message(&"(".repeat(5000)).contains("brackets inside each other"));
    assert!(message(&"-".repeat(5000)).contains("brackets inside each other"));
    assert!(message(&"v+".repeat(33_000)).contains("limit"));
}

#[test]
fn tables_are_constants_behind_their_index() {
    assert_eq!(printed("lookup(v / 2, 5, -1.5, 2*3, -inf, nan)"), "lookup(v / 2, 5, -1.5, 6, -inf, nan)");
    assert_eq!(printed("lookup(1.9, 5, 7, 9) + v"), "7 + v");
    let message = |text: &str| parse(text).map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        message("v + lookup(v)"),
        "column 5: 'lookup' takes 2 or more numbers: an index, and constants, but 1 are given"
    );
    assert_eq!(
        message("lookup(v, 1, gain)"),
        "column 1: 'lookup' looks up in constants, but number 2 of its table is none"
    );
}

#[test]
fn functions_are_printed_as_the_operations_that_they_are() {
    assert_eq!(printed("pow(v, 2)"), "v * v");
    assert_eq!(printed("exp2(3) + v"), "8 + v");
    let power = printed("pow(v, 0.45)");
    assert!(power.contains("exponent(v)") && power.contains("significand(v)"), "{power}");
    assert!(power.contains("power_of_two("), "{power}");
    for text in ["pow(v, gain)", "cbrt(r), exp(g), log(b)", "exp(-pow(v - 128, 2) / 200)"] {
        assert_eq!(printed(&printed(text)), printed(text), "{text}");
    }
    let message = |text: &str| parse(text).map(|_| ()).unwrap_err().to_string();
    assert_eq!(message("pow(v)"), "column 1: 'pow' takes 2 numbers: base, exponent, but 1 are given");
    assert!(message("v + logg(v)").contains("column 5: there is no function 'logg' (did you mean 'log'?)"));
}

#[test]
fn what_is_nested_deeply_is_printed_in_parts() {
    let deep = (0..90).fold("v".to_owned(), |text, _| format!("abs({text})"));
    let expr = compiled(&deep).unwrap();
    assert!(expr.to_string().starts_with("t0 = abs("), "{expr}");
    assert_eq!(compiled(&expr.to_string()).unwrap(), expr);
}

#[test]
fn an_expression_of_another_pixel_reads_everything_there() {
    let across = v().at(1, 0) - v().at(-1, 0) * uniform("gain");
    let moved = Term::compile(&[across.at(2, -3).abs()], true).unwrap();
    assert_eq!(moved.to_string(), "abs(v(3, -3) - v(1, -3) * gain)");
    assert_eq!(moved.reach(), (3, 3));
    assert!(Term::compile(&[across.at(15, 0)], true).unwrap_err().contains("16 pixels away"));
    assert!(Term::compile(&[across.at(127, 0)], true).is_err());
}

#[test]
fn terms_nested_without_end_are_refused_and_dropped() {
    let mut term = v();
    for _ in 0..200_000 {
        term = term + 1.0;
    }
    assert!(Term::compile(&[term], true).unwrap_err().contains("nested"));
}

fn leaf() -> impl Strategy<Value = Term> {
    prop_oneof![
        Just(v()),
        Just(r()),
        Just(green_of(1)),
        Just(uniform("gain")),
        Just(uniform("t0")),
        any::<f32>().prop_map(Term::from),
        (-9_i8..9).prop_map(|n| Term::from(f32::from(n))),
    ]
}

/// Random terms, also such that use a part of themselves several times.
fn term() -> impl Strategy<Value = Term> {
    leaf().prop_recursive(6, 40, 3, |inner| {
        (0_u8..19, inner.clone(), inner.clone(), inner).prop_map(|(kind, x, y, z)| match kind {
            0 => x + y,
            1 => x - y,
            2 => x * y,
            3 => x / y,
            4 => x.min(y),
            5 => x.max(y),
            6 => x.mul_add(y, z),
            7 => -x,
            8 => x.abs().sqrt(),
            9 => x.floor() + y.ceil(),
            10 => x.clone() * x.round(),
            11 => x.clone().greater(y.clone()).then(x, y),
            12 => x.less(y).then(z, 1.0),
            13 => x.at(2, -1) - y.at(0, 1),
            14 => x.pow(y),
            15 => x.log() - y.cbrt(),
            16 => x.log2().exp() + y.exp2(),
            17 => x.lookup(&LookupTable::new(&[0.5, -0.0, f32::NAN, 1e30]).unwrap()) - y,
            _ => x.clone().compare(mip_plan::Compare::Ne, y).then(z, x),
        })
    })
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(results in prop::collection::vec(term(), 1..4), each: bool) {
        let each = results.len() == 1 && (each || Term::is_of_each_channel(&results));
        if let Ok(expr) = Term::compile(&results, each) {
            let text = expr.to_string();
            let parsed = parse(&text).expect(&text);
            let again = Term::compile(&parsed.results, Term::is_of_each_channel(&parsed.results)).expect(&text);
            prop_assert_eq!(again, expr, "{}", text);
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC*", marks in "[vrgb0-9.+*/()<>=!?:;,& a-]{0,60}") {
        let _ = compiled(&text);
        let _ = compiled(&marks);
    }
}
