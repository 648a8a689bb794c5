use super::Border;
use super::apply::{Call, Reference};
use super::weighted::{Taps, weighted};
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new(
    "warp_affine",
    &["matrix", "inverse", "width", "height", "filter", "border", "border_value"],
    |call| {
        let (params, desc) = (call.params, call.desc());
        let matrix = params.list("matrix").expect("matrix").try_into().expect("six numbers");
        let inverted = params.flag("inverse").unwrap_or(false);
        let side = |name, own: u32| params.size(name).unwrap_or(own as usize);
        let size = (side("width", desc.width), side("height", desc.height));
        of_call(call, if inverted { matrix } else { inverse(matrix) }, size)
    },
);

/// With a call's filter and border.
pub(super) fn of_call(call: &Call<'_>, matrix: [f64; 6], size: (usize, usize)) -> Real {
    let bilinear = call.params.word("filter").unwrap_or("bilinear") == "bilinear";
    let border = Border::or(call.params, "constant");
    warp_affine(&call.image(0), matrix, size, bilinear, border)
}

/// A result of `width` x `height` pixels. Its pixel (x, y) is the image at the point (u, v) that the matrix gives, in
/// coordinates whose whole numbers are centres of pixels: `u = m[0] x + (m[1] y + m[2])`, each sum and its product rounded to
/// binary32 once, which is part of the definition; `v` likewise.
pub fn warp_affine(
    image: &Real,
    matrix: [f64; 6],
    (width, height): (usize, usize),
    bilinear: bool,
    border: Border,
) -> Real {
    let m = matrix.map(|v| v as f32);
    let constant = if let Border::Constant(value) = border { value } else { 0.0 };
    let mut data = Vec::with_capacity(width * height * image.channels);
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x as f32, y as f32))) {
        let along = |k: usize, n| taps(m[k].mul_add(x, m[k + 1].mul_add(y, m[k + 2])), n, bilinear, border);
        let (column, row) = (along(0, image.width), along(3, image.height));
        if bilinear {
            data.extend(weighted(image, &[column], &[row], constant).data);
        } else {
            let place = column.taps[0].0.zip(row.taps[0].0);
            data.extend((0..image.channels).map(|c| place.map_or(constant, |(x, y)| image.at(x, y, c))));
        }
    }
    Real { width, height, channels: image.channels, data }
}

/// The pixel nearest to a coordinate, halves to even, or both around it.
fn taps(s: f32, n: usize, bilinear: bool, border: Border) -> Taps {
    let s = f64::from(s).clamp(-2_147_483_648.0, 2_147_483_648.0);
    // Walking to the image takes too long from far away: whole periods of all borders first.
    let period = (2 * n * (2 * n - 2).max(1)) as i64;
    let inside = |i: f64| match border {
        Border::Replicate | Border::Constant(_) => border.resolve(i as i64, n),
        Border::Reflect101 | Border::Reflect | Border::Wrap => border.resolve(i as i64 % period, n),
    };
    if !bilinear {
        return Taps { taps: vec![(inside(s.round_ties_even()), 1.0)], total: 1.0 };
    }
    let fraction = s - s.floor();
    let both = [(s.floor(), 1.0 - fraction), (s.floor() + 1.0, fraction)];
    let read = both.into_iter().filter(|(_, w)| *w != 0.0).map(|(i, w)| (inside(i), w));
    Taps { taps: read.collect(), total: 1.0 }
}

/// The matrix that maps back.
fn inverse([a, b, c, d, e, f]: [f64; 6]) -> [f64; 6] {
    let det = a * e - b * d;
    [e / det, -b / det, (b * f - c * e) / det, -d / det, a / det, (c * d - a * f) / det]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Real {
        Real::from_fn(3, 3, 1, |x, y, _| (10 * y + x) as f64)
    }

    #[test]
    fn between_pixels_and_outside() {
        let shifted = inverse([1.0, 0.0, 0.25, 0.0, 1.0, 0.0]);
        assert_eq!(shifted, [1.0, 0.0, -0.25, 0.0, 1.0, 0.0]);
        let of = |bilinear, border| warp_affine(&image(), shifted, (3, 1), bilinear, border).data;
        assert_eq!(of(true, Border::Constant(8.0)), [2.0, 0.75, 1.75]);
        assert_eq!(of(true, Border::Reflect101), [0.25, 0.75, 1.75]);
        assert_eq!(of(false, Border::Constant(8.0)), [0.0, 1.0, 2.0]);
    }
}
