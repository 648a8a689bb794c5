use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference =
    Reference::new("crop", &["x", "y", "width", "height", "center"], |call| {
        let (image, params) = (call.image(0), call.params);
        let (width, height) = (params.size("width").expect("width"), params.size("height").expect("height"));
        let (x, y) = if params.flag("center").unwrap_or(false) {
            ((image.width - width) / 2, (image.height - height) / 2)
        } else {
            (params.size("x").unwrap_or(0), params.size("y").unwrap_or(0))
        };
        crop(&image, x, y, width, height)
    });

/// The `width` x `height` rectangle whose top left corner is at (`x`, `y`).
///
/// # Panics
/// When it does not lie inside the image.
pub fn crop(image: &Real, x: usize, y: usize, width: usize, height: usize) -> Real {
    assert!(x + width <= image.width && y + height <= image.height, "a rectangle outside the image");
    Real::from_fn(width, height, image.channels, |i, j, c| image.at(x + i, y + j, c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_rectangle() {
        let image = Real::from_fn(4, 3, 1, |x, y, _| (10 * y + x) as f64);
        assert_eq!(crop(&image, 1, 1, 2, 2).data, [11.0, 12.0, 21.0, 22.0]);
    }
}
