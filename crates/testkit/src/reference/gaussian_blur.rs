use super::Border;
use super::apply::Reference;
use super::weighted::{Taps, weighted};
use crate::Real;

pub(super) const REFERENCE: Reference =
    Reference::new("gaussian_blur", &["kernel", "sigma", "border", "border_value"], |call| {
        let kernel = call.params.size("kernel").unwrap_or(5);
        gaussian_blur(&call.image(0), kernel, call.params.number("sigma"), Border::of(call.params))
    });

/// The sigma of a kernel of `kernel` taps when none is given: `0.15 k + 0.35`.
pub fn default_sigma(kernel: usize) -> f64 {
    0.15 * kernel as f64 + 0.35
}

/// Gaussian blur with `kernel` x `kernel` taps (odd), weights `exp(-d^2 / (2 sigma^2))` normalised to 1 along
/// each axis; RGBA is premultiplied.
pub fn gaussian_blur(image: &Real, kernel: usize, sigma: Option<f64>, border: Border) -> Real {
    assert!(kernel % 2 == 1, "an odd kernel size, not {kernel}");
    let sigma = sigma.unwrap_or_else(|| default_sigma(kernel));
    let radius = (kernel / 2) as i64;
    let axis = |n: usize| -> Vec<Taps> {
        let weight = |d: i64| (-((d * d) as f64) / (2.0 * sigma * sigma)).exp();
        let taps = |o: i64| (-radius..=radius).map(|d| (border.resolve(o + d, n), weight(d))).collect();
        (0..n as i64).map(|o| Taps::normalised(taps(o)).merged_above(kernel)).collect()
    };
    let constant = if let Border::Constant(v) = border { v } else { 0.0 };
    weighted(image, &axis(image.width), &axis(image.height), constant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impulse_becomes_the_kernel() {
        let impulse = Real::from_fn(5, 5, 1, |x, y, _| if (x, y) == (2, 2) { 1.0 } else { 0.0 });
        let out = gaussian_blur(&impulse, 3, Some(1.0), Border::Reflect101);
        let side = (-0.5_f64).exp() / (1.0 + 2.0 * (-0.5_f64).exp());
        assert!((out.at(2, 1, 0) - side * (1.0 - 2.0 * side)).abs() < 1e-15);
        assert!((out.data.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        assert_eq!(out.at(0, 2, 0), 0.0);
    }

    #[test]
    fn a_constant_image_stays_constant_but_for_a_constant_border() {
        let flat = Real::from_fn(3, 1, 1, |_, _, _| 40.0);
        for border in [Border::Reflect101, Border::Reflect, Border::Replicate, Border::Wrap] {
            let out = gaussian_blur(&flat, 9, None, border);
            assert!(out.data.iter().all(|v| (v - 40.0).abs() < 1e-12), "{border:?}");
        }
        assert!(gaussian_blur(&flat, 9, None, Border::Constant(0.0)).at(1, 0, 0) < 20.0);
    }

    #[test]
    fn colour_of_clear_pixels_does_not_bleed() {
        let image =
            Real::from_fn(2, 1, 4, |x, _, c| [[255.0, 0.0, 0.0, 255.0], [0.0, 255.0, 0.0, 0.0]][x][c]);
        let out = gaussian_blur(&image, 3, None, Border::Replicate);
        assert!((out.at(1, 0, 0) - 255.0).abs() < 1e-9 && out.at(1, 0, 1) == 0.0);
        let clear = gaussian_blur(&image.map(|_| 0.0), 3, None, Border::Wrap);
        assert!(clear.data.iter().all(|&v| v == 0.0));
    }
}
