use mip_core::{DType, PixelFormat};

use super::Border;
use super::apply::Reference;
use super::sobel::gradient;
use crate::Real;

pub(super) const REFERENCE: Reference =
    Reference::new("scharr", &["scale", "border", "border_value"], |call| {
        let (desc, scale) = (call.desc(), call.params.number("scale").unwrap_or(1.0));
        scharr(&call.image(0), desc.format(), desc.dtype(), scale, Border::of(call.params))
    });

/// Gradient magnitude with the 3x3 Scharr kernels, as [`super::sobel`], times a binary32 `scale`.
pub fn scharr(image: &Real, format: PixelFormat, dtype: DType, scale: f64, border: Border) -> Real {
    const KERNEL: [[f64; 3]; 3] = [[-3.0, 0.0, 3.0], [-10.0, 0.0, 10.0], [-3.0, 0.0, 3.0]];
    let magnitude = gradient(image, KERNEL, format, dtype, border);
    let scale = f64::from(scale as f32);
    Real::from_fn(magnitude.width, magnitude.height, 1, |x, y, c| magnitude.at(x, y, c) * scale)
}
