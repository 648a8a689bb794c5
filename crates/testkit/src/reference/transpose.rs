use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("transpose", &[], |call| transpose(&call.image(0)));

/// Rows for columns.
pub fn transpose(image: &Real) -> Real {
    Real::from_fn(image.height, image.width, image.channels, |x, y, c| image.at(y, x, c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{flip, rotate90};

    #[test]
    fn a_mirrored_quarter_turn() {
        let image = Real::from_fn(3, 2, 1, |x, y, _| (10 * y + x) as f64);
        assert_eq!(transpose(&image).data, [0.0, 10.0, 1.0, 11.0, 2.0, 12.0]);
        assert_eq!(transpose(&image), flip(&rotate90(&image, 1), true, false));
    }
}
