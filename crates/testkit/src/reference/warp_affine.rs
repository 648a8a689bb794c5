use super::Border;
use super::apply::{Call, Reference};
use super::warp::{Interpolation, sampling, size, warp};
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new(
    "warp_affine",
    &["matrix", "inverse", "width", "height", "filter", "border", "border_value"],
    |call| {
        let matrix = call.params.list("matrix").expect("matrix").try_into().expect("six numbers");
        let inverted = call.params.flag("inverse").unwrap_or(false);
        of_call(call, if inverted { matrix } else { inverse(matrix) }, size(call))
    },
);

/// With a call's filter and border.
pub(super) fn of_call(call: &Call<'_>, matrix: [f64; 6], size: (usize, usize)) -> Real {
    let (interpolation, border) = sampling(call);
    warp_affine(&call.image(0), matrix, size, interpolation, border)
}

/// A result of `width` x `height` pixels. Its pixel (x, y) is the image at the point (u, v) that the matrix gives, in
/// coordinates whose whole numbers are centres of pixels: `u = m[0] x + (m[1] y + m[2])`, each sum and its product rounded to
/// binary32 once, which is part of the definition; `v` likewise.
pub fn warp_affine(
    image: &Real,
    matrix: [f64; 6],
    size: (usize, usize),
    interpolation: Interpolation,
    border: Border,
) -> Real {
    let m = matrix.map(|v| v as f32);
    warp(image, size, (interpolation, border), |x, y| {
        let along = |k: usize| m[k].mul_add(x as f32, m[k + 1].mul_add(y as f32, m[k + 2]));
        Some([along(0), along(3)])
    })
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
        let of = |filter, border| warp_affine(&image(), shifted, (3, 1), filter, border).data;
        assert_eq!(of(Interpolation::Bilinear, Border::Constant(8.0)), [2.0, 0.75, 1.75]);
        assert_eq!(of(Interpolation::Bilinear, Border::Reflect101), [0.25, 0.75, 1.75]);
        assert_eq!(of(Interpolation::Nearest, Border::Constant(8.0)), [0.0, 1.0, 2.0]);
    }
}
