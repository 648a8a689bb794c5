use super::{Image, straight};
use crate::{AxisTaps, Resample};

pub(super) fn pixel(kernel: &Resample, image: Image<'_, '_>, (x, y): (u32, u32), pixel: &mut [f32]) {
    let chain = Resample::longest_chain(&image.view.layout().desc);
    for (channel, value) in pixel.iter_mut().enumerate() {
        let row = |j: u32| sum(&kernel.x, x, chain, |i| image.premultiplied(i, j, channel));
        *value = sum(&kernel.y, y, chain, row);
    }
    straight(pixel, image.alpha());
}

/// One output's weighted sum along an axis.
fn sum(axis: &AxisTaps, output: u32, chain: usize, sample: impl Fn(u32) -> f32) -> f32 {
    let start = axis.starts()[output as usize];
    let output = output as usize;
    // A tap of weight 0 is none: what lies there is not read.
    if axis.taps() > chain {
        let taps = (start..).zip(axis.wide_weights(output)).filter(|(_, w)| **w != 0.0);
        return taps.fold(-0.0_f64, |sum, (i, &w)| w.mul_add(f64::from(sample(i)), sum)) as f32;
    }
    let taps = (start..).zip(axis.weights(output)).filter(|(_, w)| **w != 0.0);
    taps.fold(-0.0_f32, |sum, (i, &w)| w.mul_add(sample(i), sum))
}
