use mip_core::DType;

use super::apply::Reference;
use crate::Real;
use crate::golden::Params;

pub(super) const REFERENCE: Reference =
    Reference::new("label", &["connectivity", "min_area"], |call| label(&call.image(0), call.params))
        .output(|_, desc| desc.with_dtype(DType::F32).unwrap());

/// Regions filled one after the other, each from its first pixel in reading order.
pub fn label(image: &Real, params: &Params) -> Real {
    let four = params.digits("connectivity").as_deref() == Some("4");
    let min_area = params.number("min_area").unwrap_or(1.0) as usize;
    let (width, height) = (image.width as i64, image.height as i64);
    let mut labels = Real::from_fn(image.width, image.height, 1, |_, _, _| 0.0);
    let mut seen = vec![false; labels.data.len()];
    let mut count = 0.0;
    for start in 0..seen.len() {
        let mut open = vec![start];
        let mut region = Vec::new();
        while let Some(at) = open.pop() {
            if seen[at] || image.data[at] == 0.0 {
                continue;
            }
            seen[at] = true;
            region.push(at);
            let (x, y) = (at as i64 % width, at as i64 / width);
            for (dx, dy) in (-1..=1).flat_map(|dy| (-1..=1).map(move |dx: i64| (dx, dy as i64))) {
                let inside = (0..width).contains(&(x + dx)) && (0..height).contains(&(y + dy));
                if inside && !(four && dx != 0 && dy != 0) {
                    open.push(((y + dy) * width + x + dx) as usize);
                }
            }
        }
        if !region.is_empty() && region.len() >= min_area {
            count += 1.0;
            for at in region {
                labels.data[at] = count;
            }
        }
    }
    labels
}
