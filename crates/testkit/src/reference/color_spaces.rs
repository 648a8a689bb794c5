//! Colour spaces of red, green and blue, from their definitions: shares of full scale on one side, sample units on the other.

use mip_core::{DType, PixelFormat};

/// Linear RGB to XYZ, by rows; white is the sum of a row.
const XYZ: [[f64; 3]; 3] =
    [[0.412_453, 0.357_580, 0.180_423], [0.212_671, 0.715_160, 0.072_169], [0.019_334, 0.119_193, 0.950_227]];

/// How a dtype holds the numbers of a space.
struct Units {
    /// A full turn, full scale, the middle.
    turn: f64,
    full: f64,
    middle: f64,
    integers: bool,
}

fn units(dtype: DType) -> Units {
    let (full, integers) = (dtype.full_scale(), dtype.integers().is_some());
    let turn = match dtype {
        DType::U8 => 180.0,
        DType::U16 => 65536.0,
        _ => 360.0,
    };
    Units { turn, full, middle: if integers { (full / 2.0).ceil() } else { 0.5 }, integers }
}

/// Of red, green and blue in sample units.
pub(super) fn from_rgb(rgb: [f64; 3], space: PixelFormat, dtype: DType) -> [f64; 3] {
    let Units { full, middle, integers, .. } = units(dtype);
    let [r, g, b] = rgb;
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    let range = most - least;
    let lights = rgb.map(|v| decode(v / full));
    let xyz = XYZ.map(|row| (0..3).map(|i| row[i] * lights[i]).sum::<f64>());
    match space {
        PixelFormat::Hsv => [hue(rgb, dtype), if most > 0.0 { full * range / most } else { 0.0 }, most],
        PixelFormat::Hls => {
            let (sum, top) = (most + least, 2.0 * full);
            let share =
                if range > 0.0 { full * range / if sum <= full { sum } else { top - sum } } else { 0.0 };
            [hue(rgb, dtype), sum / 2.0, share]
        }
        PixelFormat::Ycbcr => {
            let y = (299.0 * r + 587.0 * g + 114.0 * b) / 1000.0;
            [y, middle + (b - y) / 1.772, middle + (r - y) / 1.402]
        }
        PixelFormat::Linear => lights.map(|v| v * full),
        PixelFormat::Xyz => xyz.map(|v| v * full),
        PixelFormat::Lab => {
            let f: [f64; 3] = std::array::from_fn(|i| {
                let t = xyz[i] / XYZ[i].iter().sum::<f64>();
                if t > (6.0_f64 / 29.0).powi(3) { t.cbrt() } else { t * 841.0 / 108.0 + 4.0 / 29.0 }
            });
            let lab = [116.0 * f[1] - 16.0, 500.0 * (f[0] - f[1]), 200.0 * (f[1] - f[2])];
            if integers { [lab[0] * 2.55, lab[1] + 128.0, lab[2] + 128.0] } else { lab }
        }
        PixelFormat::Luv => {
            let t = xyz[1];
            let l = if t > (6.0_f64 / 29.0).powi(3) {
                116.0 * t.cbrt() - 16.0
            } else {
                t * (29.0_f64 / 3.0).powi(3)
            };
            let (white, here) = (chromaticity(white()), chromaticity(xyz));
            let [u, v] = [0, 1].map(|i| 13.0 * l * (here[i] - white[i]));
            if integers {
                [l * 2.55, (u + 134.0) * 255.0 / 354.0, (v + 140.0) * 255.0 / 262.0]
            } else {
                [l, u, v]
            }
        }
        _ => panic!("{space} is no colour space"),
    }
}

/// What u and v may be off by, in parts of a binary32's precision: they are quotients by a sum that nearly cancels where
/// some of the colours are negative.
pub(super) fn luv_terms(rgb: [f64; 3], dtype: DType) -> f64 {
    let lights = rgb.map(|v| decode(v / dtype.full_scale()));
    let sums = |lights: [f64; 3]| XYZ.map(|row| (0..3).map(|i| row[i] * lights[i]).sum::<f64>());
    let weighted = |[x, y, z]: [f64; 3]| x + 15.0 * y + 3.0 * z;
    let steep = weighted(sums(lights.map(f64::abs))) / weighted(sums(lights)).abs();
    let light = from_rgb(rgb, PixelFormat::Luv, DType::F32)[0].abs().max(1.0);
    13.0 * 9.0 * light * steep * steep
}

/// Red, green and blue in sample units.
pub(super) fn to_rgb(values: [f64; 3], space: PixelFormat, dtype: DType) -> [f64; 3] {
    let Units { turn, full, middle, integers } = units(dtype);
    let [x, y, z] = values;
    // Of the largest colour and its distance from the smallest.
    let colors = |most: f64, range: f64| {
        [5.0, 3.0, 1.0].map(|n| {
            let k = (n + x / turn * 6.0).rem_euclid(6.0);
            most - range * k.min(4.0 - k).clamp(0.0, 1.0)
        })
    };
    let of_xyz = |xyz: [f64; 3]| {
        let inverse = inverse();
        inverse.map(|row| full * encode((0..3).map(|i| row[i] * xyz[i]).sum::<f64>()))
    };
    match space {
        PixelFormat::Hsv => colors(z, z * y / full),
        PixelFormat::Hls => {
            let spread = if y <= full / 2.0 { y } else { full - y } * z / full;
            colors(y + spread, 2.0 * spread)
        }
        PixelFormat::Ycbcr => {
            let (blue, red) = (y - middle, z - middle);
            let (r, b) = (x + 1.402 * red, x + 1.772 * blue);
            [r, (x - 0.299 * r - 0.114 * b) / 0.587, b]
        }
        PixelFormat::Linear => values.map(|v| full * encode(v / full)),
        PixelFormat::Xyz => of_xyz(values.map(|v| v / full)),
        PixelFormat::Lab => {
            let [l, a, b] = if integers { [x / 2.55, y - 128.0, z - 128.0] } else { values };
            let middle = (l + 16.0) / 116.0;
            let roots = [middle + a / 500.0, middle, middle - b / 200.0];
            of_xyz(std::array::from_fn(|i| {
                let f: f64 = roots[i];
                let t = if f > 6.0 / 29.0 { f.powi(3) } else { (f - 4.0 / 29.0) * 108.0 / 841.0 };
                t * XYZ[i].iter().sum::<f64>()
            }))
        }
        PixelFormat::Luv => {
            let [l, u, v] = if integers {
                [x / 2.55, y * 354.0 / 255.0 - 134.0, z * 262.0 / 255.0 - 140.0]
            } else {
                values
            };
            if l == 0.0 {
                return [0.0; 3];
            }
            let light = if l > 8.0 { ((l + 16.0) / 116.0).powi(3) } else { l * (3.0_f64 / 29.0).powi(3) };
            let of_white = chromaticity(white());
            let u = u / (13.0 * l) + of_white[0];
            let v = (v / (13.0 * l) + of_white[1]).max(if integers { 5.0 / 32.0 } else { 1.0 / 64.0 });
            of_xyz([light * 9.0 * u / (4.0 * v), light, light * (12.0 - 3.0 * u - 20.0 * v) / (4.0 * v)])
        }
        _ => panic!("{space} is no colour space"),
    }
}

fn white() -> [f64; 3] {
    XYZ.map(|row| row.iter().sum())
}

/// CIE 1976 u' and v'; of black those of white.
fn chromaticity([x, y, z]: [f64; 3]) -> [f64; 2] {
    let sum = x + 15.0 * y + 3.0 * z;
    if sum == 0.0 { chromaticity(white()) } else { [4.0 * x / sum, 9.0 * y / sum] }
}

/// From 0 to below a turn. Of integers what would round to a whole turn is 0.
fn hue([r, g, b]: [f64; 3], dtype: DType) -> f64 {
    let Units { turn, integers, .. } = units(dtype);
    let most = r.max(g).max(b);
    let range = most - r.min(g).min(b);
    if range <= 0.0 || range.is_nan() {
        return 0.0;
    }
    let part = |a: f64, b: f64| (a - b) * (turn / 2.0) / (3.0 * range);
    let hue = if r >= most {
        part(g, b)
    } else if g >= most {
        part(b, r) + turn / 3.0
    } else {
        part(r, g) + turn * 2.0 / 3.0
    };
    if hue < if integers { -0.5 } else { 0.0 } { hue + turn } else { hue }
}

/// IEC 61966-2-1, of shares of full scale.
fn decode(v: f64) -> f64 {
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

fn encode(v: f64) -> f64 {
    if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
}

/// Of [`XYZ`], by cofactors.
fn inverse() -> [[f64; 3]; 3] {
    let minor = |i: usize, j: usize| {
        let [a, b] = [(i + 1) % 3, (i + 2) % 3];
        let [c, d] = [(j + 1) % 3, (j + 2) % 3];
        XYZ[a][c] * XYZ[b][d] - XYZ[a][d] * XYZ[b][c]
    };
    let determinant: f64 = (0..3).map(|j| XYZ[0][j] * minor(0, j)).sum();
    std::array::from_fn(|i| std::array::from_fn(|j| minor(j, i) / determinant))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: [f64; 3], wanted: [f64; 3], by: f64) {
        assert!(got.iter().zip(wanted).all(|(a, b)| (a - b).abs() <= by), "{got:?}, not {wanted:?}");
    }

    /// (200, 100, 50) by hand, and CIE L*a*b* of the corners of sRGB as tables have them.
    #[test]
    fn known_colours() {
        let rgb = [200.0, 100.0, 50.0];
        near(from_rgb(rgb, PixelFormat::Hsv, DType::U8), [10.0, 191.25, 200.0], 1e-9);
        near(from_rgb(rgb, PixelFormat::Hls, DType::U8), [10.0, 125.0, 153.0], 1e-9);
        near(from_rgb(rgb, PixelFormat::Ycbcr, DType::U8), [124.2, 86.126, 182.066], 1e-3);
        near(from_rgb([1.0; 3], PixelFormat::Lab, DType::F32), [100.0, 0.0, 0.0], 1e-9);
        near(from_rgb([1.0, 0.0, 0.0], PixelFormat::Lab, DType::F32), [53.24, 80.09, 67.20], 0.02);
        near(from_rgb([1.0; 3], PixelFormat::Luv, DType::F32), [100.0, 0.0, 0.0], 1e-9);
        near(from_rgb([1.0, 0.0, 0.0], PixelFormat::Luv, DType::F32), [53.24, 175.01, 37.75], 0.02);
        near(from_rgb([0.0; 3], PixelFormat::Luv, DType::F32), [0.0; 3], 0.0);
        near(from_rgb([0.5; 3], PixelFormat::Linear, DType::F32), [0.21404; 3], 1e-5);
    }

    #[test]
    fn colours_come_back() {
        for space in PixelFormat::ALL.into_iter().filter(|space| space.is_color_space()) {
            for i in 0..1000 {
                let rgb = [i % 10, i / 10 % 10, i / 100].map(|digit| f64::from(digit) / 9.0);
                near(to_rgb(from_rgb(rgb, space, DType::F32), space, DType::F32), rgb, 1e-7);
            }
        }
    }
}
