use super::Border;
use super::apply::Reference;
use super::erode::{PARAMS, extreme, of_call};
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("dilate", PARAMS, |call| of_call(call, dilate));

/// The highest sample around each pixel; otherwise as [`super::erode`].
pub fn dilate(image: &Real, kernel: usize, cross: bool, border: Border) -> Real {
    extreme(image, kernel, cross, border, |a, b| if a > b { a } else { b })
}
