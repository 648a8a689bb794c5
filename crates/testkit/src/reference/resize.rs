use mip_core::DType;

use super::apply::Reference;
use super::weighted::{Taps, weighted, weighted_above};
use crate::Real;
use crate::golden::Params;

pub(super) const REFERENCE: Reference = Reference::new(
    "resize",
    &["width", "height", "shorter_side", "longer_side", "filter", "antialias", "a"],
    |call| by_params(&call.image(0), call.params, call.desc().dtype()),
);

/// With the parameters of a pipeline file.
pub(super) fn by_params(image: &Real, params: &Params, dtype: DType) -> Real {
    let (width, height) = target(image, params);
    let name = params.word("filter").unwrap_or("bilinear");
    let antialias = params.flag("antialias").unwrap_or(false);
    if let Some(shape) = shape(name, params.number("a").unwrap_or(-0.75)) {
        // Weights may be negative: what is left of alpha below half a 16-bit step is nothing.
        let clear = dtype.full_scale() / 2.0_f64.powi(17);
        return resize_by(image, (width, height), shape, antialias, clear);
    }
    let known = Filter::ALL.into_iter().find(|f| f.name() == name);
    let filter = known.unwrap_or_else(|| panic!("no filter '{name}'"));
    if antialias {
        assert_eq!(filter, Filter::Bilinear, "only bilinear has an antialiased form");
        return resize_antialiased(image, width, height);
    }
    resize(image, width, height, filter)
}

fn target(image: &Real, params: &Params) -> (usize, usize) {
    let (w, h) = (image.width, image.height);
    // The other side of one given: nearest whole number, halves up, at least 1.
    let follow = |given: usize, from: usize, other: usize| ((2 * given * other + from) / (2 * from)).max(1);
    if let Some(side) = params.size("longer_side") {
        return if w >= h { (side, follow(side, w, h)) } else { (follow(side, h, w), side) };
    }
    match (params.size("width"), params.size("height"), params.size("shorter_side")) {
        (Some(width), Some(height), None) => (width, height),
        (Some(width), None, None) => (width, follow(width, w, h)),
        (None, Some(height), None) => (follow(height, h, w), height),
        (None, None, Some(side)) if w <= h => (side, follow(side, w, h)),
        (None, None, Some(side)) => (follow(side, h, w), side),
        other => panic!("width, height, shorter_side: {other:?}"),
    }
}

/// How a resized pixel is made of source pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// The source pixel at `floor((2 d + 1) in / (2 out))`.
    Nearest,
    /// Linear between the two neighbours of `(d + 0.5) in / out - 0.5`, edge-clamped; point-sampled.
    Bilinear,
    /// The mean over exactly the area that the output pixel covers.
    Area,
}

impl Filter {
    /// Every filter.
    pub const ALL: [Self; 3] = [Self::Nearest, Self::Bilinear, Self::Area];

    /// The name in pipeline files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nearest => "nearest",
            Self::Bilinear => "bilinear",
            Self::Area => "area",
        }
    }
}

/// Resizes to `width` x `height`; RGBA is premultiplied, except that nearest copies pixels as they are.
pub fn resize(image: &Real, width: usize, height: usize, filter: Filter) -> Real {
    let axis = |input: usize, output: usize| -> Vec<Taps> {
        (0..output as i64)
            .map(|d| match filter {
                Filter::Nearest => nearest(input as i64, output as i64, d),
                Filter::Bilinear => bilinear(input as i64, output as i64, d),
                Filter::Area => area(input as i64, output as i64, d),
            })
            .collect()
    };
    let (columns, rows) = (axis(image.width, width), axis(image.height, height));
    if filter == Filter::Nearest {
        let source = |taps: &Taps| taps.taps[0].0.expect("inside");
        return Real::from_fn(width, height, image.channels, |x, y, c| {
            image.at(source(&columns[x]), source(&rows[y]), c)
        });
    }
    weighted(image, &columns, &rows, 0.0)
}

/// A window: how far it reaches, and its height at a distance.
type Shape = (f64, fn(f64, f64) -> f64, f64);

/// The windows that are no triangle.
fn shape(name: &str, a: f64) -> Option<Shape> {
    fn sinc(x: f64) -> f64 {
        // Exactly 0 at the other whole numbers, where f64's sine of a rounded multiple of pi is not: what weighs nothing is not read.
        if x.fract() == 0.0 {
            return f64::from(u8::from(x == 0.0));
        }
        (std::f64::consts::PI * x).sin() / (std::f64::consts::PI * x)
    }
    fn cubic(x: f64, a: f64) -> f64 {
        let x = x.abs();
        if x <= 1.0 {
            (a + 2.0) * x.powi(3) - (a + 3.0) * x.powi(2) + 1.0
        } else if x < 2.0 {
            a * x.powi(3) - 5.0 * a * x.powi(2) + 8.0 * a * x - 4.0 * a
        } else {
            0.0
        }
    }
    fn lanczos(x: f64, _: f64) -> f64 {
        if x.abs() < 3.0 { sinc(x) * sinc(x / 3.0) } else { 0.0 }
    }
    fn flat(x: f64, _: f64) -> f64 {
        if x > -0.5 && x <= 0.5 { 1.0 } else { 0.0 }
    }
    fn hamming(x: f64, _: f64) -> f64 {
        if x.abs() < 1.0 { sinc(x) * (0.54 + 0.46 * (std::f64::consts::PI * x).cos()) } else { 0.0 }
    }
    match name {
        "bicubic" => Some((2.0, cubic, a)),
        "lanczos3" => Some((3.0, lanczos, a)),
        "box" => Some((0.5, flat, a)),
        "hamming" => Some((1.0, hamming, a)),
        _ => None,
    }
}

/// Each pixel weighs by the window's height at its distance from `(d + 0.5) in / out` (or that distance over how much the
/// axis shrinks: antialiased), normalised. Antialiased, there is nothing outside the image; otherwise the edge is.
fn resize_by(
    image: &Real,
    (width, height): (usize, usize),
    (reach, of, a): Shape,
    antialias: bool,
    clear: f64,
) -> Real {
    let axis = |input: usize, output: usize| -> Vec<Taps> {
        let (input, output) = (input as i64, output as i64);
        let wide = if antialias { input.max(output) } else { output };
        let taps = |d: i64| {
            // The distance times 2 out, a whole number.
            let away = |i: i64| ((2 * i + 1) * output - (2 * d + 1) * input) as f64 / (2 * wide) as f64;
            let range = if antialias { 0..input } else { -10..input + 10 };
            let near = range.filter(|&i| away(i).abs() <= reach);
            let taps = near.map(|i| (Some(i.clamp(0, input - 1) as usize), of(away(i), a)));
            // A pixel at the edge that stands for others too is read once, with what they weigh together.
            let mut folded: Vec<(Option<usize>, f64)> = Vec::new();
            for (pixel, weight) in taps {
                match folded.iter_mut().find(|(known, _)| *known == pixel) {
                    Some((_, sum)) => *sum += weight,
                    None => folded.push((pixel, weight)),
                }
            }
            folded.retain(|(_, weight)| *weight != 0.0);
            Taps::normalised(folded)
        };
        (0..output).map(taps).collect()
    };
    let (columns, rows) = (axis(image.width, width), axis(image.height, height));
    let negative = |axis: &[Taps]| axis.iter().any(|t| t.taps.iter().any(|(_, w)| w / t.total < 0.0));
    let signed = negative(&columns) || negative(&rows);
    weighted_above(image, &columns, &rows, 0.0, if signed { clear } else { 0.0 })
}

/// Bilinear with the triangle widened by the shrinking factor along each axis that shrinks, cut at the image and
/// normalised: what Pillow calls BILINEAR.
pub fn resize_antialiased(image: &Real, width: usize, height: usize) -> Real {
    let axis = |input: usize, output: usize| -> Vec<Taps> {
        (0..output as i64).map(|d| triangle(input as i64, output as i64, d)).collect()
    };
    weighted(image, &axis(image.width, width), &axis(image.height, height), 0.0)
}

fn nearest(input: i64, output: i64, d: i64) -> Taps {
    Taps::normalised(vec![(Some(((2 * d + 1) * input / (2 * output)) as usize), 1.0)])
}

/// In units of `1 / (2 out)` the source coordinate is the integer `(2 d + 1) in - out`.
fn bilinear(input: i64, output: i64, d: i64) -> Taps {
    let position = (2 * d + 1) * input - output;
    let (left, rest) = (position.div_euclid(2 * output), position.rem_euclid(2 * output));
    let inside = |i: i64| Some(i.clamp(0, input - 1) as usize);
    let mut taps = vec![(inside(left), (2 * output - rest) as f64)];
    if rest > 0 {
        taps.push((inside(left + 1), rest as f64));
    }
    Taps { taps, total: (2 * output) as f64 }
}

/// In units of `1 / out` source pixel i covers `i out .. (i + 1) out`, the output pixel `d in .. (d + 1) in`.
fn area(input: i64, output: i64, d: i64) -> Taps {
    let overlap = |i: i64| ((i + 1) * output).min((d + 1) * input) - (i * output).max(d * input);
    let taps =
        (0..input).filter(|&i| overlap(i) > 0).map(|i| (Some(i as usize), overlap(i) as f64)).collect();
    Taps { taps, total: input as f64 }
}

/// `1 - |i + 0.5 - centre| / reach` with `centre = (d + 0.5) in / out` and `reach = max(in / out, 1)`, in units of
/// `1 / (2 max(in, out))`.
fn triangle(input: i64, output: i64, d: i64) -> Taps {
    let height = |i: i64| 2 * input.max(output) - ((2 * i + 1) * output - (2 * d + 1) * input).abs();
    let taps = (0..input).filter(|&i| height(i) > 0).map(|i| (Some(i as usize), height(i) as f64)).collect();
    Taps::normalised(taps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(samples: &[f64]) -> Real {
        Real::from_fn(samples.len(), 1, 1, |x, _, _| samples[x])
    }

    #[test]
    fn nearest_is_exact_where_floats_are_not() {
        let ramp = Real::from_fn(128, 1, 1, |x, _, _| x as f64);
        assert_eq!(resize(&ramp, 160, 1, Filter::Nearest).at(7, 0, 0), 6.0);
    }

    #[test]
    fn bilinear_by_hand() {
        assert_eq!(resize(&row(&[0.0, 8.0]), 4, 1, Filter::Bilinear).data, [0.0, 2.0, 6.0, 8.0]);
        // 3 -> 2: positions 0.25 and 1.75.
        assert_eq!(resize(&row(&[0.0, 4.0, 16.0]), 2, 1, Filter::Bilinear).data, [1.0, 13.0]);
    }

    #[test]
    fn area_by_hand() {
        assert_eq!(resize(&row(&[3.0, 6.0, 9.0]), 2, 1, Filter::Area).data, [4.0, 8.0]);
        assert_eq!(resize(&row(&[3.0, 6.0]), 3, 1, Filter::Area).data, [3.0, 4.5, 6.0]);
    }

    #[test]
    fn antialiased_by_hand() {
        // 4 -> 2: centre 1, reach 2, weights 3/4, 3/4, 1/4 (cut at the left edge).
        let out = resize_antialiased(&row(&[7.0, 14.0, 28.0, 0.0]), 2, 1);
        assert_eq!(out.data, [(3.0 * 7.0 + 3.0 * 14.0 + 28.0) / 7.0, (14.0 + 3.0 * 28.0) / 7.0]);
        let ramp = row(&[0.0, 5.0, 2.0]);
        assert_eq!(resize_antialiased(&ramp, 8, 1), resize(&ramp, 8, 1, Filter::Bilinear));
    }

    #[test]
    fn a_clear_pixel_has_no_colour_to_give() {
        let image =
            Real::from_fn(2, 1, 4, |x, _, c| [[200.0, 0.0, 0.0, 0.0], [0.0, 100.0, 0.0, 200.0]][x][c]);
        assert_eq!(resize(&image, 1, 1, Filter::Bilinear).data, [0.0, 100.0, 0.0, 100.0]);
        assert_eq!(resize(&image, 2, 1, Filter::Bilinear).data[..4], [0.0; 4]);
        assert_eq!(resize(&image, 2, 1, Filter::Nearest), image);
    }
}
