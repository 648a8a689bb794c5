use mip_core::{DType, PixelFormat};

use super::Border;
use super::apply::Reference;
use super::around::around;
use super::color_convert::stored_gray;
use crate::Real;
use crate::golden::Params;

pub(super) const REFERENCE: Reference = Reference::new("canny", &["low", "high", "l2_gradient"], |call| {
    let desc = call.desc();
    canny(&call.image(0), desc.format(), desc.dtype(), call.params)
})
.output(|_, desc| desc.with_format(PixelFormat::Gray).unwrap());

/// Edges of the gray image, followed from strong pixels to weak ones.
pub fn canny(image: &Real, format: PixelFormat, dtype: DType, params: &Params) -> Real {
    let gray = stored_gray(image, format, dtype);
    let squared = params.flag("l2_gradient").unwrap_or(false);
    let threshold = |name: &str| {
        let given = f64::from(params.number(name).unwrap() as f32).min(32767.0);
        (if squared { given * given } else { given }).floor()
    };
    let (a, b) = (threshold("low"), threshold("high"));
    let (low, high) = (a.min(b), a.max(b));
    let (width, height) = (gray.width as i64, gray.height as i64);
    let derivative = |x: i64, y: i64, along: fn(i64, i64) -> (i64, i64)| -> f64 {
        let tap = |step: i64, side: i64| {
            let (dx, dy) = along(step, side);
            around(&gray, Border::Replicate, (x + dx, y + dy), 0)
        };
        [(-1, 1.0), (0, 2.0), (1, 1.0)].iter().map(|&(side, w)| w * (tap(1, side) - tap(-1, side))).sum()
    };
    let gradient =
        |x, y| (derivative(x, y, |step, side| (step, side)), derivative(x, y, |step, side| (side, step)));
    let strength = |x: i64, y: i64| {
        if x < 0 || y < 0 || x >= width || y >= height {
            return 0.0;
        }
        let (dx, dy) = gradient(x, y);
        if squared { dx * dx + dy * dy } else { dx.abs() + dy.abs() }
    };
    // The tangent of 22.5 degrees as OpenCV has it, and that of 67.5, which is 2 more.
    let tangent = 13573.0 / 32768.0;
    let candidate = |x: i64, y: i64| {
        let (m, (dx, dy)) = (strength(x, y), gradient(x, y));
        let maximum = if dy.abs() < tangent * dx.abs() {
            m > strength(x - 1, y) && m >= strength(x + 1, y)
        } else if dy.abs() > (tangent + 2.0) * dx.abs() {
            m > strength(x, y - 1) && m >= strength(x, y + 1)
        } else {
            let side = if (dx < 0.0) == (dy < 0.0) { 1 } else { -1 };
            m > strength(x - side, y - 1) && m > strength(x + side, y + 1)
        };
        (m > low && maximum).then_some(m)
    };
    let mut edges = Real::from_fn(gray.width, gray.height, 1, |_, _, _| 0.0);
    let all = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let mut open: Vec<(i64, i64)> = all.filter(|&(x, y)| candidate(x, y).is_some_and(|m| m > high)).collect();
    while let Some((x, y)) = open.pop() {
        let at = (y * width + x) as usize;
        if edges.data[at] == 0.0 && candidate(x, y).is_some() {
            edges.data[at] = 255.0;
            let near = |by: i64, end: i64| (by - 1).max(0)..(by + 2).min(end);
            open.extend(near(y, height).flat_map(|y| near(x, width).map(move |x| (x, y))));
        }
    }
    edges
}
