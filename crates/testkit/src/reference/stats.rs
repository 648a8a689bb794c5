use mip_core::{DType, PixelFormat};

use super::apply::Reference;
use super::counts::colors;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("stats", &[], |call| stats(&call.image(0)))
    .output(|_, desc| desc.with_format(PixelFormat::Gray).unwrap().with_dtype(DType::F32).unwrap());

/// Mean, standard deviation, minimum, maximum and sum of each colour channel.
pub fn stats(image: &Real) -> Real {
    let rows: Vec<[f64; 5]> = (0..colors(image))
        .map(|channel| {
            let samples: Vec<f64> =
                image.data.iter().skip(channel).step_by(image.channels).copied().collect();
            let (n, sum) = (samples.len() as f64, samples.iter().sum::<f64>());
            let squares: f64 = samples.iter().map(|v| (v - sum / n) * (v - sum / n)).sum();
            let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
            let most = samples.iter().copied().fold(0.0, f64::max);
            [sum / n, (squares / n).sqrt(), least, most, sum]
        })
        .collect();
    Real::from_fn(5, rows.len(), 1, |column, row, _| rows[row][column])
}
