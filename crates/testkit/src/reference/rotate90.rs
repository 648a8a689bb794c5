use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("rotate90", &["direction"], |call| {
    let direction = call.params.digits("direction").expect("direction");
    let quarters = ["cw", "180", "ccw"].iter().position(|d| *d == direction).expect("a direction");
    rotate90(&call.image(0), 1 + quarters)
});

/// Turned clockwise by so many quarters.
pub fn rotate90(image: &Real, quarters: usize) -> Real {
    (0..quarters).fold(image.clone(), |image, _| {
        let (w, h) = (image.width, image.height);
        Real::from_fn(h, w, image.channels, |x, y, c| image.at(y, h - 1 - x, c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_left_column_becomes_the_top_row() {
        let image = Real::from_fn(3, 2, 1, |x, y, _| (10 * y + x) as f64);
        let turned = rotate90(&image, 1);
        assert_eq!((turned.width, turned.height), (2, 3));
        assert_eq!(turned.data, [10.0, 0.0, 11.0, 1.0, 12.0, 2.0]);
        assert_eq!(rotate90(&image, 3).data, [2.0, 12.0, 1.0, 11.0, 0.0, 10.0]);
        assert_eq!(rotate90(&image, 4), image);
    }
}
