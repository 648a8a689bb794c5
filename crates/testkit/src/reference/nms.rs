use mip_core::{DType, ImageDesc, PixelFormat};

use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("nms", &["iou", "score"], |call| {
    let number = |name, default| call.params.number(name).unwrap_or(default) as f32;
    nms(&call.image(0), number("iou", 0.5), number("score", 0.0))
})
.output(|_, desc| ImageDesc::new(desc.width(), desc.height(), PixelFormat::Gray, DType::F32).unwrap());

/// Again and again the best box that is left, without those it overlaps.
pub fn nms(boxes: &Real, iou: f32, score: f32) -> Real {
    let all: Vec<[f32; 5]> =
        (0..boxes.height).map(|row| std::array::from_fn(|i| boxes.at(i, row, 0) as f32)).collect();
    let mut left: Vec<&[f32; 5]> = all
        .iter()
        .filter(|b| b.iter().all(|v| v.is_finite()) && b[4] >= score && b[2] > 0.0 && b[3] > 0.0)
        .collect();
    let mut kept = Vec::new();
    while !left.is_empty() {
        let best = left.iter().map(|b| b[4]).fold(f32::NEG_INFINITY, f32::max);
        let first = left.remove(left.iter().position(|b| b[4] == best).unwrap());
        left.retain(|other| overlap(first, other) <= iou);
        kept.push(*first);
    }
    Real::from_fn(5, boxes.height, 1, |x, y, _| kept.get(y).map_or(0.0, |b| f64::from(b[x])))
}

/// Intersection over union, in binary32 as it is defined: a threshold tells apart what is rounded.
fn overlap(a: &[f32; 5], b: &[f32; 5]) -> f32 {
    let along = |i: usize| ((a[i] + a[i + 2]).min(b[i] + b[i + 2]) - a[i].max(b[i])).max(0.0);
    let both = along(0) * along(1);
    both / (a[2] * a[3] + b[2] * b[3] - both)
}
