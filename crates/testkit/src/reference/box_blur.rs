use super::Border;
use super::apply::Reference;
use super::weighted::{Taps, weighted};
use crate::Real;

pub(super) const REFERENCE: Reference =
    Reference::new("box_blur", &["kernel", "border", "border_value"], |call| {
        let kernel = call.params.list("kernel").unwrap_or_else(|| vec![3.0]);
        let (width, height) = (kernel[0] as usize, kernel[kernel.len() - 1] as usize);
        box_blur(&call.image(0), width, height, Border::of(call.params))
    });

/// The mean of `width` x `height` pixels (odd); RGBA is premultiplied.
pub fn box_blur(image: &Real, width: usize, height: usize, border: Border) -> Real {
    let axis = |n: usize, side: usize| -> Vec<Taps> {
        let radius = (side / 2) as i64;
        let taps = |o: i64| (-radius..=radius).map(|d| (border.resolve(o + d, n), 1.0)).collect();
        (0..n as i64).map(|o| Taps::normalised(taps(o)).merged_above(width.max(height))).collect()
    };
    let constant = if let Border::Constant(v) = border { v } else { 0.0 };
    weighted(image, &axis(image.width, width), &axis(image.height, height), constant)
}
