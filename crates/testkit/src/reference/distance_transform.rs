use mip_core::DType;

use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("distance_transform", &["metric"], |call| {
    distance_transform(&call.image(0), call.params.word("metric").unwrap_or("l2"))
})
.output(|_, desc| desc.with_dtype(DType::F32).unwrap());

/// The least distance to any pixel that is 0.
pub fn distance_transform(image: &Real, metric: &str) -> Real {
    let distance = |dx: f64, dy: f64| match metric {
        "l1" => dx + dy,
        "linf" => dx.max(dy),
        _ => dx.hypot(dy),
    };
    // Of all zeros of a column the nearest row is enough.
    let column = |x: usize, y: usize| {
        let zeros = (0..image.height).filter(|&other| image.at(x, other, 0) == 0.0);
        zeros.map(|other| other.abs_diff(y)).min()
    };
    let columns: Vec<Option<usize>> = (0..image.height)
        .flat_map(|y| (0..image.width).map(move |x| (x, y)))
        .map(|(x, y)| column(x, y))
        .collect();
    Real::from_fn(image.width, image.height, 1, |x, y, _| {
        let of = |other: usize| {
            let rows = columns[y * image.width + other]?;
            Some(distance(other.abs_diff(x) as f64, rows as f64))
        };
        (0..image.width).filter_map(of).fold(f64::INFINITY, f64::min)
    })
}
