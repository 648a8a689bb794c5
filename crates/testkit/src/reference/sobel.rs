use mip_core::{DType, PixelFormat};

use super::Border;
use super::apply::Reference;
use super::color_convert::stored_gray;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("sobel", &["border", "border_value"], |call| {
    let desc = call.desc();
    sobel(&call.image(0), desc.format(), desc.dtype(), Border::of(call.params))
});

/// Gradient magnitude `sqrt(gx^2 + gy^2)` of the 3x3 Sobel kernels, one channel. Colour is first turned to gray,
/// rounded to `dtype` as the gray operator does.
pub fn sobel(image: &Real, format: PixelFormat, dtype: DType, border: Border) -> Real {
    gradient(image, [[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]], format, dtype, border)
}

/// The same with any kernel for gx.
pub(super) fn gradient(
    image: &Real,
    kernel: [[f64; 3]; 3],
    format: PixelFormat,
    dtype: DType,
    border: Border,
) -> Real {
    let gray = stored_gray(image, format, dtype);
    let pixel = |x: i64, y: i64| match (border.resolve(x, gray.width), border.resolve(y, gray.height), border)
    {
        (Some(x), Some(y), _) => gray.at(x, y, 0),
        (_, _, Border::Constant(v)) => v,
        _ => unreachable!("only a constant border resolves to nothing"),
    };
    Real::from_fn(gray.width, gray.height, 1, |x, y, _| {
        let (mut gx, mut gy) = (0.0, 0.0);
        for (j, row) in (-1..).zip(kernel) {
            // What weighs 0 is not read: an infinity there does not matter.
            for (i, weight) in (-1..).zip(row).filter(|(_, weight)| *weight != 0.0) {
                // The kernel of gy is that of gx with columns and rows exchanged.
                gx += weight * pixel(x as i64 + i, y as i64 + j);
                gy += weight * pixel(x as i64 + j, y as i64 + i);
            }
        }
        (gx * gx + gy * gy).sqrt()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_has_a_slope_of_eight() {
        let ramp = Real::from_fn(5, 5, 1, |x, _, _| x as f64);
        let out = sobel(&ramp, PixelFormat::Gray, DType::U8, Border::Replicate);
        assert_eq!((out.at(2, 2, 0), out.at(0, 2, 0)), (8.0, 4.0));
        let mirrored = sobel(&ramp, PixelFormat::Gray, DType::U8, Border::Reflect101);
        assert_eq!(mirrored.at(0, 2, 0), 0.0);
    }

    #[test]
    fn both_directions_and_the_gray_step() {
        // gray of (0, 0, 4) is 0.456, which rounds to 0 in u8 and stays in f32.
        let dim = Real::from_fn(3, 3, 3, |x, y, c| if c == 2 && x > 0 && y > 0 { 4.0 } else { 0.0 });
        let u8 = sobel(&dim, PixelFormat::Rgb, DType::U8, Border::Replicate);
        assert!(u8.data.iter().all(|&v| v == 0.0));
        let f32 = sobel(&dim, PixelFormat::Rgb, DType::F32, Border::Replicate);
        assert!((f32.at(1, 1, 0) - 3.0 * 0.456 * 2.0_f64.sqrt()).abs() < 1e-6);
    }
}
