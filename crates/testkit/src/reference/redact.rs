use super::apply::Reference;
use super::draw::{edges, within};
use super::resize::Filter;
use super::{Border, gaussian_blur, resize};
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("redact", &["method", "size"], |call| {
    let blur = call.params.word("method") == Some("blur");
    let size = call.params.size("size").unwrap_or(if blur { 15 } else { 16 });
    redact(&call.image(0), &call.image(1), (blur, size))
});

/// A coarse image within the boxes. Squares are copies of means, which are rounded once.
pub fn redact(image: &Real, boxes: &Real, (blur, size): (bool, usize)) -> Real {
    let coarse = if blur {
        gaussian_blur(image, 2 * size + 1, None, Border::Reflect101)
    } else {
        let (width, height) = (image.width.div_ceil(size), image.height.div_ceil(size));
        let small = resize(image, width, height, Filter::Area);
        resize(&small, image.width, image.height, Filter::Nearest)
    };
    let edges: Vec<[f64; 4]> = (0..boxes.height).map(|row| edges(boxes, row)).collect();
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        let from = if edges.iter().any(|edges| within(edges, x, y, 0.0)) { &coarse } else { image };
        from.at(x, y, c)
    })
}
