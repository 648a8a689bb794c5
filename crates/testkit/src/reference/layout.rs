use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("layout", &["to"], |call| layout(&call.image(0)))
    .output(|params, desc| desc.with_layout(params.word("to").expect("to").parse().expect("a layout")));

/// Another order in memory: no sample changes, and [`Real`] has only one order.
#[must_use]
pub fn layout(image: &Real) -> Real {
    image.clone()
}
