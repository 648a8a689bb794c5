//! What samples say: percentiles, and how far a median can be trusted.

use serde::{Deserialize, Serialize};

/// Consecutive parts whose medians bound the noise of a run.
const PARTS: usize = 8;

/// A median and how it wandered while it was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Center {
    pub(crate) median: f64,
    /// The lowest and the highest median of eight consecutive parts of the samples: what slow drifts (clocks,
    /// neighbours on the machine) did while the run lasted shows here, where a confidence interval hides it.
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Center {
    /// Of samples in the order they were taken; zero for none.
    pub(crate) fn of(samples: &[f64]) -> Self {
        let length = samples.len().div_ceil(PARTS).max(1);
        let medians: Vec<f64> = samples.chunks(length).map(median).collect();
        let bound = |pick: fn(f64, f64) -> f64| medians.iter().copied().reduce(pick).unwrap_or(0.0);
        Self { median: median(samples), low: bound(f64::min), high: bound(f64::max) }
    }

    /// The larger distance of a bound from the median, in percent of it.
    pub(crate) fn noise_percent(&self) -> f64 {
        100.0 * (self.high - self.median).max(self.median - self.low) / self.median.max(f64::MIN_POSITIVE)
    }
}

/// The value that `percent` of the samples do not exceed: one of them, by nearest rank. Zero for no samples.
pub(crate) fn percentile(sorted: &[f64], percent: f64) -> f64 {
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(0.0)
}

/// The middle sample, or the mean of the middle two.
pub(crate) fn median(samples: &[f64]) -> f64 {
    let sorted = sorted(samples);
    let middle = sorted.len() / 2;
    match (sorted.get(middle.wrapping_sub(1)), sorted.get(middle)) {
        (Some(a), Some(b)) if sorted.len().is_multiple_of(2) => f64::midpoint(*a, *b),
        (_, Some(b)) => *b,
        _ => 0.0,
    }
}

/// Ascending.
pub(crate) fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples_by_nearest_rank() {
        let samples: Vec<f64> = (1..=200).map(f64::from).collect();
        let at = |percent| percentile(&samples, percent);
        assert_eq!((at(0.0), at(50.0), at(99.0), at(100.0)), (1.0, 100.0, 198.0, 200.0));
        assert_eq!(
            (percentile(&[7.0], 1.0), percentile(&[7.0], 99.0), percentile(&[], 50.0)),
            (7.0, 7.0, 0.0)
        );
        assert_eq!(percentile(&[1.0, 2.0, 3.0], 99.0), 3.0);
    }

    #[test]
    fn medians_do_not_depend_on_order() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!((median(&[5.0]), median(&[])), (5.0, 0.0));
    }

    #[test]
    fn noise_is_the_spread_of_the_parts_not_of_the_samples() {
        // Every part holds the same values: whatever single samples do, the median stands.
        let steady: Vec<f64> = (0..80).map(|i| [10.0, 11.0, 12.0, 90.0, 9.0][i % 5]).collect();
        let center = Center::of(&steady);
        assert_eq!((center.median, center.low, center.high, center.noise_percent()), (11.0, 11.0, 11.0, 0.0));
        // A machine that becomes slower half way through.
        let drifting: Vec<f64> = (0..80).map(|i| if i < 40 { 10.0 } else { 20.0 }).collect();
        let center = Center::of(&drifting);
        assert_eq!((center.median, center.low, center.high), (15.0, 10.0, 20.0));
        assert!((center.noise_percent() - 100.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn few_samples_are_parts_of_their_own() {
        let center = Center::of(&[3.0, 1.0, 2.0]);
        assert_eq!((center.low, center.median, center.high), (1.0, 2.0, 3.0));
        assert_eq!(Center::of(&[]), Center { median: 0.0, low: 0.0, high: 0.0 });
    }
}
