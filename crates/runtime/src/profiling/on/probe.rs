use std::sync::Arc;
use std::time::Instant;

use super::super::Kind;
use super::profile::{Profile, Span};
use super::profiler::Profiler;
use super::run::RunProbe;
use crate::LoadedPlan;
use crate::device::Device;

/// What records a profile, or nothing. Clones record the same one.
#[derive(Debug, Clone, Default)]
pub struct Probe(Option<Arc<Profiler>>);

impl Probe {
    /// A probe that records from now on.
    pub fn recording() -> Option<Self> {
        Some(Self(Some(Arc::new(Profiler::new()))))
    }

    /// Whether it records.
    pub const fn is_recording(&self) -> bool {
        self.0.is_some()
    }

    /// Records a span of the calling thread's time until the result is dropped.
    #[inline]
    pub fn span(&self, kind: Kind, name: impl FnOnce() -> String) -> HostSpan {
        HostSpan(self.0.as_ref().map(|profiler| Box::new(Open::new(profiler, kind, name().into()))))
    }

    /// Records that something happened now.
    #[inline]
    pub(crate) fn mark(&self, name: impl FnOnce() -> String) {
        if let Some(profiler) = &self.0 {
            profiler.mark(name());
        }
    }

    /// Says which device it is that runs.
    pub(crate) fn adopt(&self, device: &dyn Device) {
        if let Some(profiler) = &self.0 {
            profiler.adopt(device);
        }
    }

    /// A run that begins.
    #[inline]
    pub(crate) fn run(&self, loaded: &LoadedPlan) -> RunProbe {
        self.0.as_ref().map_or_else(RunProbe::default, |profiler| RunProbe::new(profiler, loaded))
    }

    /// What was recorded since the start, or since this was called last; `None` when it does not record. Runs under way
    /// come with the next one.
    pub fn take(&self) -> Option<Profile> {
        self.0.as_ref().map(|profiler| profiler.take())
    }
}

/// A span of the host's time that ends when this is dropped.
#[derive(Debug)]
pub struct HostSpan(#[expect(dead_code, reason = "held for its drop")] Option<Box<Open>>);

#[derive(Debug)]
pub(super) struct Open {
    profiler: Arc<Profiler>,
    kind: Kind,
    name: Arc<str>,
    pub(super) run: Option<u64>,
    pub(super) flow: Option<u64>,
    begin: Instant,
}

impl Open {
    pub(super) fn new(profiler: &Arc<Profiler>, kind: Kind, name: Arc<str>) -> Self {
        if let Some(ranges) = profiler.ranges() {
            ranges.push(&text(kind, &name));
        }
        Self { profiler: profiler.clone(), kind, name, run: None, flow: None, begin: Instant::now() }
    }
}

impl HostSpan {
    /// Ends it.
    pub fn end(self) {}

    pub(super) fn of(open: Open) -> Self {
        Self(Some(Box::new(open)))
    }

    pub(super) const fn none() -> Self {
        Self(None)
    }
}

/// `submit`, `queue blur+sobel`.
pub(super) fn text(kind: Kind, name: &str) -> String {
    if name.is_empty() { kind.name().to_owned() } else { format!("{} {name}", kind.name()) }
}

impl Drop for Open {
    fn drop(&mut self) {
        let end = Instant::now();
        if let Some(ranges) = self.profiler.ranges() {
            ranges.pop();
        }
        let row = self.profiler.this_thread();
        self.profiler.add(Span {
            row,
            kind: self.kind,
            name: self.name.clone(),
            begin: self.profiler.since_start(self.begin),
            end: self.profiler.since_start(end),
            waited: std::time::Duration::ZERO,
            run: self.run,
            flow: self.flow,
            work: None,
        });
    }
}
