use super::Border;
use super::apply::Reference;
use super::warp::{Interpolation, sampling, warp};
use crate::Real;

pub(super) const REFERENCE: Reference =
    Reference::new("remap", &["coordinates", "filter", "border", "border_value"], |call| {
        let unit = call.params.word("coordinates").unwrap_or("absolute");
        let (interpolation, border) = sampling(call);
        remap(&call.image(0), [&call.image(1), &call.image(2)], unit, interpolation, border)
    });

/// The image where the maps of x and y say, as large as they are. Their numbers are `"absolute"` (pixels of the image, whole
/// ones are centres), `"relative"` (pixels from the result's own) or `"normalized"` (-1 to 1 from edge to edge); sums and
/// products are rounded to binary32 once, which is part of the definition.
///
/// # Panics
/// For another unit.
pub fn remap(
    image: &Real,
    maps: [&Real; 2],
    unit: &str,
    interpolation: Interpolation,
    border: Border,
) -> Real {
    let size = (maps[0].width, maps[0].height);
    warp(image, size, (interpolation, border), |x, y| {
        let coordinate = |map: f64, own: usize, side: usize| match unit {
            "absolute" => map as f32,
            "relative" => (map + own as f64) as f32,
            "normalized" => map.mul_add(side as f64 / 2.0, (side as f64 - 1.0) / 2.0) as f32,
            other => panic!("no coordinates '{other}'"),
        };
        let (map_x, map_y) = (maps[0].at(x, y, 0), maps[1].at(x, y, 0));
        Some([coordinate(map_x, x, image.width), coordinate(map_y, y, image.height)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit() {
        let image = Real::from_fn(4, 2, 1, |x, y, _| (10 * y + x) as f64);
        let map = |values: [f64; 3]| Real::from_fn(3, 1, 1, |x, _, _| values[x]);
        let of = |unit, x, y| {
            remap(&image, [&map(x), &map(y)], unit, Interpolation::Bilinear, Border::Constant(100.0)).data
        };
        assert_eq!(of("absolute", [0.5, 3.0, f64::NAN], [1.0, 0.5, 0.0]), [10.5, 8.0, 100.0]);
        assert_eq!(of("relative", [0.5, 2.0, -1.0], [1.0, 0.5, 0.0]), [10.5, 8.0, 1.0]);
        assert_eq!(of("normalized", [0.0, -0.75, 0.75], [0.0, -0.5, 0.5]), [6.5, 0.0, 13.0]);
    }
}
