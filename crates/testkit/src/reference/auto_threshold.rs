use mip_core::{DType, PixelFormat};

use super::apply::Reference;
use super::color_convert::stored_gray;
use super::counts::counts;
use crate::Real;
use crate::golden::Params;

pub(super) const REFERENCE: Reference =
    Reference::new("auto_threshold", &["method", "mode", "max_value"], |call| {
        let desc = call.desc();
        auto_threshold(&call.image(0), desc.format(), desc.dtype(), call.params)
    })
    .output(|_, desc| desc.with_format(PixelFormat::Gray).unwrap());

/// Otsu's or the triangle's threshold of the gray image, and what the mode makes of the samples.
pub fn auto_threshold(image: &Real, format: PixelFormat, dtype: DType, params: &Params) -> Real {
    let gray = stored_gray(image, format, dtype);
    let h = counts(&gray, 0);
    let t = if params.word("method") == Some("triangle") { triangle(&h) } else { otsu(&h) };
    let high = f64::from(params.number("max_value").unwrap_or(255.0) as f32);
    Real::from_fn(gray.width, gray.height, 1, |x, y, _| {
        let v = gray.at(x, y, 0);
        let above = v > t;
        match params.word("mode").unwrap_or("binary") {
            "binary" if above => high,
            "binary_inv" if !above => high,
            "trunc" => v.min(t),
            "tozero" if above => v,
            "tozero_inv" if !above => v,
            _ => 0.0,
        }
    })
}

/// The first threshold with the largest variance between both sides.
fn otsu(h: &[u64; 256]) -> f64 {
    let side = |values: std::ops::Range<usize>| {
        let n: u64 = h[values.clone()].iter().sum();
        let sum: u64 = values.map(|v| v as u64 * h[v]).sum();
        (n as f64, sum as f64 / n as f64)
    };
    let variance = |t: usize| {
        let ((below, low), (above, high)) = (side(0..t + 1), side(t + 1..256));
        if below == 0.0 || above == 0.0 { 0.0 } else { below * above * ((low - high) * (low - high)) }
    };
    let all: Vec<f64> = (0..256).map(variance).collect();
    let best = all.iter().copied().fold(0.0, f64::max);
    all.iter().position(|&variance| variance == best).unwrap() as f64
}

/// The point of the histogram farthest below the line from its peak to the end of the longer side.
fn triangle(h: &[u64; 256]) -> f64 {
    let occurring: Vec<i64> = (0..256).filter(|&v| h[v as usize] > 0).collect();
    let (left, right) = ((occurring[0] - 1).max(0), (occurring[occurring.len() - 1] + 1).min(255));
    let highest = *h.iter().max().unwrap() as i64;
    let peak = h.iter().position(|&count| count as i64 == highest).unwrap() as i64;
    // Seen from the end of the longer side.
    let (end, towards) = if peak - left < right - peak { (right, -1) } else { (left, 1) };
    let length = (peak - end).abs();
    let (mut farthest, mut at) = (0, 0);
    for step in 1..=length {
        let distance = highest * step - length * h[(end + towards * step) as usize] as i64;
        // The line does not begin at the end but at the end's number, as in OpenCV.
        let distance = distance + highest * if towards == 1 { end } else { 255 - end };
        if distance > farthest {
            (farthest, at) = (distance, step);
        }
    }
    (end + towards * (at - 1)) as f64
}
