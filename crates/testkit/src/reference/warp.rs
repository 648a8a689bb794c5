//! What all warps share: an image sampled at any coordinates.

use super::Border;
use super::apply::Call;
use super::weighted::{Taps, weighted};
use crate::Real;

/// What a sample between pixels is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// The nearest pixel, halves to even.
    Nearest,
    /// The weighted mean of the two around, along each axis.
    Bilinear,
    /// Keys' cubic convolution with a = -0.75 over the four around, along each axis.
    Bicubic,
}

/// How a call samples.
pub(super) fn sampling(call: &Call<'_>) -> (Interpolation, Border) {
    let interpolation = match call.params.word("filter").unwrap_or("bilinear") {
        "nearest" => Interpolation::Nearest,
        "bilinear" => Interpolation::Bilinear,
        "bicubic" => Interpolation::Bicubic,
        other => panic!("no filter '{other}'"),
    };
    (interpolation, Border::or(call.params, "constant"))
}

/// The size that a call's parameters say, otherwise the input's.
pub(super) fn size(call: &Call<'_>) -> (usize, usize) {
    let side = |name, own: u32| call.params.size(name).unwrap_or(own as usize);
    (side("width", call.desc().width()), side("height", call.desc().height()))
}

/// A result of `width` x `height` pixels: its pixel (x, y) is the image at the point that `place` says, in coordinates whose
/// whole numbers are centres of pixels; if there is none, the border's constant or 0. Coordinates are binary32, which is part
/// of the definition.
pub(super) fn warp(
    image: &Real,
    (width, height): (usize, usize),
    (interpolation, border): (Interpolation, Border),
    place: impl Fn(usize, usize) -> Option<[f32; 2]>,
) -> Real {
    let constant = if let Border::Constant(value) = border { value } else { 0.0 };
    let mut data = Vec::with_capacity(width * height * image.channels);
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        let Some([sx, sy]) = place(x, y).filter(|s| !s.iter().any(|s| s.is_nan())) else {
            data.extend(std::iter::repeat_n(constant, image.channels));
            continue;
        };
        let column = taps(sx, image.width, interpolation, border);
        let row = taps(sy, image.height, interpolation, border);
        if interpolation == Interpolation::Nearest {
            let place = column.taps[0].0.zip(row.taps[0].0);
            data.extend((0..image.channels).map(|c| place.map_or(constant, |(x, y)| image.at(x, y, c))));
        } else {
            data.extend(weighted(image, &[column], &[row], constant).data);
        }
    }
    Real { width, height, channels: image.channels, data }
}

/// What a coordinate reads along an axis of n pixels; what weighs nothing is not read.
fn taps(s: f32, n: usize, interpolation: Interpolation, border: Border) -> Taps {
    let s = f64::from(s).clamp(-2_147_483_648.0, 2_147_483_648.0);
    // Walking to the image takes too long from far away: whole periods of all borders first.
    let period = (2 * n * (2 * n - 2).max(1)) as i64;
    let inside = |i: f64| match border {
        Border::Replicate | Border::Constant(_) => border.resolve(i as i64, n),
        Border::Reflect101 | Border::Reflect | Border::Wrap => border.resolve(i as i64 % period, n),
    };
    let around = |reach: i32, weight: fn(f64) -> f64| {
        let pixels = (1 - reach..=reach).map(|k| s.floor() + f64::from(k));
        let read = pixels.map(|i| (i, weight((s - i).abs()))).filter(|(_, w)| *w != 0.0);
        read.map(|(i, w)| (inside(i), w)).collect()
    };
    let taps = match interpolation {
        Interpolation::Nearest => vec![(inside(s.round_ties_even()), 1.0)],
        Interpolation::Bilinear => around(1, |d| 1.0 - d),
        Interpolation::Bicubic => around(2, cubic),
    };
    Taps { taps, total: 1.0 }
}

/// Keys (1981), equation 4, with a = -0.75.
fn cubic(d: f64) -> f64 {
    let a = -0.75;
    if d <= 1.0 {
        ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
    } else {
        ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubic_sums() {
        let image = Real::from_fn(4, 1, 1, |x, _, _| [0.0, 32.0, 64.0, 0.0][x]);
        let of = |s: f32, border| {
            warp(&image, (1, 1), (Interpolation::Bicubic, border), |_, _| Some([s, 0.0])).data[0]
        };
        // -3, 19, 19, -3 of 32.
        assert_eq!(of(1.5, Border::Replicate), 57.0);
        assert_eq!(of(0.5, Border::Constant(32.0)), 10.0);
        assert_eq!(of(2.0, Border::Replicate), 64.0);
    }
}
