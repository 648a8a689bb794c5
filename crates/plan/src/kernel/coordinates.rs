use mip_core::{DType, ImageDesc, PixelFormat};

/// Source coordinates of the output pixel at column x and row y, in binary32: both are converted first (exact below
/// 2^24), then each operation is rounded once. A coordinate that is NaN is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinates {
    /// `sx = fma(m[0], x, fma(m[1], y, m[2]))`, `sy = fma(m[3], x, fma(m[4], y, m[5]))`.
    ///
    /// Uniforms: `m[0..6]`.
    Affine,
    /// With `u = fma(m[0], x, fma(m[1], y, m[2]))`, likewise v of `m[3..6]` and w of `m[6..9]`: `sx = u / w` and
    /// `sy = v / w` if w > 0; otherwise (behind the viewer) there are none.
    ///
    /// Uniforms: `m[0..9]`.
    Projective,
    /// As two more input images say, the maps of sx and of sy: gray f32 of the output's size, in any layout.
    ///
    /// No uniforms.
    Map(MapUnit),
    /// A pinhole camera sees the output, one whose lens distorts took the source: Brown's model with its rational and thin
    /// prism terms, as OpenCV's `calibrateCamera` writes it.
    ///
    /// The ray of the pixel is `u = fma(m[0], x, m[1])`, `v = fma(m[2], y, m[3])`, with `r = fma(u, u, v * v)` and
    /// `t = 2 * (u * v)`. With `k1 k2 p1 p2 k3 k4 k5 k6 s1 s2 s3 s4 = m[8..20]`:
    ///
    /// ```text
    /// q = fma(fma(fma(k3, r, k2), r, k1), r, 1) / fma(fma(fma(k6, r, k5), r, k4), r, 1)
    /// a = fma(p1, t, fma(p2, fma(2 * u, u, r), r * fma(s2, r, s1)))
    /// b = fma(p2, t, fma(p1, fma(2 * v, v, r), r * fma(s4, r, s3)))
    /// sx = fma(m[4], fma(u, q, a), m[5])
    /// sy = fma(m[6], fma(v, q, b), m[7])
    /// ```
    ///
    /// Uniforms: `m[0..20]`. Of the output's camera with focal lengths f and centre c, in pixels, the first four are
    /// `1 / fx, -cx / fx, 1 / fy, -cy / fy`; the next four are the source's `fx, cx, fy, cy`.
    Brown,
    /// The same for a fisheye lens, whose distances from the centre go with the angle of the ray (Kannala and Brandt
    /// 2006, as OpenCV's `fisheye` writes it).
    ///
    /// u and v as there; `r = sqrt(fma(u, u, v * v))`, `o = atan(r)` by [`Coordinates::atan`], `z = o * o`,
    /// `g = fma(fma(fma(fma(k4, z, k3), z, k2), z, k1), z, 1)` with `k1..k4 = m[8..12]`, and `q = (o * g) / r` if r > 0,
    /// otherwise 1: `sx = fma(m[4], u * q, m[5])` and `sy = fma(m[6], v * q, m[7])`.
    ///
    /// Uniforms: `m[0..12]`, the first eight as there.
    Fisheye,
}

/// What the numbers of maps count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapUnit {
    /// Source pixels: they are the coordinates, as in OpenCV's `remap`.
    Absolute,
    /// From -1, the outer edge of the first pixel, to 1, that of the last: `sx = fma(map, W / 2, (W - 1) / 2)` for a source
    /// W pixels wide, and likewise sy. As in PyTorch's `grid_sample` with `align_corners=False`.
    Normalized,
    /// Pixels from the output's own: `sx = x + map`, `sy = y + map`; optical flow.
    Relative,
}

impl Coordinates {
    /// Number of uniforms.
    pub const fn uniform_count(self) -> usize {
        match self {
            Self::Affine => 6,
            Self::Projective => 9,
            Self::Map(_) => 0,
            Self::Brown => 20,
            Self::Fisheye => 12,
        }
    }

    /// Number of input images that hold coordinates.
    pub const fn map_count(self) -> usize {
        match self {
            Self::Map(_) => 2,
            Self::Affine | Self::Projective | Self::Brown | Self::Fisheye => 0,
        }
    }

    /// Whether images can be the maps for `output`.
    pub(super) fn check(maps: &[ImageDesc], output: &ImageDesc) -> Result<(), String> {
        let fits = |map: &ImageDesc| {
            (map.format(), map.dtype(), map.width(), map.height())
                == (PixelFormat::Gray, DType::F32, output.width(), output.height())
        };
        match maps.iter().find(|map| !fits(map)) {
            Some(map) => Err(format!("a map is {map}; maps are gray f32 and have the output's size")),
            None => Ok(()),
        }
    }

    /// Operations for a pixel.
    pub(super) const fn operations(self) -> f64 {
        match self {
            Self::Affine => 4.0,
            Self::Projective => 8.0,
            Self::Map(_) => 2.0,
            Self::Brown => 28.0,
            Self::Fisheye => 30.0,
        }
    }

    /// Source column and row of the output pixel (x, y), if it has any: `m` are the uniforms, `map` is what the maps hold for
    /// the pixel (anything where there are none), `source` is the source's width and height.
    #[inline(always)]
    pub fn source(
        self,
        m: &[f32],
        (x, y): (u32, u32),
        map: [f32; 2],
        source: (u32, u32),
    ) -> Option<[f32; 2]> {
        let (x, y) = (x as f32, y as f32);
        let row = |k: usize| m[k].mul_add(x, m[k + 1].mul_add(y, m[k + 2]));
        let source = match self {
            Self::Affine => [row(0), row(3)],
            Self::Projective => {
                let w = row(6);
                if w.is_nan() || w <= 0.0 {
                    return None;
                }
                [row(0) / w, row(3) / w]
            }
            Self::Map(unit) => unit.source(map, [x, y], source),
            Self::Brown => brown(m, x, y),
            Self::Fisheye => fisheye(m, x, y),
        };
        (!source.iter().any(|s| s.is_nan())).then_some(source)
    }

    /// The angle whose tangent is r, for r of at least 0: with `c = 1 / r` if r > 1, otherwise r, and `z = c * c`,
    /// `p = fma(a16, z, a14)`, then `p = fma(p, z, a)` for a = a12, a10, ... a2, 1: `c * p`, subtracted from pi / 2 if r > 1.
    /// (Abramowitz and Stegun 4.4.49, the coefficients rounded to binary32.) Off by at most 2e-7.
    #[inline(always)]
    pub fn atan(r: f32) -> f32 {
        let inverted = r > 1.0;
        let c = if inverted { 1.0 / r } else { r };
        let z = c * c;
        let t = c * Self::ATAN[1..].iter().fold(Self::ATAN[0], |p, &a| p.mul_add(z, a));
        if inverted { std::f32::consts::FRAC_PI_2 - t } else { t }
    }

    /// `a16, a14, ... a2, 1` of [`Coordinates::atan`].
    pub const ATAN: [f32; 9] = [
        0.002_866_225_7,
        -0.016_165_737,
        0.042_909_614,
        -0.075_289_64,
        0.106_562_64,
        -0.142_089,
        0.199_935_51,
        -0.333_331_45,
        1.0,
    ];
}

impl MapUnit {
    #[inline(always)]
    fn source(self, map: [f32; 2], pixel: [f32; 2], (width, height): (u32, u32)) -> [f32; 2] {
        // Halves of a side and of what is one less: exact below 2^24.
        let across = |map: f32, side: u32| map.mul_add(side as f32 * 0.5, (side as f32 - 1.0) * 0.5);
        match self {
            Self::Absolute => map,
            Self::Normalized => [across(map[0], width), across(map[1], height)],
            Self::Relative => [pixel[0] + map[0], pixel[1] + map[1]],
        }
    }
}

#[inline(always)]
fn brown(m: &[f32], x: f32, y: f32) -> [f32; 2] {
    let m: &[f32; 20] = m.try_into().expect("uniforms of a checked kernel");
    let [k1, k2, p1, p2, k3, k4, k5, k6, s1, s2, s3, s4] = *m[8..].as_array().expect("twelve numbers");
    let (u, v) = (m[0].mul_add(x, m[1]), m[2].mul_add(y, m[3]));
    let (r, t) = (u.mul_add(u, v * v), 2.0 * (u * v));
    let radial = |a: f32, b: f32, c: f32| c.mul_add(r, b).mul_add(r, a).mul_add(r, 1.0);
    let q = radial(k1, k2, k3) / radial(k4, k5, k6);
    let a = p1.mul_add(t, p2.mul_add((2.0 * u).mul_add(u, r), r * s2.mul_add(r, s1)));
    let b = p2.mul_add(t, p1.mul_add((2.0 * v).mul_add(v, r), r * s4.mul_add(r, s3)));
    [m[4].mul_add(u.mul_add(q, a), m[5]), m[6].mul_add(v.mul_add(q, b), m[7])]
}

#[inline(always)]
fn fisheye(m: &[f32], x: f32, y: f32) -> [f32; 2] {
    let m: &[f32; 12] = m.try_into().expect("uniforms of a checked kernel");
    let (u, v) = (m[0].mul_add(x, m[1]), m[2].mul_add(y, m[3]));
    let r = u.mul_add(u, v * v).sqrt();
    let o = Coordinates::atan(r);
    let z = o * o;
    let g = m[11].mul_add(z, m[10]).mul_add(z, m[9]).mul_add(z, m[8]).mul_add(z, 1.0);
    let q = if r > 0.0 { (o * g) / r } else { 1.0 };
    [m[4].mul_add(u * q, m[5]), m[6].mul_add(v * q, m[7])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arc_tangent_is_as_near_as_it_says() {
        let beyond = [0.0_f32, 1e-30, 1.0, 1.000_000_1, 1e10, f32::INFINITY];
        let all = (0..40_000).map(|i| i as f32 * 1e-4).chain(beyond);
        let off = |r: f32| (f64::from(Coordinates::atan(r)) - f64::from(r).atan()).abs();
        let largest = all.map(off).fold(0.0, f64::max);
        assert!(largest < 2e-7, "{largest}");
    }

    #[test]
    fn maps_count_in_their_unit() {
        let of = |unit, map, pixel| Coordinates::Map(unit).source(&[], pixel, map, (10, 5));
        assert_eq!(of(MapUnit::Absolute, [3.5, -2.0], (7, 1)), Some([3.5, -2.0]));
        assert_eq!(of(MapUnit::Relative, [3.5, -2.0], (7, 1)), Some([10.5, -1.0]));
        assert_eq!(of(MapUnit::Normalized, [-1.0, 1.0], (7, 1)), Some([-0.5, 4.5]), "the outer edges");
        assert_eq!(of(MapUnit::Normalized, [0.0, 0.0], (7, 1)), Some([4.5, 2.0]), "the middle");
        assert_eq!(of(MapUnit::Absolute, [f32::NAN, 0.0], (7, 1)), None);
        assert_eq!(of(MapUnit::Relative, [f32::INFINITY, 0.0], (7, 1)), Some([f32::INFINITY, 1.0]));
    }

    /// Lenses of real cameras, in f64 and with the library's arc tangent: a thousandth of a pixel at 4000 pixels.
    #[test]
    fn lenses_are_near_what_they_are_in_f64() {
        let (f, c) = ([2900.0, 2895.5], [1999.25, 1503.75]);
        let camera = [1.0 / f[0], -c[0] / f[0], 1.0 / f[1], -c[1] / f[1], f[0], c[0], f[1], c[1]];
        let k = [-0.31, 0.12, 0.0008, -0.0004, -0.02, 0.05, -0.01, 0.003, 0.001, -0.0005, 0.0007, 0.0002];
        let fish = [-0.02, 0.007, -0.003, 0.0004];
        let to_f32 = |k: &[f64]| camera.iter().chain(k).map(|&v| v as f32).collect::<Vec<_>>();
        for (x, y) in (0..3000).step_by(250).flat_map(|y| (0..4000).step_by(250).map(move |x| (x, y))) {
            let (u, v) = ((f64::from(x) - c[0]) / f[0], (f64::from(y) - c[1]) / f[1]);
            let r = u * u + v * v;
            let q = (1.0 + r * (k[0] + r * (k[1] + r * k[4]))) / (1.0 + r * (k[5] + r * (k[6] + r * k[7])));
            let a = u * q + 2.0 * k[2] * u * v + k[3] * (r + 2.0 * u * u) + k[8] * r + k[9] * r * r;
            let b = v * q + k[2] * (r + 2.0 * v * v) + 2.0 * k[3] * u * v + k[10] * r + k[11] * r * r;
            let angle = r.sqrt().atan();
            let z = angle * angle;
            let g = angle * (1.0 + z * (fish[0] + z * (fish[1] + z * (fish[2] + z * fish[3])))) / r.sqrt();
            for (model, k, [a, b]) in
                [(Coordinates::Brown, &k[..], [a, b]), (Coordinates::Fisheye, &fish, [u * g, v * g])]
            {
                let exact = [f[0] * a + c[0], f[1] * b + c[1]];
                let got = model.source(&to_f32(k), (x, y), [0.0; 2], (4000, 3000)).unwrap();
                let off = |i: usize| (f64::from(got[i]) - exact[i]).abs();
                assert!(off(0).max(off(1)) < 1e-3, "{model:?} at {x} {y}: {got:?}, exactly {exact:?}");
            }
        }
    }
}
