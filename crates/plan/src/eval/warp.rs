use super::window::around;
use super::{Image, straight};
use crate::{Border, CropFilter, Crops, Interpolation, Sampled};

pub(super) fn pixel(
    kernel: &Sampled,
    uniforms: &[f32],
    images: &[Image<'_, '_>],
    (x, y): (u32, u32),
    pixel: &mut [f32],
) {
    let image = images[0];
    let map = if let [_, along_x, along_y] = images {
        [along_x.at(x, y, 0), along_y.at(x, y, 0)]
    } else {
        [0.0; 2]
    };
    let Some([sx, sy]) = kernel.coordinates.source(uniforms, (x, y), map, image.size()) else {
        pixel.fill(if let Border::Constant(value) = kernel.border { value } else { 0.0 });
        return;
    };
    let sample = |place, channel, premultiply| around(image, kernel.border, place, channel, premultiply);
    match kernel.interpolation {
        Interpolation::Nearest => {
            let place = (Sampled::nearest(sx), Sampled::nearest(sy));
            pixel.iter_mut().enumerate().for_each(|(c, value)| *value = sample(place, c, false));
        }
        Interpolation::Bilinear => {
            let ((x0, wx), (y0, wy)) = (Sampled::linear(sx), Sampled::linear(sy));
            for (channel, value) in pixel.iter_mut().enumerate() {
                let row = |j: i64| sum(wx, |i| sample((x0 + i, y0 + j), channel, true));
                *value = sum(wy, row);
            }
            straight(pixel, image.alpha());
        }
        Interpolation::Bicubic if let Some(alpha) = image.alpha() => {
            let ((x0, wx), (y0, wy)) = (Sampled::wide_cubic(sx), Sampled::wide_cubic(sy));
            let mut sums = [0.0; 4];
            for (channel, value) in sums.iter_mut().enumerate() {
                let premultiplied = |place| {
                    let cover = if channel == alpha { 1.0 } else { f64::from(sample(place, alpha, false)) };
                    f64::from(sample(place, channel, false)) * cover
                };
                *value = wide_sum(wy, |j| wide_sum(wx, |i| premultiplied((x0 + i, y0 + j))));
            }
            let cover = sums[alpha];
            for (channel, (value, sum)) in pixel.iter_mut().zip(sums).enumerate() {
                *value = match channel {
                    _ if channel == alpha => sum as f32,
                    _ if cover > 0.0 => (sum / cover) as f32,
                    _ => 0.0,
                };
            }
        }
        Interpolation::Bicubic => {
            let ((x0, wx), (y0, wy)) = (Sampled::cubic(sx), Sampled::cubic(sy));
            for (channel, value) in pixel.iter_mut().enumerate() {
                *value = sum(wy, |j| sum(wx, |i| sample((x0 + i, y0 + j), channel, false)));
            }
        }
    }
}

/// A pixel of a result so many columns wide.
pub(super) fn crop(
    kernel: Crops,
    width: u32,
    images: &[Image<'_, '_>],
    (x, y): (u32, u32),
    pixel: &mut [f32],
) {
    let (image, boxes) = (images[0], images[1]);
    let numbers = [0, 1, 2, 3].map(|number| boxes.at(number, y / kernel.rows, 0));
    let Some([across, down]) = Crops::pixels(numbers, image.size()) else { return pixel.fill(0.0) };
    let (column, row) = (x, y % kernel.rows);
    match kernel.filter {
        CropFilter::Nearest => {
            let x = across.0 + Crops::nearest(column, across.1, width);
            let y = down.0 + Crops::nearest(row, down.1, kernel.rows);
            pixel.iter_mut().enumerate().for_each(|(c, value)| *value = image.at(x, y, c));
        }
        CropFilter::Bilinear => {
            let (x, wx) = Crops::linear(column, across.1, width);
            let (y, wy) = Crops::linear(row, down.1, kernel.rows);
            let (x, y) = (across.0 + x, down.0 + y);
            for (channel, value) in pixel.iter_mut().enumerate() {
                let sample = |i: i64, j: i64| image.premultiplied(x + i as u32, y + j as u32, channel);
                *value = sum(wy, |j| sum(wx, |i| sample(i, j)));
            }
            straight(pixel, image.alpha());
        }
    }
}

/// `w[0] * p(0)`, then `fma(w[1], p(1), sum)` and so on; a tap of weight 0 is none.
fn sum<const N: usize>(weights: [f32; N], p: impl Fn(i64) -> f32) -> f32 {
    let taps = (0..).zip(weights).filter(|(_, w)| *w != 0.0);
    taps.fold(-0.0_f32, |sum, (i, w)| w.mul_add(p(i), sum))
}

/// The same in binary64.
fn wide_sum(weights: [f64; 4], p: impl Fn(i64) -> f64) -> f64 {
    let taps = (0..).zip(weights).filter(|(_, w)| *w != 0.0);
    taps.fold(-0.0_f64, |sum, (i, w)| w.mul_add(p(i), sum))
}
