//! Conversions between red, green and blue and the colour spaces of [`PixelFormat`], as expressions of sample units. What the numbers
//! are stands at [`PixelFormat`]'s variants.

use mip_core::{DType, PixelFormat};
use mip_plan::{Channel, Compare};

use crate::expr::{Term, b, g, r, v};

type Three = [Term; 3];

/// Linear light from sRGB and back (IEC 61966-2-1): slope below the limit, and offset and exponent above it.
const SLOPE: f32 = 12.92;
const OFFSET: f32 = 0.055;
const EXPONENT: f32 = 2.4;
const LIMIT: f32 = 0.040_45;
const LINEAR_LIMIT: f32 = 0.003_130_8;

/// Rows make X, Y and Z of linear red, green and blue with white D65 (ITU-R BT.709 primaries, OpenCV's digits), and back.
const TO_XYZ: [[f32; 3]; 3] =
    [[0.412_453, 0.357_58, 0.180_423], [0.212_671, 0.715_16, 0.072_169], [0.019_334, 0.119_193, 0.950_227]];
const FROM_XYZ: [[f32; 3]; 3] = [
    [3.240_481_3, -1.537_151_5, -0.498_536_3],
    [-0.969_255, 1.875_99, 0.041_555_926],
    [0.055_646_64, -0.204_041_34, 1.057_311],
];
/// Sums of the rows: what white is.
const WHITE: [f32; 3] = [0.950_456, 1.0, 1.088_754];
/// u' and v' of white: 4 X and 9 Y over X + 15 Y + 3 Z.
const WHITE_U: f32 = 0.197_839_4;
const WHITE_V: f32 = 0.468_342_2;

/// Red, green, blue (and an opaque alpha, or the input's) of an image in a colour space, or the other way round: the results of a
/// conversion, in the order in which formats name their channels.
pub(crate) fn convert(from: PixelFormat, to: PixelFormat, dtype: DType) -> Vec<Term> {
    if from.is_color_space() {
        let channel = |index| Term::channel(0, Channel::Index(index));
        let mut results = to_rgb(from, dtype, [channel(0), channel(1), channel(2)]).to_vec();
        if to.has_alpha() {
            results.push((dtype.full_scale() as f32).into());
        }
        return results;
    }
    let rgb = if from == PixelFormat::Gray { [v(), v(), v()] } else { [r(), g(), b()] };
    from_rgb(to, dtype, rgb).to_vec()
}

/// What a turn of the hue is.
const fn turn(dtype: DType) -> f32 {
    match dtype {
        DType::U8 => 180.0,
        DType::U16 => 65536.0,
        DType::I16 | DType::I32 | DType::F16 | DType::F32 => 360.0,
    }
}

/// Where chroma is none: the middle of the samples.
fn middle(dtype: DType) -> f32 {
    if dtype.is_float() { 0.5 } else { (dtype.full_scale() as f32 / 2.0).ceil() }
}

/// Factor and offset of L, and of a and b, in samples.
fn lab_units(dtype: DType) -> [[f32; 2]; 2] {
    if dtype.is_float() { [[1.0, 0.0], [1.0, 0.0]] } else { [[2.55, 0.0], [1.0, 128.0]] }
}

/// Factor and offset of L, u and v, in samples.
fn luv_units(dtype: DType) -> [[f32; 2]; 3] {
    if dtype.is_float() {
        [[1.0, 0.0]; 3]
    } else {
        let (u, v) = (255.0 / 354.0, 255.0 / 262.0);
        [[2.55, 0.0], [u, 134.0 * u], [v, 140.0 * v]]
    }
}

/// The least v' that a colour is made of: of integers, whose dark colours are far from what was rounded, just below blue's; of
/// floats below that of any light.
fn least_v(dtype: DType) -> f32 {
    if dtype.is_float() { 1.0 / 64.0 } else { 5.0 / 32.0 }
}

fn from_rgb(to: PixelFormat, dtype: DType, rgb: Three) -> Three {
    let full = dtype.full_scale() as f32;
    let linear = |rgb: Three| rgb.map(|color| linear_of(color / full));
    match to {
        PixelFormat::Hsv => {
            let (largest, range) = (largest(&rgb), largest(&rgb) - smallest(&rgb));
            let saturation =
                largest.clone().compare(Compare::Gt, 0.0).then(range.clone() * full / largest.clone(), 0.0);
            [hue(&rgb, &largest, &range, dtype), saturation, largest]
        }
        PixelFormat::Hls => {
            let (largest, smallest) = (largest(&rgb), smallest(&rgb));
            let (sum, range) = (largest.clone() + smallest.clone(), largest.clone() - smallest.clone());
            // Of differences that are exact near white.
            let rest = (full - largest.clone()) + (full - smallest.clone());
            let most = sum.clone().compare(Compare::Le, full).then(sum.clone(), rest);
            let saturation = range.clone().compare(Compare::Gt, 0.0).then(range.clone() * full / most, 0.0);
            [hue(&rgb, &largest, &range, dtype), sum * 0.5, saturation]
        }
        PixelFormat::Ycbcr => {
            let [r, g, b] = rgb;
            let luma = b.clone().mul_add(0.114, g.mul_add(0.587, r.clone() * 0.299));
            let middle = middle(dtype);
            let chroma = |color: Term, by: f32| (color - luma.clone()).mul_add(1.0 / by, middle);
            let (blue, red) = (chroma(b, 1.772), chroma(r, 1.402));
            [luma, blue, red]
        }
        PixelFormat::Linear => linear(rgb).map(|color| color * full),
        PixelFormat::Xyz => matrix(&TO_XYZ, &linear(rgb)).map(|value| value * full),
        PixelFormat::Lab => {
            let [x, y, z] = matrix(&TO_XYZ, &linear(rgb));
            let [x, y, z] = [x / WHITE[0], y, z / WHITE[2]].map(lab_root);
            let [light, color] = lab_units(dtype);
            let scaled = |value: Term, [factor, offset]: [f32; 2]| value.mul_add(factor, offset);
            [
                scaled(y.clone().mul_add(116.0, -16.0), light),
                scaled((x - y.clone()) * 500.0, color),
                scaled((y - z) * 200.0, color),
            ]
        }
        PixelFormat::Luv => {
            let [x, y, z] = matrix(&TO_XYZ, &linear(rgb));
            let sum = z.mul_add(3.0, y.clone().mul_add(15.0, x.clone()));
            let light = lab_root(y.clone()).mul_add(116.0, -16.0);
            // Black has no colour.
            let color = |part: Term, of_white: f32| {
                sum.clone()
                    .compare(Compare::Eq, 0.0)
                    .then(0.0, light.clone() * 13.0 * (part / sum.clone() - of_white))
            };
            let (u, v) = (color(x * 4.0, WHITE_U), color(y * 9.0, WHITE_V));
            let [of_light, of_u, of_v] = luv_units(dtype);
            let scaled = |value: Term, [factor, offset]: [f32; 2]| value.mul_add(factor, offset);
            [scaled(light, of_light), scaled(u, of_u), scaled(v, of_v)]
        }
        PixelFormat::Gray | PixelFormat::Rgb | PixelFormat::Bgr | PixelFormat::Rgba | PixelFormat::Bgra => {
            rgb
        }
    }
}

fn to_rgb(from: PixelFormat, dtype: DType, [x, y, z]: Three) -> Three {
    let full = dtype.full_scale() as f32;
    let encoded = |linear: Three| linear.map(|color| encoded_of(&color) * full);
    match from {
        PixelFormat::Hsv => {
            let range = z.clone() * y / full;
            colors(&x, &z, &range, dtype)
        }
        PixelFormat::Hls => {
            // The largest colour and its distance from the smallest.
            let spread =
                z * (y.clone().compare(Compare::Le, full * 0.5).then(y.clone(), full - y.clone()) / full);
            colors(&x, &(y + spread.clone()), &(spread * 2.0), dtype)
        }
        PixelFormat::Ycbcr => {
            let middle = middle(dtype);
            let (blue, red) = (y - middle, z - middle);
            let green = blue.clone().mul_add(-0.344_136_3, x.clone());
            [red.clone().mul_add(1.402, x.clone()), red.mul_add(-0.714_136_3, green), blue.mul_add(1.772, x)]
        }
        PixelFormat::Linear => encoded([x, y, z].map(|color| color / full)),
        PixelFormat::Xyz => encoded(matrix(&FROM_XYZ, &[x, y, z].map(|value| value / full))),
        PixelFormat::Lab => {
            let [light, color] = lab_units(dtype);
            let natural = |value: Term, [factor, offset]: [f32; 2]| (value - offset) / factor;
            let root = (natural(x, light) + 16.0) / 116.0;
            let (of_x, of_z) =
                (root.clone() + natural(y, color) / 500.0, root.clone() - natural(z, color) / 200.0);
            let [x, y, z] = [of_x, root, of_z].map(|root| lab_cube(&root));
            encoded(matrix(&FROM_XYZ, &[x * WHITE[0], y, z * WHITE[2]]))
        }
        PixelFormat::Luv => {
            let [of_light, of_u, of_v] = luv_units(dtype);
            let natural = |value: Term, [factor, offset]: [f32; 2]| (value - offset) / factor;
            let light = natural(x, of_light);
            let dark = light.clone().compare(Compare::Eq, 0.0);
            let part = |value: Term, of_white: f32| {
                dark.clone().then(0.0, value / (light.clone() * 13.0)) + of_white
            };
            let u = part(natural(y, of_u), WHITE_U);
            let v = part(natural(z, of_v), WHITE_V).max(least_v(dtype));
            let y = lab_cube(&((light.clone() + 16.0) / 116.0));
            let quarter = y.clone() / (v.clone() * 4.0);
            let of_z = v.mul_add(-20.0, u.clone().mul_add(-3.0, 12.0));
            encoded(matrix(&FROM_XYZ, &[quarter.clone() * (u * 9.0), y, quarter * of_z]))
        }
        PixelFormat::Gray | PixelFormat::Rgb | PixelFormat::Bgr | PixelFormat::Rgba | PixelFormat::Bgra => {
            [x, y, z]
        }
    }
}

fn largest([r, g, b]: &Three) -> Term {
    r.clone().max(g.clone()).max(b.clone())
}

fn smallest([r, g, b]: &Three) -> Term {
    r.clone().min(g.clone()).min(b.clone())
}

/// The hue, from 0 to below a turn; of integers what is less than half a unit below 0 is 0.
fn hue([r, g, b]: &Three, largest: &Term, range: &Term, dtype: DType) -> Term {
    let turn = turn(dtype);
    // Exact up to the division.
    let part = |from: &Term, to: &Term| (from.clone() - to.clone()) * (turn / 2.0) / (range.clone() * 3.0);
    let is_largest = |color: &Term| color.clone().compare(Compare::Ge, largest.clone());
    let hue = is_largest(g).then(part(b, r) + turn / 3.0, part(r, g) + turn * (2.0 / 3.0));
    let hue = is_largest(r).then(part(g, b), hue);
    let least = if dtype.is_float() { 0.0 } else { -0.5 };
    let hue = hue.clone().compare(Compare::Lt, least).then(hue.clone() + turn, hue);
    range.clone().compare(Compare::Gt, 0.0).then(hue, 0.0)
}

/// The colours of a hue, a largest colour and its distance from the smallest one.
fn colors(hue: &Term, largest: &Term, range: &Term, dtype: DType) -> Three {
    let sixths = hue.clone() * (6.0 / turn(dtype));
    [5.0, 3.0, 1.0].map(|n| {
        let k = sixths.clone() + n;
        let k = k.clone() - (k / 6.0).floor() * 6.0;
        let k = k.clone().min(Term::from(4.0) - k).min(1.0).max(0.0);
        largest.clone() - range.clone() * k
    })
}

fn linear_of(color: Term) -> Term {
    let power = ((color.clone() + OFFSET) / (1.0 + OFFSET)).pow(EXPONENT);
    color.clone().compare(Compare::Le, LIMIT).then(color / SLOPE, power)
}

fn encoded_of(linear: &Term) -> Term {
    let power = linear.clone().max(0.0).pow(1.0 / EXPONENT).mul_add(1.0 + OFFSET, -OFFSET);
    linear.clone().compare(Compare::Le, LINEAR_LIMIT).then(linear.clone() * SLOPE, power)
}

fn matrix(rows: &[[f32; 3]; 3], [x, y, z]: &Three) -> Three {
    rows.map(|[of_x, of_y, of_z]| z.clone().mul_add(of_z, y.clone().mul_add(of_y, x.clone() * of_x)))
}

/// CIE 15: the cube root, a straight line below `(6/29)^3`.
fn lab_root(share: Term) -> Term {
    const LIMIT: f32 = 216.0 / 24389.0;
    let line = share.clone().mul_add(841.0 / 108.0, 4.0 / 29.0);
    share.clone().compare(Compare::Gt, LIMIT).then(share.cbrt(), line)
}

fn lab_cube(root: &Term) -> Term {
    let cube = root.clone() * root.clone() * root.clone();
    let line = (root.clone() - 4.0 / 29.0) * (108.0 / 841.0);
    root.clone().compare(Compare::Gt, 6.0 / 29.0).then(cube, line)
}
