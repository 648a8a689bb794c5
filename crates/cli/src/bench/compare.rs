//! One result beside an older one.

use serde::Serialize;

use super::document::{Document, Mode, Row};

/// How one measurement has changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Change {
    pub(crate) workload: String,
    pub(crate) mode: Mode,
    pub(crate) batch: usize,
    pub(crate) old_us: f64,
    pub(crate) new_us: f64,
    /// Of the time: negative is faster.
    pub(crate) percent: f64,
    /// The change that the noise of both runs allows for, from the best to the worst case.
    pub(crate) low_percent: f64,
    pub(crate) high_percent: f64,
    pub(crate) outcome: Outcome,
}

/// What a change means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// More than the noise of both runs.
    Faster,
    /// More than the noise of both runs.
    Slower,
    /// No change as far as these runs can tell.
    WithinNoise,
}

/// All changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Comparison {
    /// What differs between the two runs beside the commit, so that times may differ for that alone.
    pub(crate) warnings: Vec<String>,
    pub(crate) changes: Vec<Change>,
    /// Measurements of the new run that the old one lacks.
    pub(crate) only_new: usize,
    /// The reverse.
    pub(crate) only_old: usize,
}

/// Compares what both runs measured.
pub(crate) fn compare(old: &Document, new: &Document) -> Comparison {
    let find = |row: &Row| old.results.iter().find(|o| o.same_as(row));
    let changes: Vec<Change> =
        new.results.iter().filter_map(|row| find(row).map(|old| change(old, row))).collect();
    Comparison {
        warnings: warnings(old, new),
        only_new: new.results.len() - changes.len(),
        only_old: old.results.len() - changes.len(),
        changes,
    }
}

fn change(old: &Row, new: &Row) -> Change {
    let by = |new: f64, old: f64| 100.0 * (new / old.max(f64::MIN_POSITIVE) - 1.0);
    let (before, after) = (old.center(), new.center());
    let outcome = if after.high < before.low {
        Outcome::Faster
    } else if after.low > before.high {
        Outcome::Slower
    } else {
        Outcome::WithinNoise
    };
    Change {
        workload: new.workload.clone(),
        mode: new.mode,
        batch: new.batch,
        old_us: before.median,
        new_us: after.median,
        percent: by(after.median, before.median),
        low_percent: by(after.low, before.high),
        high_percent: by(after.high, before.low),
        outcome,
    }
}

fn warnings(old: &Document, new: &Document) -> Vec<String> {
    let (a, b) = (&old.environment, &new.environment);
    let none = || "none".to_owned();
    let text = |value: &Option<String>| value.clone().unwrap_or_else(none);
    let pairs = [
        ("device", a.device_name.clone(), b.device_name.clone()),
        ("driver", text(&a.driver), text(&b.driver)),
        ("NVRTC", text(&a.nvrtc), text(&b.nvrtc)),
        ("host", a.host.clone(), b.host.clone()),
        ("in flight", old.timed.in_flight.to_string(), new.timed.in_flight.to_string()),
    ];
    let different = pairs.into_iter().filter(|(_, old, new)| old != new);
    different.map(|(what, old, new)| format!("{what} differs: {old} before, {new} now")).collect()
}

impl Outcome {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::WithinNoise => "within the noise",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{document, row};
    use super::*;

    fn outcome(old: (f64, f64, f64), new: (f64, f64, f64)) -> (Outcome, f64) {
        let with = |(low, median, high)| {
            let mut row = row("w1", Mode::ALL[0], 1);
            (row.median_low_us, row.median_us, row.median_high_us) = (low, median, high);
            row
        };
        let change = change(&with(old), &with(new));
        (change.outcome, change.percent)
    }

    #[test]
    fn a_change_counts_when_it_is_more_than_the_noise_of_both_runs() {
        assert_eq!(outcome((9.0, 10.0, 11.0), (4.0, 5.0, 8.9)), (Outcome::Faster, -50.0));
        assert_eq!(outcome((9.0, 10.0, 11.0), (11.5, 15.0, 16.0)), (Outcome::Slower, 50.0));
        // The medians differ by as much as above, but one of the runs was restless.
        assert_eq!(outcome((9.0, 10.0, 11.5), (11.5, 15.0, 16.0)), (Outcome::WithinNoise, 50.0));
        assert_eq!(outcome((10.0, 10.0, 10.0), (10.0, 10.0, 10.0)), (Outcome::WithinNoise, 0.0));
    }

    #[test]
    fn only_like_is_compared_with_like() {
        let [direct, fused, ..] = Mode::ALL;
        let old = document(vec![row("w1", direct, 1), row("w1", direct, 32), row("gone", direct, 1)]);
        let mut new = document(vec![row("w1", direct, 32), row("w1", fused, 1)]);
        new.environment.device_name = "another".to_owned();
        let comparison = compare(&old, &new);
        assert_eq!((comparison.changes.len(), comparison.only_new, comparison.only_old), (1, 1, 2));
        assert_eq!(comparison.changes[0].batch, 32);
        assert_eq!(comparison.warnings, ["device differs: a device before, another now"]);
    }
}
