use mip_core::DType;

use super::apply::Reference;
use super::{Border, pad, resize};
use crate::Real;
use crate::golden::Params;

const PARAMS: &[&str] = &["width", "height", "fill", "align", "scale_up", "stride", "filter", "antialias"];

pub(super) const REFERENCE: Reference =
    Reference::new("letterbox", PARAMS, |call| letterbox(&call.image(0), call.params, call.desc().dtype()));

/// The image resized to fit, and padded. In Python, from ultralytics' `LetterBox`:
///
/// ```text
/// r = min(height / h, width / w); r = min(r, 1.0) unless scaleup
/// new_unpad = round(w * r), round(h * r)
/// dw, dh = width - new_unpad[0], height - new_unpad[1]; modulo stride if auto
/// if center: dw /= 2; dh /= 2
/// top = round(dh - 0.1) if center else 0, bottom = round(dh + 0.1)
/// ```
pub fn letterbox(image: &Real, params: &Params, dtype: DType) -> Real {
    let size = |name: &str| params.size(name).expect("a size");
    let (width, height) = (size("width"), size("height"));
    let (w, h) = (image.width as f64, image.height as f64);
    let mut r = (height as f64 / h).min(width as f64 / w);
    if params.flag("scale_up") == Some(false) {
        r = r.min(1.0);
    }
    let inner = [w, h].map(|side| ((side * r).round_ties_even() as usize).max(1));
    let rest = [(width, inner[0]), (height, inner[1])].map(|(outer, inner)| match params.size("stride") {
        Some(stride) => (outer - inner) % stride,
        None => outer - inner,
    });
    let center = params.word("align") != Some("top_left");
    let before = rest.map(|d| if center { (d as f64 / 2.0 - 0.1).round_ties_even() as usize } else { 0 });
    let small = Params::new()
        .with("width", inner[0] as i64)
        .with("height", inner[1] as i64)
        .with("filter", params.word("filter").unwrap_or("bilinear"))
        .with("antialias", params.flag("antialias").unwrap_or(false));
    let small = resize::by_params(image, &small, dtype);
    let full = dtype.full_scale();
    let fill = params.list("fill").unwrap_or_else(|| vec![114.0 / 255.0 * full]);
    let fill: Vec<f64> = (0..image.channels)
        .map(|c| match fill.len() {
            1 if c < 3 => fill[0],
            given if c < given && given > 1 => fill[c],
            _ => full,
        })
        .collect();
    let outer = (inner[0] + rest[0], inner[1] + rest[1]);
    pad(&small, (before[0], before[1]), outer, Border::Constant(0.0), &fill)
}
