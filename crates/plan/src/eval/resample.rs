use super::{Image, straight};
use crate::{AxisTaps, Resample};

pub(super) fn pixel(kernel: &Resample, image: Image<'_, '_>, (x, y): (u32, u32), pixel: &mut [f32]) {
    if let (true, Some(alpha)) = (kernel.is_wide(&image.view.layout().desc), image.alpha()) {
        return with_alpha(kernel, image, alpha, (x, y), pixel);
    }
    let desc = image.view.layout().desc;
    let [long_x, long_y] = [kernel.x.is_long(&desc), kernel.y.is_long(&desc)];
    for (channel, value) in pixel.iter_mut().enumerate() {
        let row = |j: u32| sum(&kernel.x, x, long_x, |i| image.premultiplied(i, j, channel));
        *value = sum(&kernel.y, y, long_y, row);
    }
    straight(pixel, image.alpha());
}

/// All in binary64.
fn with_alpha(kernel: &Resample, image: Image<'_, '_>, alpha: usize, (x, y): (u32, u32), pixel: &mut [f32]) {
    let sum = |channel: usize| {
        let premultiplied = |i, j| {
            let cover = if channel == alpha { 1.0 } else { f64::from(image.at(i, j, alpha)) };
            f64::from(image.at(i, j, channel)) * cover
        };
        wide_sum(&kernel.y, y, |j| wide_sum(&kernel.x, x, |i| premultiplied(i, j)))
    };
    let (cover, clear) = (sum(alpha), Resample::clear(image.view.layout().desc.dtype()));
    for (channel, value) in pixel.iter_mut().enumerate() {
        *value = match channel {
            _ if channel == alpha => cover as f32,
            _ if cover > clear => (sum(channel) / cover) as f32,
            _ => 0.0,
        };
    }
}

fn wide_sum(axis: &AxisTaps, output: u32, sample: impl Fn(u32) -> f64) -> f64 {
    let taps = (axis.starts()[output as usize]..).zip(axis.wide_weights(output as usize));
    let taps = taps.filter(|(_, w)| **w != 0.0);
    taps.fold(-0.0_f64, |sum, (i, &w)| w.mul_add(sample(i), sum))
}

/// One output's weighted sum along an axis.
fn sum(axis: &AxisTaps, output: u32, long: bool, sample: impl Fn(u32) -> f32) -> f32 {
    let start = axis.starts()[output as usize];
    let output = output as usize;
    // A tap of weight 0 is none: what lies there is not read.
    if long {
        let taps = (start..).zip(axis.wide_weights(output)).filter(|(_, w)| **w != 0.0);
        return taps.fold(-0.0_f64, |sum, (i, &w)| w.mul_add(f64::from(sample(i)), sum)) as f32;
    }
    let taps = (start..).zip(axis.weights(output)).filter(|(_, w)| **w != 0.0);
    taps.fold(-0.0_f32, |sum, (i, &w)| w.mul_add(sample(i), sum))
}
