use super::Border;
use super::apply::{Call, Reference};
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("erode", PARAMS, |call| of_call(call, erode));

pub(super) const PARAMS: &[&str] = &["kernel", "shape", "border", "border_value"];

/// What erosion and dilation have in common as calls.
pub(super) fn of_call(call: &Call<'_>, f: fn(&Real, usize, bool, Border) -> Real) -> Real {
    let border = Border::or(call.params, "replicate");
    let cross = call.params.word("shape") == Some("cross");
    f(&call.image(0), call.params.size("kernel").unwrap_or(3), cross, border)
}

/// The lowest sample of a square of side `kernel` around each pixel, or of its middle row and column; alpha is kept. A NaN
/// stays where it comes last.
pub fn erode(image: &Real, kernel: usize, cross: bool, border: Border) -> Real {
    extreme(image, kernel, cross, border, |a, b| if a < b { a } else { b })
}

pub(super) fn extreme(
    image: &Real,
    kernel: usize,
    cross: bool,
    border: Border,
    better: fn(f64, f64) -> f64,
) -> Real {
    let anchor = (kernel / 2) as i64;
    let places = 0..kernel as i64;
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        if c == 3 {
            return image.at(x, y, c);
        }
        let sample = |i: i64, j: i64| {
            let (x, y) = (x as i64 + i, y as i64 + j);
            match (border.resolve(x, image.width), border.resolve(y, image.height), border) {
                (Some(x), Some(y), _) => image.at(x, y, c),
                (_, _, Border::Constant(v)) => v,
                _ => unreachable!("only a constant border resolves to nothing"),
            }
        };
        // From left to right, then from top to bottom; the cross's row before its column.
        let line = |f: &dyn Fn(i64) -> f64| {
            places.clone().map(|i| f(i - anchor)).reduce(better).expect("the pixel itself")
        };
        if cross {
            better(line(&|i| sample(i, 0)), line(&|j| sample(0, j)))
        } else {
            line(&|j| line(&|i| sample(i, j)))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_the_image_only_is_what_the_edge_repeated_gives() {
        let image = Real::from_fn(4, 3, 1, |x, y, _| (7 * x + 5 * y) as f64 % 11.0);
        for (kernel, cross) in [(2, false), (3, false), (5, false), (4, true), (3, true)] {
            let outside = Border::Constant(f64::INFINITY);
            assert_eq!(
                erode(&image, kernel, cross, Border::Replicate).data,
                erode(&image, kernel, cross, outside).data
            );
        }
    }
}
