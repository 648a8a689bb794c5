use mip_core::PixelFormat;
use mip_core::video::{ChromaSampling, Matrix, Packing, Range, Siting};

use super::apply::{Call, Reference};
use crate::Real;
use crate::golden::Params;

const PARAMS: &[&str] =
    &["matrix", "range", "sampling", "packing", "chroma", "siting", "bits", "shift", "to"];

pub(super) const REFERENCE: Reference = Reference::new("yuv_to_rgb", PARAMS, of).output(|params, desc| {
    let to = params.word("to").map_or(PixelFormat::Rgb, |to| to.parse().expect("a format"));
    desc.with_format(to).expect("small")
});

pub(super) fn word<T: Copy>(
    params: &Params,
    name: &str,
    all: &[T],
    name_of: fn(T) -> &'static str,
) -> Option<T> {
    let word = params.digits(name)?;
    Some(all.iter().copied().find(|&v| name_of(v) == word).expect("a word"))
}

fn of(call: &Call<'_>) -> Real {
    let (params, desc) = (call.params, call.desc());
    let matrix = word(params, "matrix", &Matrix::ALL, Matrix::name).expect("a matrix");
    let range = word(params, "range", &Range::ALL, Range::name).expect("a range");
    let sampling = word(params, "sampling", &ChromaSampling::ALL, ChromaSampling::name).unwrap_or_default();
    let packing = word(params, "packing", &Packing::ALL, Packing::name).unwrap_or_default();
    let bits = params.number("bits").unwrap_or(8.0 * desc.dtype().size() as f64);
    let shift = params.number("shift").unwrap_or(0.0);
    let to = params.word("to").unwrap_or("rgb");
    let planes = [0, 1, 2].map(|slot| call.image(slot));
    // Interpolated chroma is as if there were a sample for each pixel.
    if params.word("chroma") == Some("bilinear") && sampling.shifts() != (0, 0) {
        let siting = word(params, "siting", &Siting::ALL, Siting::name).unwrap_or_default();
        let planes = yuv_planes(&planes, (sampling, packing), siting, (bits, shift));
        let arrangement = (ChromaSampling::C444, Packing::Planar);
        return yuv_to_rgb(&planes, matrix, range, arrangement, (bits, shift, desc.dtype().full_scale()), to);
    }
    yuv_to_rgb(&planes, matrix, range, (sampling, packing), (bits, shift, desc.dtype().full_scale()), to)
}

/// Planes of full resolution: chroma at a pixel is what lies between the samples around it, whose distances are measured in
/// pixels.
///
/// # Panics
/// When a plane is too small.
pub fn yuv_planes(
    planes: &[Real; 3],
    (sampling, packing): (ChromaSampling, Packing),
    siting: Siting,
    (bits, shift): (f64, f64),
) -> [Real; 3] {
    let packed = matches!(packing, Packing::Yuyv | Packing::Uyvy);
    let (width, height) = (planes[0].width / if packed { 2 } else { 1 }, planes[0].height);
    // Where all is in one plane, each row has chroma of its own.
    let (across, down) = (sampling.shifts().0 == 1, sampling.shifts().1 == 1 && !packed);
    let most = (bits + shift).exp2() - 1.0;
    let sample = |slot: usize, x: usize, y: usize| {
        let column = match (packing, slot) {
            (Packing::Planar, _) | (Packing::Uv | Packing::Vu, 0) => x,
            (Packing::Uv, _) => 2 * x + slot - 1,
            (Packing::Vu, _) => 2 * x + 2 - slot,
            (Packing::Yuyv, 0) => 2 * x,
            (Packing::Yuyv, _) => 4 * x + 2 * slot - 1,
            (Packing::Uyvy, 0) => 2 * x + 1,
            (Packing::Uyvy, _) => 4 * x + 2 * (slot - 1),
        };
        planes[slot].at(column, y, 0).min(most)
    };
    // The weight of each sample at a pixel: 1 - distance in samples, where that is not below 0, edges going on outwards.
    let weights = |pixel: usize, samples: usize, shared: bool, between: bool| -> Vec<f64> {
        let (distance, first) = if shared { (2.0, if between { 0.5 } else { 0.0 }) } else { (1.0, 0.0) };
        let place = ((pixel as f64 - first) / distance).clamp(0.0, samples as f64 - 1.0);
        (0..samples).map(|sample| (1.0 - (place - sample as f64).abs()).max(0.0)).collect()
    };
    let (between_x, between_y) = siting.is_between();
    [0, 1, 2].map(|slot| {
        if slot == 0 {
            return Real::from_fn(width, height, 1, |x, y, _| sample(0, x, y));
        }
        let (columns, rows) =
            (if across { width.div_ceil(2) } else { width }, if down { height.div_ceil(2) } else { height });
        Real::from_fn(width, height, 1, |x, y, _| {
            let (by_x, by_y) = (weights(x, columns, across, between_x), weights(y, rows, down, between_y));
            let row = |cy: usize| -> f64 { (0..columns).map(|cx| by_x[cx] * sample(slot, cx, cy)).sum() };
            (0..rows).map(|cy| by_y[cy] * row(cy)).sum()
        })
    })
}

/// Each pixel from the inverse of the definition of `Y`, `U` and `V`, solved for red, green and blue.
///
/// # Panics
/// When a plane is too small.
pub fn yuv_to_rgb(
    planes: &[Real; 3],
    matrix: Matrix,
    range: Range,
    (sampling, packing): (ChromaSampling, Packing),
    (bits, shift, white): (f64, f64, f64),
    to: &str,
) -> Real {
    let sample = |slot: usize, x: usize, y: usize| {
        let (dx, dy) = sampling.size(2, 2);
        let (cx, cy) = (x * dx as usize / 2, y * dy as usize / 2);
        let column = match (packing, slot) {
            (Packing::Planar | Packing::Uv | Packing::Vu, 0) => x,
            (Packing::Planar, _) => cx,
            (Packing::Uv, _) => 2 * cx + slot - 1,
            (Packing::Vu, _) => 2 * cx + 2 - slot,
            (Packing::Yuyv, 0) => 2 * x,
            (Packing::Yuyv, _) => x / 2 * 4 + 2 * slot - 1,
            (Packing::Uyvy, 0) => 2 * x + 1,
            (Packing::Uyvy, _) => x / 2 * 4 + 2 * (slot - 1),
        };
        let row = if slot == 0 || matches!(packing, Packing::Yuyv | Packing::Uyvy) { y } else { cy };
        // Larger than there are bits for counts as the largest.
        let most = (bits + shift).exp2() - 1.0;
        planes[slot].at(column, row, 0).min(most) / shift.exp2()
    };
    let (kr, kb) = matrix.weights();
    let eight = (bits - 8.0).exp2();
    let largest = bits.exp2() - 1.0;
    let luma = |sample: f64| match range {
        Range::Full => sample / largest,
        Range::Limited => (sample / eight - 16.0) / 219.0,
    };
    let chroma = |sample: f64| match range {
        Range::Full => (sample - 128.0 * eight) / largest,
        Range::Limited => (sample / eight - 128.0) / 224.0,
    };
    let packed = matches!(packing, Packing::Yuyv | Packing::Uyvy);
    let width = if packed { planes[0].width / 2 } else { planes[0].width };
    let order: &[usize] = match to {
        "gray" => &[4],
        "rgb" => &[0, 1, 2],
        "bgr" => &[2, 1, 0],
        "rgba" => &[0, 1, 2, 3],
        "bgra" => &[2, 1, 0, 3],
        other => panic!("no format '{other}'"),
    };
    Real::from_fn(width, planes[0].height, order.len(), |x, y, c| {
        let luma = luma(sample(0, x, y));
        if to == "gray" {
            return luma * white;
        }
        let none = sampling == ChromaSampling::C400;
        let [u, v] = [1, 2].map(|slot| if none { 0.0 } else { chroma(sample(slot, x, y)) });
        // U = (B - Y) / (2 - 2 Kb), V = (R - Y) / (2 - 2 Kr), Y = Kr R + Kg G + Kb B.
        let (red, blue) = (luma + v * (2.0 - 2.0 * kr), luma + u * (2.0 - 2.0 * kb));
        let green = (luma - kr * red - kb * blue) / (1.0 - kr - kb);
        [red, green, blue, 1.0][order[c]] * white
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primaries_of_bt_601_in_limited_range() {
        // Y, U, V of red in 8 bits: 81.5, 90.2, 240 (ITU-R BT.601-7, 2.5.1 to 2.5.4).
        let plane = |value: f64| Real::from_fn(1, 1, 1, |_, _, _| value);
        let planes = [plane(16.0 + 219.0 * 0.299), plane(128.0 - 224.0 * 0.299 / 1.772), plane(240.0)];
        let arrangement = (ChromaSampling::C444, Packing::Planar);
        let made =
            yuv_to_rgb(&planes, Matrix::Bt601, Range::Limited, arrangement, (8.0, 0.0, 255.0), "bgr").data;
        let error: f64 = made.iter().zip([0.0, 0.0, 255.0]).map(|(a, b)| (a - b).abs()).sum();
        assert!(error < 1e-9, "{made:?}");
    }
}
