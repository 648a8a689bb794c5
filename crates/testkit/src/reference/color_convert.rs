use mip_core::{DType, PixelFormat};

use super::apply::Reference;
use super::color_spaces;
use crate::Real;
use crate::golden::Params;

pub(super) const REFERENCE: Reference = Reference::new("color_convert", &["to"], |call| {
    let desc = call.desc();
    color_convert(&call.image(0), desc.format(), target(call.params), desc.dtype())
})
.magnitude(|call| match (call.desc().format(), target(call.params)) {
    // Differences of roots, times 500, and of shares that are small in the end but steep.
    (_, PixelFormat::Lab) => 1000.0 * call.largest().max(1.0),
    (from, PixelFormat::Luv) => {
        let desc = call.desc();
        let rgb = color_convert(&call.image(0), from, PixelFormat::Rgb, desc.dtype());
        let of_pixel = |pixel: &[f64]| color_spaces::luv_terms([pixel[0], pixel[1], pixel[2]], desc.dtype());
        let largest = rgb.data.chunks(3).map(of_pixel).filter(|v| v.is_finite()).fold(0.0, f64::max);
        largest.max(1000.0 * call.largest().max(1.0))
    }
    (PixelFormat::Luv, _) => 1000.0,
    (PixelFormat::Lab | PixelFormat::Xyz, _) => 70.0,
    _ => 1.0,
})
.output(|params, desc| desc.with_format(target(params)).unwrap());

fn target(params: &Params) -> PixelFormat {
    params.word("to").expect("to").parse().expect("a format")
}

/// `(299 R + 587 G + 114 B) / 1000`; one division, so exact for integer samples whose result is a binary
/// fraction, ties among them.
pub fn luma(red: f64, green: f64, blue: f64) -> f64 {
    (299.0 * red + 587.0 * green + 114.0 * blue) / 1000.0
}

/// Another pixel format. Gray becomes three equal channels; alpha is kept where both have it, dropped where the
/// target has none, and opaque (full scale) where only the target has it.
pub fn color_convert(image: &Real, from: PixelFormat, to: PixelFormat, dtype: DType) -> Real {
    assert_eq!(image.channels, from.channels(), "channels of {from}");
    let full_scale = dtype.full_scale();
    if from != to && from.is_color_space() {
        let rgb =
            each_pixel(image, |pixel| color_spaces::to_rgb([pixel[0], pixel[1], pixel[2]], from, dtype));
        return color_convert(&rgb, PixelFormat::Rgb, to, dtype);
    }
    if from != to && to.is_color_space() {
        let rgb = color_convert(image, from, PixelFormat::Rgb, dtype);
        return each_pixel(&rgb, |pixel| color_spaces::from_rgb([pixel[0], pixel[1], pixel[2]], to, dtype));
    }
    Real::from_fn(image.width, image.height, to.channels(), |x, y, c| {
        let v = |channel| image.at(x, y, channel);
        let (r, g, b, a) = match from {
            PixelFormat::Gray => (v(0), v(0), v(0), full_scale),
            PixelFormat::Rgb => (v(0), v(1), v(2), full_scale),
            PixelFormat::Bgr => (v(2), v(1), v(0), full_scale),
            PixelFormat::Rgba => (v(0), v(1), v(2), v(3)),
            PixelFormat::Bgra => (v(2), v(1), v(0), v(3)),
            _ => return v(c),
        };
        let gray = if from == PixelFormat::Gray { v(0) } else { luma(r, g, b) };
        match to {
            PixelFormat::Gray => gray,
            PixelFormat::Rgb | PixelFormat::Rgba => [r, g, b, a][c],
            _ => [b, g, r, a][c],
        }
    })
}

fn each_pixel(image: &Real, of: impl Fn(&[f64]) -> [f64; 3]) -> Real {
    let pixels: Vec<[f64; 3]> = image.data.chunks(image.channels).map(of).collect();
    Real::from_fn(image.width, image.height, 3, |x, y, c| pixels[y * image.width + x][c])
}

/// Gray as an image of the dtype holds it. f16 is made by the sum in binary32 that defines it, for a value that lies
/// near the middle between two of its numbers decides by that sum which of them the steps behind see.
pub(super) fn stored_gray(image: &Real, format: PixelFormat, dtype: DType) -> Real {
    let Some(rgb) = format.rgb_indices().filter(|_| dtype == DType::F16) else {
        return color_convert(image, format, PixelFormat::Gray, dtype).rounded(dtype);
    };
    let gray = Real::from_fn(image.width, image.height, 1, |x, y, _| {
        let [r, g, b] = rgb.map(|channel| image.at(x, y, channel) as f32);
        f64::from(b.mul_add(0.114, g.mul_add(0.587, 0.299 * r)))
    });
    gray.rounded(dtype)
}

#[cfg(test)]
mod tests {
    use super::*;
    use PixelFormat::{Bgr, Bgra, Gray, Rgb, Rgba};

    fn convert(pixel: &[f64], from: PixelFormat, to: PixelFormat) -> Vec<f64> {
        color_convert(&Real::from_fn(1, 1, pixel.len(), |_, _, c| pixel[c]), from, to, DType::U8).data
    }

    #[test]
    fn channels_and_alpha() {
        assert_eq!(convert(&[1.0, 2.0, 3.0], Rgb, Bgr), [3.0, 2.0, 1.0]);
        assert_eq!(convert(&[1.0, 2.0, 3.0], Bgr, Rgba), [3.0, 2.0, 1.0, 255.0]);
        assert_eq!(convert(&[1.0, 2.0, 3.0, 4.0], Rgba, Bgra), [3.0, 2.0, 1.0, 4.0]);
        assert_eq!(convert(&[1.0, 2.0, 3.0, 4.0], Bgra, Bgr), [1.0, 2.0, 3.0]);
        assert_eq!(convert(&[9.0], Gray, Bgra), [9.0, 9.0, 9.0, 255.0]);
    }

    #[test]
    fn gray_weights_red_green_blue_in_either_order() {
        assert_eq!(convert(&[100.0, 0.0, 0.0], Rgb, Gray), [29.9]);
        assert_eq!(convert(&[100.0, 0.0, 0.0, 7.0], Bgra, Gray), [11.4]);
        assert_eq!(convert(&[1.0, 1.0, 1.0], Rgb, Gray), [1.0]);
        assert_eq!(luma(0.0, 0.0, 250.0), 28.5, "a tie must come out as one");
    }
}
