use std::time::Duration;

use super::profile::Span;

/// Stretches of time, in order, none touching the next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Intervals(Vec<(Duration, Duration)>);

impl Intervals {
    pub(super) fn of<'a>(spans: impl Iterator<Item = &'a Span>) -> Self {
        Self::joined(spans.map(|span| (span.begin, span.end)).collect())
    }

    fn joined(mut stretches: Vec<(Duration, Duration)>) -> Self {
        stretches.sort_unstable();
        let mut joined: Vec<(Duration, Duration)> = Vec::new();
        for (begin, end) in stretches.into_iter().filter(|(begin, end)| begin < end) {
            match joined.last_mut() {
                Some(last) if begin <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((begin, end)),
            }
        }
        Self(joined)
    }

    /// Time in either.
    pub(super) fn or(&self, other: &Self) -> Self {
        Self::joined(self.0.iter().chain(&other.0).copied().collect())
    }

    /// Time in both.
    pub(super) fn and(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.0.as_slice(), other.0.as_slice());
        let mut both = Vec::new();
        while let (Some(&(a_begin, a_end)), Some(&(b_begin, b_end))) = (a.first(), b.first()) {
            let (begin, end) = (a_begin.max(b_begin), a_end.min(b_end));
            if begin < end {
                both.push((begin, end));
            }
            if a_end < b_end { a = &a[1..] } else { b = &b[1..] }
        }
        Self(both)
    }

    /// All of it.
    pub(super) fn length(&self) -> Duration {
        self.0.iter().map(|(begin, end)| end.saturating_sub(*begin)).sum()
    }

    /// From the first begin to the last end.
    pub(super) fn window(&self) -> Duration {
        match (self.0.first(), self.0.last()) {
            (Some((begin, _)), Some((_, end))) => end.saturating_sub(*begin),
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn some() -> impl Strategy<Value = (Intervals, [bool; 40])> {
        prop::collection::vec((0..40_u64, 0..12_u64), 0..8).prop_map(|stretches| {
            let mut covered = [false; 40];
            for &(begin, length) in &stretches {
                (begin..(begin + length).min(40)).for_each(|at| covered[at as usize] = true);
            }
            let micros = |at: u64| Duration::from_micros(at.min(40));
            let pair = |&(begin, length): &(u64, u64)| (micros(begin), micros(begin + length));
            (Intervals::joined(stretches.iter().map(pair).collect()), covered)
        })
    }

    fn length(covered: impl Iterator<Item = bool>) -> Duration {
        Duration::from_micros(covered.filter(|&c| c).count() as u64)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn they_are_sets_of_moments((a, in_a) in some(), (b, in_b) in some()) {
            prop_assert_eq!(a.length(), length(in_a.iter().copied()));
            let pairs = || in_a.iter().zip(&in_b);
            prop_assert_eq!(a.and(&b).length(), length(pairs().map(|(a, b)| *a && *b)));
            prop_assert_eq!(a.or(&b).length(), length(pairs().map(|(a, b)| *a || *b)));
            prop_assert_eq!(a.and(&b), b.and(&a));
            prop_assert!(a.window() >= a.length());
        }
    }
}
