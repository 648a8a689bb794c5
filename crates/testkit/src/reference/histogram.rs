use mip_core::{DType, PixelFormat};

use super::apply::Reference;
use super::counts::{colors, counts};
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("histogram", &[], |call| histogram(&call.image(0)))
    .output(|_, desc| desc.with_format(PixelFormat::Gray).unwrap().with_dtype(DType::F32).unwrap());

/// A row of 256 counts for each colour channel.
pub fn histogram(image: &Real) -> Real {
    let all: Vec<[u64; 256]> = (0..colors(image)).map(|channel| counts(image, channel)).collect();
    Real::from_fn(256, all.len(), 1, |v, channel, _| all[channel][v] as f64)
}
