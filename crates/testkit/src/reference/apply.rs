use mip_core::{DType, ImageBuffer, ImageDesc, PixelFormat};

use super::{Border, Filter};
use crate::golden::Params;
use crate::{Real, reference};

/// The exact result of an operator, named and parametrised as in a pipeline file, for the first image of each
/// input.
///
/// # Panics
/// For operators, parameters or inputs that do not exist: this serves tests, which give right ones.
pub fn apply(op: &str, params: &Params, inputs: &[&ImageBuffer]) -> Real {
    let desc = *inputs[0].desc();
    let image = Real::from_buffer(inputs[0]);
    let known = match op {
        "resize" => ["width", "height", "shorter_side", "filter", "antialias"].as_slice(),
        "color_convert" | "layout" => &["to"],
        "gaussian_blur" => &["kernel", "sigma", "border", "border_value"],
        "transpose" => &[],
        "warp_affine" => &["matrix", "inverse", "width", "height", "filter", "border", "border_value"],
        "rotate" => &["angle", "center", "scale", "filter", "border", "border_value"],
        "sobel" => &["border", "border_value"],
        "crop" => &["x", "y", "width", "height", "center"],
        "flip" | "rotate90" => &["direction"],
        "threshold" => &["threshold", "max_value"],
        "blend" => &["alpha"],
        "normalize" => &["mean", "std", "scale"],
        "cast" => &["to", "scale"],
        // Numbers under any name.
        "point" => &["expr", "to"],
        other => panic!("no reference for '{other}'"),
    };
    for (name, _) in params.iter().filter(|_| op != "point") {
        assert!(known.contains(&name), "no parameter '{name}' of '{op}'");
    }
    match op {
        "resize" => resize(&image, params),
        "color_convert" => {
            let to: PixelFormat = params.word("to").expect("to").parse().expect("a format");
            reference::color_convert(&image, desc.format, to, desc.dtype.full_scale())
        }
        "layout" => reference::layout(&image),
        "gaussian_blur" => {
            let kernel = params.size("kernel").unwrap_or(5);
            reference::gaussian_blur(&image, kernel, params.number("sigma"), border(params))
        }
        "sobel" => reference::sobel(&image, desc.format, desc.dtype, border(params)),
        "crop" => crop(&image, params),
        "flip" => {
            let direction = params.word("direction").unwrap_or("horizontal");
            reference::flip(&image, direction != "vertical", direction != "horizontal")
        }
        "rotate90" => {
            let direction = params.digits("direction").expect("direction");
            let quarters = ["cw", "180", "ccw"].iter().position(|d| *d == direction).expect("a direction");
            reference::rotate90(&image, 1 + quarters)
        }
        "transpose" => reference::transpose(&image),
        "warp_affine" => {
            let matrix = six(&params.list("matrix").expect("matrix"));
            let inverted = params.flag("inverse").unwrap_or(false);
            let size =
                (params.size("width").unwrap_or(image.width), params.size("height").unwrap_or(image.height));
            warp(&image, if inverted { matrix } else { reference::inverse(matrix) }, size, params)
        }
        "rotate" => {
            let middle = |side: usize| (side as f64 - 1.0) / 2.0;
            let center = params.list("center").map(|c| (c[0], c[1]));
            let center = center.unwrap_or((middle(image.width), middle(image.height)));
            let (angle, scale) =
                (params.number("angle").expect("angle"), params.number("scale").unwrap_or(1.0));
            warp(&image, reference::rotation(angle, center, scale), (image.width, image.height), params)
        }
        "threshold" => {
            let high = params.number("max_value").unwrap_or(desc.dtype.full_scale());
            reference::threshold(&image, params.number("threshold").expect("threshold"), high, desc.dtype)
        }
        "blend" => {
            let alpha = params.number("alpha").unwrap_or(0.5);
            reference::blend(&image, &Real::from_buffer(inputs[1]), alpha, 1.0 - alpha)
        }
        "normalize" => {
            let scale = params.number("scale").unwrap_or(1.0 / desc.dtype.full_scale());
            let list = |name, default| params.list(name).unwrap_or_else(|| vec![default]);
            reference::normalize(&image, scale, &list("mean", 0.0), &list("std", 1.0))
        }
        "cast" => {
            let to: DType = params.word("to").expect("to").parse().expect("a sample type");
            let scale = params.flag("scale").unwrap_or(true);
            if scale { reference::cast(&image, desc.dtype, to) } else { image }
        }
        "point" => point(params, inputs),
        _ => unreachable!("refused above"),
    }
}

/// Description of an operator's result: the size of `exact`, which [`apply`] has computed, and the rest from the
/// first input and the parameters.
///
/// # Panics
/// As [`apply`].
pub fn describe(op: &str, params: &Params, input: &ImageDesc, exact: &Real) -> ImageDesc {
    let desc = input.with_size(exact.width as u32, exact.height as u32);
    let to = || params.word("to").expect("to");
    match op {
        "color_convert" => desc.with_format(to().parse().expect("a format")),
        "sobel" => desc.with_format(PixelFormat::Gray),
        "cast" => desc.with_dtype(to().parse().expect("a sample type")),
        "normalize" => desc.with_dtype(DType::F32),
        "layout" => desc.with_layout(to().parse().expect("a memory order")),
        "point" => {
            let format = match exact.channels {
                channels if channels == desc.channels() => desc.format,
                1 => PixelFormat::Gray,
                3 => PixelFormat::Rgb,
                _ => PixelFormat::Rgba,
            };
            let dtype = params.word("to").map_or(desc.dtype, |to| to.parse().expect("a sample type"));
            desc.with_format(format).with_dtype(dtype)
        }
        _ => desc,
    }
}

fn point(params: &Params, inputs: &[&ImageBuffer]) -> Real {
    let text = params.word("expr").expect("expr");
    let numbers = params.iter().filter(|(name, _)| !["expr", "to"].contains(name));
    // Uniforms are rounded to binary32 before they are used.
    let numbers =
        numbers.filter_map(|(name, _)| Some((name, f64::from(params.number(name)? as f32)))).collect();
    let images: Vec<(Real, PixelFormat)> =
        inputs.iter().map(|image| (Real::from_buffer(image), image.desc().format)).collect();
    let first = inputs[0].desc().format;
    let results = text.rsplit(';').next().map_or(1, top_level_commas) + 1;
    let each = super::point::is_of_each_channel(text);
    let output = match results {
        _ if each => first,
        results if results == first.channels() => first,
        1 => PixelFormat::Gray,
        3 => PixelFormat::Rgb,
        _ => PixelFormat::Rgba,
    };
    reference::point(text, &numbers, &images, output)
}

/// Commas outside brackets.
fn top_level_commas(text: &str) -> usize {
    let mut depth = 0;
    let outside = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    };
    text.chars().map(outside).filter(|&comma| comma).count()
}

fn six(list: &[f64]) -> [f64; 6] {
    list.try_into().expect("six numbers")
}

fn warp(image: &Real, matrix: [f64; 6], size: (usize, usize), params: &Params) -> Real {
    let bilinear = params.word("filter").unwrap_or("bilinear") == "bilinear";
    reference::warp_affine(image, matrix, size, bilinear, border_or(params, "constant"))
}

fn border(params: &Params) -> Border {
    border_or(params, "reflect101")
}

fn border_or(params: &Params, default: &str) -> Border {
    let constant = Border::Constant(params.number("border_value").unwrap_or(0.0));
    let all = [Border::Reflect101, Border::Reflect, Border::Replicate, Border::Wrap, constant];
    let name = params.word("border").unwrap_or(default);
    all.into_iter().find(|b| b.name() == name).unwrap_or_else(|| panic!("no border '{name}'"))
}

fn resize(image: &Real, params: &Params) -> Real {
    let (w, h) = (image.width, image.height);
    // The other side of one given: nearest whole number, halves up, at least 1.
    let follow = |given: usize, from: usize, other: usize| ((2 * given * other + from) / (2 * from)).max(1);
    let (width, height) = match (params.size("width"), params.size("height"), params.size("shorter_side")) {
        (Some(width), Some(height), None) => (width, height),
        (Some(width), None, None) => (width, follow(width, w, h)),
        (None, Some(height), None) => (follow(height, h, w), height),
        (None, None, Some(side)) if w <= h => (side, follow(side, w, h)),
        (None, None, Some(side)) => (follow(side, h, w), side),
        other => panic!("width, height, shorter_side: {other:?}"),
    };
    let name = params.word("filter").unwrap_or("bilinear");
    let filter =
        Filter::ALL.into_iter().find(|f| f.name() == name).unwrap_or_else(|| panic!("no filter '{name}'"));
    if params.flag("antialias").unwrap_or(false) {
        assert_eq!(filter, Filter::Bilinear, "only bilinear has an antialiased form");
        return reference::resize_antialiased(image, width, height);
    }
    reference::resize(image, width, height, filter)
}

fn crop(image: &Real, params: &Params) -> Real {
    let (width, height) = (params.size("width").expect("width"), params.size("height").expect("height"));
    let (x, y) = if params.flag("center").unwrap_or(false) {
        ((image.width - width) / 2, (image.height - height) / 2)
    } else {
        (params.size("x").unwrap_or(0), params.size("y").unwrap_or(0))
    };
    reference::crop(image, x, y, width, height)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32, height: u32) -> ImageBuffer {
        ImageBuffer::new(ImageDesc::new(width, height, PixelFormat::Gray, DType::U8).unwrap()).unwrap()
    }

    #[test]
    fn a_side_that_is_not_given_follows_the_ratio() {
        let size = |image: &ImageBuffer, name, side: u32| {
            let out = apply("resize", &Params::new().with(name, side), &[image]);
            (out.width, out.height)
        };
        assert_eq!(size(&image(50, 37), "shorter_side", 26), (35, 26));
        assert_eq!(size(&image(37, 50), "shorter_side", 26), (26, 35));
        assert_eq!(size(&image(4, 6), "width", 3), (3, 5), "4.5 rounds up");
        assert_eq!(size(&image(40, 2), "width", 3), (3, 1));
        assert_eq!(size(&image(40, 10), "height", 2), (8, 2));
    }

    #[test]
    fn descriptions_follow_the_operator() {
        let text = |op, params| {
            let (params, image) = (Params::line(params), image(8, 6));
            describe(op, &params, image.desc(), &apply(op, &params, &[&image])).to_string()
        };
        assert_eq!(text("resize", "width = 3, height = 4"), "3x4 gray u8");
        assert_eq!(text("color_convert", "to = 'bgra'"), "8x6 bgra u8");
        assert_eq!(text("layout", "to = 'chw'"), "8x6 gray u8 chw");
        assert_eq!(text("normalize", ""), "8x6 gray f32");
        assert_eq!(text("cast", "to = 'u16'"), "8x6 gray u16");
        assert_eq!(text("sobel", ""), "8x6 gray u8");
    }

    #[test]
    #[should_panic(expected = "no parameter 'axis' of 'flip'")]
    fn a_wrong_parameter_is_a_wrong_test() {
        apply("flip", &Params::new().with("axis", "both"), &[&image(1, 1)]);
    }
}
