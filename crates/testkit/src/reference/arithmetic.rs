use super::apply::Reference;
use crate::Real;

const PARAMS: &[&str] = &["operation", "scale", "alpha", "beta", "gamma"];

pub(super) const REFERENCE: Reference = Reference::new("arithmetic", PARAMS, |call| {
    let number = |name, default| f64::from(call.params.number(name).unwrap_or(default) as f32);
    let numbers = [number("scale", 1.0), number("alpha", 1.0), number("beta", 1.0), number("gamma", 0.0)];
    let whole = !call.desc().dtype().is_float();
    arithmetic(&call.image(0), &call.image(1), call.params.word("operation").unwrap_or("add"), numbers, whole)
});

/// Colours of two images, sample by sample; alpha is kept from the first.
pub fn arithmetic(
    a: &Real,
    b: &Real,
    op: &str,
    [scale, alpha, beta, gamma]: [f64; 4],
    whole_numbers: bool,
) -> Real {
    Real::from_fn(a.width, a.height, a.channels, |x, y, c| {
        let (a, b) = (a.at(x, y, c), b.at(x, y, c));
        match op {
            _ if c == 3 => a,
            "add" => a + b,
            "subtract" => a - b,
            "multiply" => a * b * scale,
            "divide" if whole_numbers && b == 0.0 => 0.0,
            "divide" => a / b * scale,
            // With a NaN the second of two.
            "min" => {
                if a < b {
                    a
                } else {
                    b
                }
            }
            "max" => {
                if a > b {
                    a
                } else {
                    b
                }
            }
            "weighted" => a * alpha + b * beta + gamma,
            _ => panic!("no operation '{op}'"),
        }
    })
}
