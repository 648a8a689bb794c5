use mip_core::{DType, ImageDesc};

use super::regions::is_gray;

/// Which pixels are edges, may be edges, or are none, before edges are followed: gray u8 to 2, 1 and 0.
///
/// Derivatives are those of the 3x3 Sobel kernels, with the nearest pixel outside the image. The strength m is
/// `|dx| + |dy|`, or `dx^2 + dy^2` with `squared`, and 0 outside the image. A pixel counts where m is above the lower
/// threshold and is a maximum across the edge: with `t = 13573 |dx|` and `y = 2^15 |dy|`,
///
/// * `y < t`: above its left neighbour and not below its right one;
/// * otherwise `y > t + 2^16 |dx|`: above the one over it and not below the one under it;
/// * otherwise: above both on the diagonal that dx and dy point along, the falling one where their signs agree.
///
/// It is 2 where m is also above the upper threshold. Uniforms: `[low, high]`, in either order, of `|dx| + |dy|` or of the root
/// of `dx^2 + dy^2`; they are rounded down, after squaring where that is done. OpenCV's `Canny`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canny {
    /// Whether the strength is the sum of squares, and thresholds are squared.
    pub squared: bool,
}

impl Canny {
    /// The largest threshold that tells anything apart; what is above counts as this.
    pub const MAX_THRESHOLD: f32 = 32767.0;

    /// The thresholds in whole numbers, the lower one first.
    pub fn thresholds(self, [low, high]: [f32; 2]) -> [i32; 2] {
        let whole = |threshold: f32| {
            // Comparisons that NaN fails.
            let limited = if threshold < Self::MAX_THRESHOLD { threshold } else { Self::MAX_THRESHOLD };
            let limited = if limited > 0.0 { f64::from(limited) } else { 0.0 };
            (if self.squared { limited * limited } else { limited }) as i32
        };
        let (low, high) = (whole(low), whole(high));
        [low.min(high), low.max(high)]
    }

    pub(super) fn check(input: &ImageDesc, output: &ImageDesc) -> Result<(), String> {
        is_gray(input, input, DType::U8).and_then(|()| is_gray(output, input, DType::U8))
    }
}
