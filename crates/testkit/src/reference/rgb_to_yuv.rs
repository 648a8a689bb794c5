use mip_core::video::{ChromaSampling, Matrix, Range};
use mip_core::{DType, ImageDesc, PixelFormat};

use super::apply::{Call, Reference};
use super::yuv_to_rgb::word;
use crate::Real;
use crate::golden::Params;

const PARAMS: &[&str] = &["plane", "matrix", "range", "sampling", "bits"];

pub(super) const REFERENCE: Reference = Reference::new("rgb_to_yuv", PARAMS, of).output(|params, desc| {
    let dtype = if bits(params) > 8.0 { DType::U16 } else { DType::U8 };
    ImageDesc::new(desc.width(), desc.height(), PixelFormat::Gray, dtype).expect("as the colours")
});

fn bits(params: &Params) -> f64 {
    params.number("bits").unwrap_or(8.0)
}

fn of(call: &Call<'_>) -> Real {
    let (params, desc) = (call.params, call.desc());
    let matrix = word(params, "matrix", &Matrix::ALL, Matrix::name).expect("a matrix");
    let range = word(params, "range", &Range::ALL, Range::name).expect("a range");
    let sampling = word(params, "sampling", &ChromaSampling::ALL, ChromaSampling::name).unwrap_or_default();
    let plane = params.word("plane").expect("a plane");
    let order = desc.format().rgb_indices().unwrap_or([0; 3]);
    let colors = (call.image(0), order, desc.dtype().full_scale());
    rgb_to_yuv((&colors.0, colors.1, colors.2), plane, matrix, range, sampling, bits(params))
}

/// The definition on each pixel, then the mean over those that share a sample. `order` says which channels are red, green and
/// blue, `full` what stands for 1.
pub fn rgb_to_yuv(
    (image, order, full): (&Real, [usize; 3], f64),
    plane: &str,
    matrix: Matrix,
    range: Range,
    sampling: ChromaSampling,
    bits: f64,
) -> Real {
    let (kr, kb) = matrix.weights();
    let analog = |x: usize, y: usize| {
        let [red, green, blue] = order.map(|c| image.at(x, y, c) / full);
        let kg = 1.0 - kr - kb;
        // B - Y and R - Y, without the colour's own part of Y, which an infinity would make of itself.
        match plane {
            "y" => kr * red + kg * green + kb * blue,
            "u" => (kr * (blue - red) + kg * (blue - green)) / (2.0 - 2.0 * kb),
            "v" => (kg * (red - green) + kb * (red - blue)) / (2.0 - 2.0 * kr),
            other => panic!("no plane '{other}'"),
        }
    };
    let (across, down) =
        if plane == "y" { (1, 1) } else { (1 << sampling.shifts().0, 1 << sampling.shifts().1) };
    let (eight, largest) = ((bits - 8.0).exp2(), bits.exp2() - 1.0);
    let quantized = |value: f64| {
        let sample = match (range, plane) {
            (Range::Full, "y") => value * largest,
            (Range::Limited, "y") => (16.0 + 219.0 * value) * eight,
            (Range::Full, _) => 128.0 * eight + value * largest,
            (Range::Limited, _) => (128.0 + 224.0 * value) * eight,
        };
        // NaN stays what it is.
        if sample > largest { largest } else { sample }
    };
    Real::from_fn(image.width.div_ceil(across), image.height.div_ceil(down), 1, |cx, cy, _| {
        let mut sum = 0.0;
        for (dx, dy) in (0..down).flat_map(|dy| (0..across).map(move |dx| (dx, dy))) {
            sum += analog((cx * across + dx).min(image.width - 1), (cy * down + dy).min(image.height - 1));
        }
        quantized(sum / (across * down) as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primaries_of_bt_601_in_limited_range() {
        // Y, U, V of red in 8 bits: 81.5, 90.2, 240 (ITU-R BT.601-7, 2.5.1 to 2.5.4).
        let red = Real::from_fn(1, 1, 3, |_, _, c| if c == 0 { 1.0 } else { 0.0 });
        let of = |plane| {
            let colors = (&red, [0, 1, 2], 1.0);
            rgb_to_yuv(colors, plane, Matrix::Bt601, Range::Limited, ChromaSampling::C420, 8.0).data[0]
        };
        let wanted = [16.0 + 219.0 * 0.299, 128.0 - 224.0 * 0.299 / 1.772, 240.0];
        for (made, wanted) in ["y", "u", "v"].map(of).into_iter().zip(wanted) {
            assert!((made - wanted).abs() < 1e-9, "{made} {wanted}");
        }
    }
}
