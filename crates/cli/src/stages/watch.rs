use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mip_runtime::profiling::{Kind, Probe};

/// Time that threads spend at work, for another to read; recorded in a profile as well, if there is one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    nanos: Arc<AtomicU64>,
    recorded: Option<(Probe, Kind)>,
}

impl Meter {
    /// A meter that also records in a profile.
    pub(crate) fn recording(probe: &Probe, kind: Kind) -> Self {
        Self { recorded: probe.is_recording().then(|| (probe.clone(), kind)), ..Self::default() }
    }

    /// Does something and adds its time.
    pub(crate) fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        self.time_with_pause(String::new, |_| work())
    }

    /// [`Meter::time`] of what `name` says, with parts that do not count; a profile shows them as part of it.
    fn time_with_pause<T>(&self, name: impl FnOnce() -> String, work: impl FnOnce(&mut Pause) -> T) -> T {
        let span = self.recorded.as_ref().map(|(probe, kind)| probe.span(*kind, name));
        let (start, mut pause) = (Instant::now(), Pause::default());
        let result = work(&mut pause);
        self.add(start.elapsed().saturating_sub(pause.0));
        drop(span);
        result
    }

    pub(crate) fn total(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Ordering::Relaxed))
    }

    fn add(&self, time: Duration) {
        self.nanos.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// What is done with a picture on its way from a file to a file, but for what the pipeline does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Read,
    Decode,
    Encode,
    Write,
}

impl Step {
    const ALL: [Self; 4] = [Self::Read, Self::Decode, Self::Encode, Self::Write];

    pub(crate) const fn name(self) -> &'static str {
        self.kind().name()
    }

    /// What a profile calls it.
    const fn kind(self) -> Kind {
        match self {
            Self::Read => Kind::Read,
            Self::Decode => Kind::Decode,
            Self::Encode => Kind::Encode,
            Self::Write => Kind::Write,
        }
    }
}

/// Adds up what steps take, on whatever threads, and records them in a profile if there is one. Clones are the same watch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch {
    meters: [Meter; 4],
}

/// Time within a step that does not count.
#[derive(Debug, Default)]
pub(crate) struct Pause(Duration);

impl Pause {
    /// Does something that is not part of the step, such as waiting.
    pub(crate) fn during<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.0 += start.elapsed();
        result
    }
}

impl Watch {
    /// A watch that also records in a profile.
    pub(crate) fn recording(probe: &Probe) -> Self {
        Self { meters: Step::ALL.map(|step| Meter::recording(probe, step.kind())) }
    }

    /// Does a step, of what `name` says.
    pub(crate) fn time<T>(&self, step: Step, name: impl FnOnce() -> String, work: impl FnOnce() -> T) -> T {
        self.time_with_pause(step, name, |_| work())
    }

    /// [`Watch::time`] with parts that do not count; a profile shows them as part of it.
    pub(crate) fn time_with_pause<T>(
        &self,
        step: Step,
        name: impl FnOnce() -> String,
        work: impl FnOnce(&mut Pause) -> T,
    ) -> T {
        self.meters[step as usize].time_with_pause(name, work)
    }

    pub(crate) fn total(&self, step: Step) -> Duration {
        self.meters[step as usize].total()
    }

    #[cfg(test)]
    pub(super) fn add(&self, step: Step, time: Duration) {
        self.meters[step as usize].add(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_adds_up_what_it_times() {
        let meter = Meter::default();
        let other = meter.clone();
        assert_eq!(meter.time(|| 7), 7);
        other.time(|| std::thread::sleep(Duration::from_millis(2)));
        assert!(meter.total() >= Duration::from_millis(2));
    }

    #[test]
    fn waiting_is_no_part_of_a_step() {
        let watch = Watch::default();
        let wait = |pause: &mut Pause| pause.during(|| std::thread::sleep(Duration::from_millis(200)));
        watch.clone().time_with_pause(Step::Read, String::new, wait);
        assert!(watch.total(Step::Read) < Duration::from_millis(100));
        assert_eq!(watch.total(Step::Decode), Duration::ZERO);
    }
}
