use mip_core::{DType, PixelFormat};

use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("regions", &["max"], |call| {
    regions(&call.image(0), call.params.number("max").unwrap_or(256.0) as usize)
})
.output(|_, desc| desc.with_format(PixelFormat::Gray).unwrap().with_dtype(DType::F32).unwrap());

/// Bounding box and area of each number from 1 to `max`.
pub fn regions(labels: &Real, max: usize) -> Real {
    let mut pixels = vec![Vec::new(); max];
    for (at, &label) in labels.data.iter().enumerate() {
        if label.fract() == 0.0 && label >= 1.0 && label <= max as f64 {
            pixels[label as usize - 1].push((at % labels.width, at / labels.width));
        }
    }
    let measures = |pixels: &Vec<(usize, usize)>| {
        let extent = |coordinate: fn(&(usize, usize)) -> usize| {
            let values = || pixels.iter().map(coordinate);
            let first = values().min().unwrap_or(0);
            [first, values().max().map_or(0, |last| last + 1 - first)]
        };
        let ([x, width], [y, height]) = (extent(|pixel| pixel.0), extent(|pixel| pixel.1));
        [x, y, width, height, pixels.len()]
    };
    let all: Vec<[usize; 5]> = pixels.iter().map(measures).collect();
    Real::from_fn(5, max, 1, |x, y, _| all[y][x] as f64)
}
