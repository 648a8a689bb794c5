use super::Border;
use crate::Real;

/// The sample so many columns and rows away from a pixel.
pub(super) fn around(image: &Real, border: Border, (x, y): (i64, i64), channel: usize) -> f64 {
    match (border.resolve(x, image.width), border.resolve(y, image.height), border) {
        (Some(x), Some(y), _) => image.at(x, y, channel),
        (_, _, Border::Constant(value)) => value,
        _ => unreachable!("only a constant border resolves to nothing"),
    }
}

/// `of` the window of every colour sample, where `at(dx, dy)` is the sample so far away; alpha is kept.
pub(super) fn each_window(
    image: &Real,
    border: Border,
    of: impl Fn(&dyn Fn(i64, i64) -> f64) -> f64,
) -> Real {
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        if c == 3 {
            return image.at(x, y, c);
        }
        of(&|dx, dy| around(image, border, (x as i64 + dx, y as i64 + dy), c))
    })
}
