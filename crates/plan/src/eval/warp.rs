use super::window::around;
use super::{Image, straight};
use crate::{Border, Interpolation, Sampled};

pub(super) fn pixel(
    kernel: &Sampled,
    uniforms: &[f32],
    image: Image<'_, '_>,
    (x, y): (u32, u32),
    pixel: &mut [f32],
) {
    let Some([sx, sy]) = kernel.coordinates.source(uniforms, x, y) else {
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
    }
}

/// `w[0] * p(0)`, then `fma(w[1], p(1), sum)`; a tap of weight 0 is none.
fn sum(weights: [f32; 2], p: impl Fn(i64) -> f32) -> f32 {
    let taps = (0..).zip(weights).filter(|(_, w)| *w != 0.0);
    taps.fold(-0.0_f32, |sum, (i, w)| w.mul_add(p(i), sum))
}
