use super::Border;
use super::apply::Reference;
use crate::Real;

const PARAMS: &[&str] =
    &["left", "top", "right", "bottom", "width", "height", "align", "border", "border_value"];

pub(super) const REFERENCE: Reference = Reference::new("pad", PARAMS, |call| {
    let (image, params) = (call.image(0), call.params);
    let margin = |name| params.size(name).unwrap_or(0);
    let center = params.word("align") != Some("top_left");
    let along = |size: Option<usize>, extent: usize, first: usize, last: usize| match size {
        Some(size) if center => ((size - extent) / 2, size),
        Some(size) => (0, size),
        None => (first, first + extent + last),
    };
    let (left, width) = along(params.size("width"), image.width, margin("left"), margin("right"));
    let (top, height) = along(params.size("height"), image.height, margin("top"), margin("bottom"));
    let fill = params.list("border_value").unwrap_or_else(|| vec![0.0]);
    let name = params.word("border").unwrap_or("constant");
    let border = Border::ALL.into_iter().find(|b| b.name() == name).expect("a border");
    pad(&image, (left, top), (width, height), border, &fill)
});

/// The image with its first pixel at `first` of a larger one; outside lies what the border says, of a constant one number a
/// channel, or one for all.
pub fn pad(
    image: &Real,
    first: (usize, usize),
    (width, height): (usize, usize),
    border: Border,
    fill: &[f64],
) -> Real {
    Real::from_fn(width, height, image.channels, |x, y, c| {
        let column = border.resolve(x as i64 - first.0 as i64, image.width);
        let row = border.resolve(y as i64 - first.1 as i64, image.height);
        match (column, row) {
            (Some(x), Some(y)) => image.at(x, y, c),
            _ => f64::from(fill[if fill.len() == 1 { 0 } else { c }] as f32),
        }
    })
}
