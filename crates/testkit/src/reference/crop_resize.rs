use super::apply::Reference;
use super::draw::edges;
use super::resize::Filter;
use super::{crop, resize};
use crate::Real;

pub(super) const REFERENCE: Reference =
    Reference::new("crop_resize", &["width", "height", "filter", "max"], |call| {
        let size = ["width", "height"].map(|side| call.params.size(side).expect("a size"));
        let boxes = call.image(1);
        let regions = call.params.size("max").unwrap_or(boxes.height);
        let nearest = call.params.word("filter") == Some("nearest");
        crop_resize(
            &call.image(0),
            &boxes,
            size,
            regions,
            if nearest { Filter::Nearest } else { Filter::Bilinear },
        )
    });

/// Boxes cropped and then resized, one below the other; what has no pixel is 0.
pub fn crop_resize(
    image: &Real,
    boxes: &Real,
    [width, height]: [usize; 2],
    regions: usize,
    filter: Filter,
) -> Real {
    let side = |from: f64, to: f64, pixels: usize| {
        let inside = |v: f64| v.clamp(0.0, pixels as f64) as usize;
        // A comparison with no number is false.
        if from < to { inside(from)..inside(to) } else { 0..0 }
    };
    let region = |row: usize| {
        let [left, top, right, bottom] = edges(boxes, row);
        let (x, y) = (side(left, right, image.width), side(top, bottom, image.height));
        let some = !x.is_empty() && !y.is_empty();
        some.then(|| resize(&crop(image, x.start, y.start, x.len(), y.len()), width, height, filter))
    };
    let all: Vec<Option<Real>> = (0..regions).map(region).collect();
    Real::from_fn(width, height * regions, image.channels, |x, y, c| {
        all[y / height].as_ref().map_or(0.0, |region| region.at(x, y % height, c))
    })
}
