//! Smoothing over many pixels: tables of weights for each column or row, into which the border is folded.

use mip_core::ImageDesc;
use mip_plan::{AxisTaps, Border, Kernel, Resample};

use crate::counted::refusal;
use crate::{OpError, OperatorSpec};

/// Radius up to which there are kernels whose weights are uniforms.
pub(crate) const SHORT: u32 = 15;
/// The largest side of a neighbourhood.
pub(crate) const LONGEST: u32 = 255;

/// Refuses images for whose columns or rows a table would take more than 256 MiB.
pub(crate) fn weighable(spec: &'static OperatorSpec, image: &ImageDesc, radius: u32) -> Result<(), OpError> {
    // A weight of binary32, and one of binary64 for long sums.
    let longest = (256 << 20) / (12 * (2 * radius + 1));
    if radius <= SHORT || image.width().max(image.height()) <= longest {
        return Ok(());
    }
    let allowed = format!("an image of at most {longest} pixels on a side with so large a kernel; resize it");
    Err(refusal(spec, image, &allowed))
}

/// Weighted sums with the same weights to both sides, given from the middle outwards, of columns and of rows. The border is
/// one that repeats pixels near the edge.
pub(crate) fn smoothed(image: &ImageDesc, [x, y]: [&[f64]; 2], border: Border) -> Kernel {
    let (x, y) = (along(image.width(), x, border), along(image.height(), y, border));
    Kernel::Resample(Resample { x, y })
}

fn along(side: u32, weights: &[f64], border: Border) -> AxisTaps {
    let radius = weights.len() as i64 - 1;
    let taps = |o: i64| -> Vec<(i64, f64)> {
        let weight = |d: i64| weights[d.unsigned_abs() as usize];
        let place = |d: i64| border.index(o + d, side).map(|source| (i64::from(source), weight(d)));
        (-radius..=radius).filter_map(place).collect()
    };
    AxisTaps::from_contributions(side, (0..i64::from(side)).map(taps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_are_folded_in() {
        let of = |border, o| along(4, &[0.5, 0.2, 0.05], border).weights(o).to_vec();
        assert_eq!(of(Border::Replicate, 0)[..3], [0.75, 0.2, 0.05]);
        assert_eq!(of(Border::Reflect, 0)[..3], [0.7, 0.25, 0.05]);
        assert_eq!(of(Border::Reflect101, 0)[..3], [0.5, 0.4, 0.1]);
        assert_eq!(of(Border::Reflect101, 3)[1..], [0.1, 0.4, 0.5]);
        let far = along(2, &[0.2, 0.2, 0.2], Border::Reflect101);
        assert_eq!((far.taps(), far.starts()), (2, &[0, 0][..]));
        assert!((far.weights(0)[0] - 0.6).abs() < 1e-6, "{far:?}");
    }
}
