/// `exp(-d^2 / (2 sigma^2))` for d = 0..=radius, divided by the sum over -radius..=radius.
///
/// Every weight is finite for every `sigma` above 0.
pub(crate) fn gaussian(radius: u32, sigma: f64) -> Vec<f64> {
    // The quotient is squared, not the sigma: a tiny sigma must not underflow to 0/0.
    let raw: Vec<f64> = (0..=radius).map(|d| (-0.5 * (f64::from(d) / sigma).powi(2)).exp()).collect();
    let sum = raw[0] + 2.0 * raw[1..].iter().rev().sum::<f64>();
    raw.into_iter().map(|w| w / sum).collect()
}

/// The standard deviation over `kernel` pixels, where it may not be given.
pub(crate) fn sigma_of(kernel: u32, sigma: Option<f64>) -> f64 {
    sigma.unwrap_or_else(|| 0.15 * f64::from(kernel) + 0.35)
}

/// [`gaussian`] over `kernel` pixels, as uniforms take them; sigma is `0.15 * kernel + 0.35` if not given.
pub(crate) fn gaussian_weights(kernel: u32, sigma: Option<f64>) -> Vec<f32> {
    gaussian(kernel / 2, sigma_of(kernel, sigma)).into_iter().map(|w| w as f32).collect()
}

/// The equal weights of a mean over `kernel` pixels, from the middle outwards.
pub(crate) fn mean_weights(kernel: u32) -> Vec<f32> {
    vec![(1.0 / f64::from(kernel)) as f32; kernel as usize / 2 + 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one_and_fall_off() {
        for radius in 0..=15 {
            for sigma in [1e-320, 1e-200, 0.1, 0.5, 1.1, 3.0, 100.0, 1e6] {
                let w = gaussian(radius, sigma);
                assert_eq!(w.len(), radius as usize + 1);
                let sum = w[0] + 2.0 * w[1..].iter().sum::<f64>();
                assert!((sum - 1.0).abs() < 1e-14, "{radius} {sigma}: {sum}");
                assert!(w.iter().all(|v| *v >= 0.0) && w.is_sorted_by(|a, b| a >= b), "{radius} {sigma}");
            }
        }
    }

    #[test]
    fn known_values() {
        // The same formula in Python's math module.
        let five = [0.369_546_459_513_659_33, 0.244_460_398_911_623_9, 0.070_766_371_331_546_5];
        let seven = [
            0.288_026_045_752_251_1,
            0.223_173_360_742_083_35,
            0.103_818_351_249_973_71,
            0.028_995_265_131_817_43,
        ];
        let close = |w: &[f64], e: &[f64]| w.iter().zip(e).all(|(w, e)| (w - e).abs() < 1e-15);
        assert!(close(&gaussian(2, 1.1), &five) && close(&gaussian(3, 1.4), &seven));
        assert_eq!(gaussian(3, 1e-200), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(gaussian(0, 5.0), [1.0]);
    }
}
