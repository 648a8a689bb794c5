use mip_core::DType;

use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference =
    Reference::new("threshold", &["threshold", "max_value", "mode"], |call| {
        let dtype = call.desc().dtype();
        let high = call.params.number("max_value").unwrap_or(dtype.full_scale());
        let level = call.params.number("threshold").expect("threshold");
        match call.params.word("mode").unwrap_or("binary") {
            "binary" => threshold(&call.image(0), level, high, dtype),
            mode => threshold_mode(&call.image(0), level, high, dtype, mode),
        }
    });

/// The other modes, by OpenCV's table of them.
fn threshold_mode(image: &Real, level: f64, high: f64, dtype: DType, mode: &str) -> Real {
    let number = |v: f64| if dtype == DType::F32 { f64::from(v as f32) } else { v };
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| {
        let v = image.at(x, y, c);
        let above = v > number(level);
        match mode {
            _ if c == 3 => v,
            "binary_inv" => {
                if above {
                    0.0
                } else {
                    number(high)
                }
            }
            "trunc" => {
                if above {
                    number(level)
                } else {
                    v
                }
            }
            "tozero" => {
                if above {
                    v
                } else {
                    0.0
                }
            }
            "tozero_inv" => {
                if above {
                    0.0
                } else {
                    v
                }
            }
            _ => panic!("no mode '{mode}'"),
        }
    })
}

/// Colour channels: `high` where the sample is strictly greater than `level`, else 0. Alpha is kept.
///
/// For f32 images both are the nearest binary32; for integers the level is compared exactly.
pub fn threshold(image: &Real, level: f64, high: f64, dtype: DType) -> Real {
    let number = |v: f64| if dtype == DType::F32 { f64::from(v as f32) } else { v };
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| match image.at(x, y, c) {
        v if c == 3 => v,
        v if v > number(level) => number(high),
        _ => 0.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strictly_greater_and_alpha_kept() {
        let image = Real::from_fn(1, 1, 4, |_, _, c| [127.0, 128.0, f64::NAN, 3.0][c]);
        assert_eq!(threshold(&image, 127.0, 255.0, DType::F32).data, [0.0, 255.0, 0.0, 3.0]);
    }

    #[test]
    fn a_level_is_what_the_samples_can_be() {
        let tenth = Real::from_fn(1, 1, 1, |_, _, _| f64::from(0.1_f32));
        assert_eq!(threshold(&tenth, 0.1, 1.0, DType::F32).data, [0.0]);
        let eight = Real::from_fn(1, 1, 1, |_, _, _| 8.0);
        assert_eq!(threshold(&eight, 7.999_999_999, 1.0, DType::U8).data, [1.0]);
    }
}
