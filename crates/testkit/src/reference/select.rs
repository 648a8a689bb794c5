use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("select", &["channels"], |call| {
    select(&call.image(0), &call.params.list("channels").expect("channels"))
});

/// The channels by their index; 0 for -1.
pub fn select(image: &Real, channels: &[f64]) -> Real {
    Real::from_fn(image.width, image.height, channels.len(), |x, y, c| {
        if channels[c] < 0.0 { 0.0 } else { image.at(x, y, channels[c] as usize) }
    })
}
