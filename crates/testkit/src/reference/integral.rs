use mip_core::DType;

use super::apply::Reference;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("integral", &["squared"], |call| {
    integral(&call.image(0), call.params.flag("squared").unwrap_or_default())
})
.output(|_, desc| desc.with_dtype(DType::I32).unwrap());

/// The sum of all samples left of and above each place, or of their squares, as 32 bits hold it in two's complement. One column and
/// one row more than the image.
pub fn integral(image: &Real, squared: bool) -> Real {
    let (width, height, channels) = (image.width, image.height, image.channels);
    let mut sums = vec![0_i64; (width + 1) * (height + 1) * channels];
    let at = |x: usize, y: usize, c: usize| (y * (width + 1) + x) * channels + c;
    for y in 0..height {
        for x in 0..width {
            for c in 0..channels {
                let sample = image.at(x, y, c) as i64;
                let own = if squared { sample * sample } else { sample };
                sums[at(x + 1, y + 1, c)] =
                    own + sums[at(x, y + 1, c)] + sums[at(x + 1, y, c)] - sums[at(x, y, c)];
            }
        }
    }
    Real::from_fn(width + 1, height + 1, channels, |x, y, c| f64::from(sums[at(x, y, c)] as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_begin_with_zeros_and_end_with_the_whole_image() {
        let image = Real::from_fn(3, 2, 1, |x, y, _| [[1.0, 2.0, 3.0], [4.0, 5.0, 255.0]][y][x]);
        let sums = integral(&image, false);
        assert_eq!((sums.width, sums.height), (4, 3));
        assert_eq!(sums.data, [0., 0., 0., 0., 0., 1., 3., 6., 0., 5., 12., 270.]);
        assert_eq!(integral(&image, true).data[11], 1.0 + 4.0 + 9.0 + 16.0 + 25.0 + 65025.0);
        let white = Real::from_fn(200, 200, 1, |_, _, _| 255.0);
        let last = integral(&white, true).at(200, 200, 0);
        assert_eq!(last, f64::from((200_i64 * 200 * 65025) as i32));
    }
}
