use super::Border;
use super::apply::Reference;
use super::around::each_window;
use crate::Real;

pub(super) const REFERENCE: Reference =
    Reference::new("median", &["kernel", "border", "border_value"], |call| {
        let kernel = call.params.size("kernel").unwrap_or(3);
        median(&call.image(0), kernel, Border::or(call.params, "replicate"))
    });

/// The middle one of the sorted samples of a square; alpha is kept.
pub fn median(image: &Real, kernel: usize, border: Border) -> Real {
    let radius = (kernel / 2) as i64;
    each_window(image, border, |at| {
        let places = (-radius..=radius).flat_map(|y| (-radius..=radius).map(move |x| (x, y)));
        let mut samples: Vec<f64> = places.map(|(x, y)| at(x, y)).collect();
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    })
}
