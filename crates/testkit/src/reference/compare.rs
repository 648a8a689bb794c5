use mip_core::{DType, PixelFormat};

use super::apply::Reference;
use super::counts::colors;
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("compare", &["metric"], |call| {
    compare(&call.image(0), &call.image(1), call.params.word("metric").unwrap_or("psnr"))
})
.output(|_, desc| desc.with_format(PixelFormat::Gray).unwrap().with_dtype(DType::F32).unwrap())
// Decibels, and variances that are differences.
.magnitude(|_| 500.0);

/// One number for the colour channels of two images.
pub fn compare(a: &Real, b: &Real, metric: &str) -> Real {
    let channels = colors(a);
    let number = if metric == "ssim" {
        (0..channels).map(|channel| ssim(a, b, channel)).sum::<f64>() / channels as f64
    } else {
        let pairs = a.data.iter().zip(&b.data).enumerate().filter(|(i, _)| i % a.channels < channels);
        let differences: Vec<f64> = pairs.map(|(_, (a, b))| (a - b).abs()).collect();
        let mean =
            |power: i32| differences.iter().map(|d| d.powi(power)).sum::<f64>() / differences.len() as f64;
        match metric {
            "mae" => mean(1),
            "mse" => mean(2),
            "max_diff" => differences.iter().copied().fold(0.0, f64::max),
            _ => 10.0 * (255.0 * 255.0 / mean(2)).log10(),
        }
    };
    Real::from_fn(1, 1, 1, |_, _, _| number)
}

/// The mean over the windows of 11 x 11 pixels that lie in the image.
fn ssim(a: &Real, b: &Real, channel: usize) -> f64 {
    let line: Vec<f64> = (-5..=5).map(|d| (-f64::from(d * d) / (2.0 * 1.5 * 1.5)).exp()).collect();
    let total: f64 = line.iter().sum::<f64>().powi(2);
    let (c1, c2) = ((0.01_f64 * 255.0).powi(2), (0.03_f64 * 255.0).powi(2));
    let window = |x: usize, y: usize| {
        let mut sums = [0.0; 5];
        for (j, wy) in line.iter().enumerate() {
            for (i, wx) in line.iter().enumerate() {
                let w = wx * wy / total;
                let (p, q) = (a.at(x + i, y + j, channel), b.at(x + i, y + j, channel));
                for (sum, v) in sums.iter_mut().zip([p, q, p * p, q * q, p * q]) {
                    *sum += w * v;
                }
            }
        }
        let [p, q, pp, qq, pq] = sums;
        let (variances, covariance) = (pp - p * p + qq - q * q, pq - p * q);
        (2.0 * p * q + c1) * (2.0 * covariance + c2) / ((p * p + q * q + c1) * (variances + c2))
    };
    let (width, height) = (a.width - 10, a.height - 10);
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    places.map(|(x, y)| window(x, y)).sum::<f64>() / (width * height) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_images_are_alike() {
        let image = Real::from_fn(13, 12, 3, |x, y, c| ((x * 31 + y * 17 + c * 5) % 256) as f64);
        let of = |metric: &str| compare(&image, &image, metric).at(0, 0, 0);
        assert!((of("ssim") - 1.0).abs() < 1e-12);
        assert_eq!((of("psnr"), of("mse"), of("max_diff")), (f64::INFINITY, 0.0, 0.0));
        let darker = Real::from_fn(13, 12, 3, |x, y, c| image.at(x, y, c) / 2.0);
        assert!(compare(&image, &darker, "ssim").at(0, 0, 0) < 0.9);
    }
}
