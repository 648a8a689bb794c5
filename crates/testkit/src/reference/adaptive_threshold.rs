use mip_core::{DType, PixelFormat};

use super::apply::Reference;
use super::color_convert::stored_gray;
use super::{Border, box_blur, gaussian_blur};
use crate::Real;
use crate::golden::Params;

const PARAMS: &[&str] = &["kernel", "c", "method", "mode", "max_value"];

pub(super) const REFERENCE: Reference = Reference::new("adaptive_threshold", PARAMS, |call| {
    let desc = call.desc();
    adaptive_threshold(&call.image(0), desc.format(), desc.dtype(), call.params)
})
.output(|_, desc| desc.with_format(PixelFormat::Gray).unwrap());

/// OpenCV's `adaptiveThreshold`: a mean that is rounded, then `v - mean > -ceil(c)`, or `<= -floor(c)` the other way round.
pub fn adaptive_threshold(image: &Real, format: PixelFormat, dtype: DType, params: &Params) -> Real {
    let gray = stored_gray(image, format, dtype);
    let kernel = params.size("kernel").unwrap_or(11);
    let mean = match (params.word("method"), kernel) {
        (Some("gaussian"), 3 | 5 | 7) => small_gaussian(&gray, kernel),
        (Some("gaussian"), _) => {
            let sigma = 0.3 * ((kernel as f64 - 1.0) * 0.5 - 1.0) + 0.8;
            gaussian_blur(&gray, kernel, Some(sigma), Border::Replicate)
        }
        _ => box_blur(&gray, kernel, kernel, Border::Replicate),
    };
    let mean = mean.rounded(dtype);
    let c = params.number("c").unwrap_or(2.0);
    let high = f64::from(params.number("max_value").unwrap_or(dtype.full_scale()) as f32);
    let inverse = params.word("mode") == Some("binary_inv");
    Real::from_fn(gray.width, gray.height, 1, |x, y, _| {
        let difference = gray.at(x, y, 0) - mean.at(x, y, 0);
        let above = difference > if inverse { -c.floor() } else { -c.ceil() };
        if above == inverse { 0.0 } else { high }
    })
}

/// The weights that OpenCV has for 3, 5 and 7.
fn small_gaussian(image: &Real, kernel: usize) -> Real {
    let weights: &[f64] = match kernel {
        3 => &[0.25, 0.5, 0.25],
        5 => &[0.0625, 0.25, 0.375, 0.25, 0.0625],
        _ => &[0.03125, 0.109_375, 0.21875, 0.28125, 0.21875, 0.109_375, 0.03125],
    };
    let radius = (kernel / 2) as i64;
    super::around::each_window(image, Border::Replicate, |at| {
        let row = |y: i64| (-radius..).zip(weights).map(|(x, w)| w * at(x, y)).sum::<f64>();
        (-radius..).zip(weights).map(|(y, w)| w * row(y)).sum()
    })
}
