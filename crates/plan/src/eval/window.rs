use super::{Image, straight};
use crate::{Border, Separable, Sobel};

/// A sample anywhere: outside the image through the border.
pub(super) fn around(
    image: Image<'_, '_>,
    border: Border,
    (x, y): (i64, i64),
    channel: usize,
    premultiply: bool,
) -> f32 {
    let (width, height) = image.size();
    match (border.index(x, width), border.index(y, height), border) {
        (Some(x), Some(y), _) if premultiply => image.premultiplied(x, y, channel),
        (Some(x), Some(y), _) => image.at(x, y, channel),
        // A pixel with the constant in every channel.
        (_, _, Border::Constant(v)) if premultiply && image.alpha().is_some_and(|alpha| alpha != channel) => {
            v * v
        }
        (_, _, Border::Constant(v)) => v,
        _ => unreachable!("all other borders name a pixel"),
    }
}

pub(super) fn separable(
    kernel: &Separable,
    uniforms: &[f32],
    image: Image<'_, '_>,
    (x, y): (u32, u32),
    pixel: &mut [f32],
) {
    let (wx, wy) = uniforms.split_at(kernel.radius_x as usize + 1);
    let (x, y) = (i64::from(x), i64::from(y));
    for (channel, value) in pixel.iter_mut().enumerate() {
        let row = |j: i64| symmetric(wx, |i| around(image, kernel.border, (x + i, y + j), channel, true));
        *value = symmetric(wy, row);
    }
    straight(pixel, image.alpha());
}

/// `w[0] * p(0)`, then `fma(w[k], p(-k) + p(k), sum)`.
fn symmetric(weights: &[f32], p: impl Fn(i64) -> f32) -> f32 {
    let pairs = (1..).zip(&weights[1..]);
    pairs.fold(weights[0] * p(0), |sum, (k, &w)| w.mul_add(p(-k) + p(k), sum))
}

pub(super) fn sobel(kernel: Sobel, image: Image<'_, '_>, (x, y): (u32, u32)) -> f32 {
    let p = |j: i64, i: i64| around(image, kernel.border, (i64::from(x) + i, i64::from(y) + j), 0, false);
    let d = |j: i64| p(j, 1) - p(j, -1);
    let s = |j: i64| 2.0_f32.mul_add(p(j, 0), p(j, -1) + p(j, 1));
    let gx = 2.0_f32.mul_add(d(0), d(-1) + d(1));
    let gy = s(1) - s(-1);
    gx.mul_add(gx, gy * gy).sqrt()
}
