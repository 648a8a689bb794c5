use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("draw", &["color", "thickness"], |call| {
    let full = call.desc().dtype().full_scale();
    let color = call.params.list("color").unwrap_or_else(|| vec![full]);
    draw(&call.image(0), &call.image(1), &color, call.params.number("thickness").unwrap_or(2.0))
});

/// Outlines from each box's edge inwards.
pub fn draw(image: &Real, boxes: &Real, color: &[f64], thickness: f64) -> Real {
    let edges: Vec<[f64; 4]> = (0..boxes.height).map(|row| edges(boxes, row)).collect();
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        let on = |edges: &[f64; 4]| within(edges, x, y, 0.0) && !within(edges, x, y, thickness);
        if edges.iter().any(on) { color[c.min(color.len() - 1)] as f32 as f64 } else { image.at(x, y, c) }
    })
}

/// First column and row of a box, and those behind it, as binary32 computes them.
pub(super) fn edges(boxes: &Real, row: usize) -> [f64; 4] {
    let [x, y, width, height] = [0, 1, 2, 3].map(|i| boxes.at(i, row, 0) as f32);
    [x, y, x + width, y + height].map(|v| f64::from((v + 0.5).floor()))
}

/// Whether a pixel lies in a box that is smaller by a margin.
pub(super) fn within(&[left, top, right, bottom]: &[f64; 4], x: usize, y: usize, margin: f64) -> bool {
    let (x, y) = (x as f64, y as f64);
    x >= left + margin && x < right - margin && y >= top + margin && y < bottom - margin
}
