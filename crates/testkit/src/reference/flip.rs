use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("flip", &["direction"], |call| {
    let direction = call.params.word("direction").unwrap_or("horizontal");
    flip(&call.image(0), direction != "vertical", direction != "horizontal")
});

/// Mirrored left to right (`horizontal`), top to bottom (`vertical`), or both: turned by 180 degrees.
pub fn flip(image: &Real, horizontal: bool, vertical: bool) -> Real {
    let (w, h) = (image.width, image.height);
    Real::from_fn(w, h, image.channels, |x, y, c| {
        image.at(if horizontal { w - 1 - x } else { x }, if vertical { h - 1 - y } else { y }, c)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_axes() {
        let image = Real::from_fn(3, 2, 1, |x, y, _| (10 * y + x) as f64);
        assert_eq!(flip(&image, true, false).data, [2.0, 1.0, 0.0, 12.0, 11.0, 10.0]);
        assert_eq!(flip(&image, false, true).data, [10.0, 11.0, 12.0, 0.0, 1.0, 2.0]);
        assert_eq!(flip(&flip(&image, true, true), true, true), image);
    }
}
