use super::apply::Reference;
use super::counts::{colors, counts, mapped};
use crate::Real;

pub(super) const REFERENCE: Reference = Reference::new("autocontrast", &["cutoff"], |call| {
    autocontrast(&call.image(0), call.params.number("cutoff").unwrap_or(0.0))
});

/// Each colour channel stretched after `cutoff` percent of its samples have been taken away at each end.
pub fn autocontrast(image: &Real, cutoff: f64) -> Real {
    let maps: Vec<Vec<f64>> = (0..colors(image))
        .map(|channel| {
            let h = counts(image, channel);
            let n: u64 = h.iter().sum();
            let cut = (n as f64 * f64::from(cutoff as f32) / 100.0).floor() as usize;
            let sorted: Vec<usize> = (0..256).flat_map(|v| std::iter::repeat_n(v, h[v] as usize)).collect();
            let (low, high) = (sorted.get(cut), sorted.iter().rev().nth(cut));
            match (low, high) {
                (Some(&low), Some(&high)) if low < high => {
                    let (low, high) = (low as f64, high as f64);
                    (0..256).map(|v| ((v as f64 - low) * 255.0 / (high - low)).clamp(0.0, 255.0)).collect()
                }
                _ => (0..256).map(|v| v as f64).collect(),
            }
        })
        .collect();
    mapped(image, &maps)
}
