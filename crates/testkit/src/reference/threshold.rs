use crate::Real;

/// Colour channels: `high` where the sample is strictly greater than `level`, else 0. Alpha is kept.
///
/// `level` and `high` are taken as binary32, which is what samples are compared in.
pub fn threshold(image: &Real, level: f64, high: f64) -> Real {
    let (level, high) = (f64::from(level as f32), f64::from(high as f32));
    Real::from_fn(image.width, image.height, image.channels, |x, y, c| match image.at(x, y, c) {
        v if c == 3 => v,
        v if v > level => high,
        _ => 0.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strictly_greater_and_alpha_kept() {
        let image = Real::from_fn(1, 1, 4, |_, _, c| [127.0, 128.0, f64::NAN, 3.0][c]);
        assert_eq!(threshold(&image, 127.0, 255.0).data, [0.0, 255.0, 0.0, 3.0]);
    }
}
