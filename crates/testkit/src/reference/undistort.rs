use super::Border;
use super::apply::Reference;
use super::warp::{Interpolation, sampling, warp};
use crate::Real;
use crate::golden::Params;

pub(super) const REFERENCE: Reference = Reference::new(
    "undistort",
    &["camera", "distortion", "new_camera", "model", "filter", "border", "border_value"],
    |call| {
        let (interpolation, border) = sampling(call);
        undistort(&call.image(0), call.params, interpolation, border)
    },
);

/// What the new camera sees of an image; the parameters are the operator's.
///
/// # Panics
/// Without `camera` or `distortion`.
pub fn undistort(image: &Real, params: &Params, interpolation: Interpolation, border: Border) -> Real {
    let lens = Lens::of(params);
    let place = |x: usize, y: usize| Some(lens.source(x as f32, y as f32));
    warp(image, (image.width, image.height), (interpolation, border), place)
}

/// A camera and its lens, in binary32: the order of operations is part of the definition, for which places between pixels, and
/// ties of the nearest, are decided.
struct Lens {
    fisheye: bool,
    /// `[1 / fx, -cx / fx]` and the same of y, of the camera that sees the result.
    rays: [[f32; 2]; 2],
    /// `[fx, cx]` and the same of y, of the camera that took the image.
    focus: [[f32; 2]; 2],
    k: [f32; 12],
}

impl Lens {
    fn of(params: &Params) -> Self {
        let camera = params.list("camera").expect("camera");
        let new = params.list("new_camera").unwrap_or_else(|| camera.clone());
        let given = params.list("distortion").expect("distortion");
        Self {
            fisheye: params.word("model") == Some("fisheye"),
            rays: [0, 1].map(|i| [(1.0 / new[i]) as f32, (-new[i + 2] / new[i]) as f32]),
            focus: [0, 1].map(|i| [camera[i] as f32, camera[i + 2] as f32]),
            k: std::array::from_fn(|i| given.get(i).map_or(0.0, |&k| k as f32)),
        }
    }

    fn source(&self, x: f32, y: f32) -> [f32; 2] {
        let [u, v] =
            [(x, self.rays[0]), (y, self.rays[1])].map(|(x, [scale, offset])| scale.mul_add(x, offset));
        let square = u.mul_add(u, v * v);
        let [a, b] = if self.fisheye { self.fisheye(u, v, square) } else { self.brown(u, v, square) };
        let [fx, fy] = self.focus;
        [fx[0].mul_add(a, fx[1]), fy[0].mul_add(b, fy[1])]
    }

    /// `u (1 + k1 r2 + k2 r4 + k3 r6) / (1 + k4 r2 + k5 r4 + k6 r6) + 2 p1 u v + p2 (r2 + 2 u2) + s1 r2 + s2 r4`, and v with p1
    /// and p2 exchanged, s3 and s4.
    fn brown(&self, u: f32, v: f32, r2: f32) -> [f32; 2] {
        let [k1, k2, p1, p2, k3, k4, k5, k6, s1, s2, s3, s4] = self.k;
        let polynomial = |k: [f32; 3]| k.iter().rfold(0.0_f32, |sum, &k| sum.mul_add(r2, k)).mul_add(r2, 1.0);
        let radial = polynomial([k1, k2, k3]) / polynomial([k4, k5, k6]);
        let both = 2.0 * (u * v);
        let beside = |own: f32, across: f32, along: f32, s: [f32; 2]| {
            let prism = r2 * s[1].mul_add(r2, s[0]);
            across.mul_add(both, along.mul_add((2.0 * own).mul_add(own, r2), prism))
        };
        [u.mul_add(radial, beside(u, p1, p2, [s1, s2])), v.mul_add(radial, beside(v, p2, p1, [s3, s4]))]
    }

    /// `(u, v) o (1 + k1 o2 + k2 o4 + k3 o6 + k4 o8) / r` with the angle o = atan r.
    fn fisheye(&self, u: f32, v: f32, r2: f32) -> [f32; 2] {
        let r = r2.sqrt();
        let angle = arc_tangent(r);
        let z = angle * angle;
        let sum = self.k[..4].iter().rfold(0.0_f32, |sum, &k| sum.mul_add(z, k)).mul_add(z, 1.0);
        let q = if r > 0.0 { angle * sum / r } else { 1.0 };
        [u * q, v * q]
    }
}

/// Abramowitz and Stegun 4.4.49 in binary32; above 1 by way of the reciprocal.
fn arc_tangent(r: f32) -> f32 {
    const A: [f32; 8] = [
        -0.333_331_45,
        0.199_935_51,
        -0.142_089,
        0.106_562_64,
        -0.075_289_64,
        0.042_909_614,
        -0.016_165_737,
        0.002_866_225_7,
    ];
    let c = if r > 1.0 { 1.0 / r } else { r };
    let t = c * A.iter().rfold(0.0_f32, |sum, &a| sum.mul_add(c * c, a)).mul_add(c * c, 1.0);
    if r > 1.0 { std::f32::consts::FRAC_PI_2 - t } else { t }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What OpenCV 5 makes in f64 (`initUndistortRectifyMap`, `CV_32FC1`), by `tests/lenses/make_cases.py`.
    #[test]
    fn opencv_puts_pixels_at_the_same_places() {
        let cases = include_str!("../../tests/lenses.txt");
        let mut lines = cases.lines().filter(|line| !line.starts_with('#'));
        let mut compared = 0;
        while let Some(line) = lines.next() {
            let lens = Lens::of(&Params::line(line));
            let places =
                lines.next().expect("places").split(' ').map(|v| v.parse::<f64>().expect("a number"));
            for place in places.collect::<Vec<_>>().chunks(4) {
                let at = lens.source(place[0] as f32, place[1] as f32);
                let off = (0..2).map(|i| (f64::from(at[i]) - place[2 + i]).abs()).fold(0.0, f64::max);
                assert!(off < 2e-3, "{line} at {place:?}: {at:?}");
                compared += 1;
            }
        }
        assert!(compared >= 200, "{compared}");
    }
}
