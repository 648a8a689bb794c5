//! The same names as with the `profiling` feature, with nothing behind them.

use std::convert::Infallible;

use mip_plan::GroupId;

use super::{Kind, Timed};
use crate::LoadedPlan;
use crate::device::{Command, Device};
use crate::scheduler::GroupTimestamps;

/// What records a profile; here, without the `profiling` feature, nothing does.
#[derive(Debug, Clone, Default)]
pub struct Probe(());

/// A span of the host's time; here, without the `profiling` feature, none.
#[derive(Debug)]
pub struct HostSpan(());

/// The names of a plan's spans.
#[derive(Debug, Default)]
pub(crate) struct PlanLabels(());

/// A run as its profile sees it.
#[derive(Debug, Default)]
pub(crate) struct RunProbe(());

impl HostSpan {
    /// Ends it.
    #[inline(always)]
    pub fn end(self) {}
}

impl Probe {
    /// A probe that records: `None`, because this was built without the `profiling` feature.
    pub const fn recording() -> Option<Self> {
        None
    }

    /// Whether it records.
    pub const fn is_recording(&self) -> bool {
        false
    }

    /// Records a span of the calling thread's time until the result is dropped.
    #[inline(always)]
    pub fn span(&self, _kind: Kind, _name: impl FnOnce() -> String) -> HostSpan {
        HostSpan(())
    }

    #[inline(always)]
    pub(crate) fn mark(&self, _name: impl FnOnce() -> String) {}

    #[inline(always)]
    pub(crate) fn adopt(&self, _device: &dyn Device) {}

    #[inline(always)]
    pub(crate) fn run(&self, _loaded: &LoadedPlan) -> RunProbe {
        RunProbe(())
    }
}

/// There is none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimedCommand(Infallible);

impl TimedCommand {
    pub(crate) fn timestamps(&self) -> [Command; 2] {
        match self.0 {}
    }

    pub(crate) fn host_span(&self) -> HostSpan {
        match self.0 {}
    }
}

impl RunProbe {
    #[inline(always)]
    pub(crate) fn is_recording(&self) -> bool {
        false
    }

    #[inline(always)]
    pub(crate) fn span(&self, _kind: Kind, _name: &str) -> HostSpan {
        HostSpan(())
    }

    #[inline(always)]
    pub(crate) fn begin(
        &mut self,
        _loaded: &LoadedPlan,
        _stream: usize,
        _what: Timed,
    ) -> Option<TimedCommand> {
        None
    }

    #[inline(always)]
    pub(crate) fn end(&mut self, command: TimedCommand) {
        match command.0 {}
    }

    #[inline(always)]
    pub(crate) fn replayed(&mut self, _loaded: &LoadedPlan, _timestamps: &[GroupTimestamps]) {}

    #[inline(always)]
    pub(crate) fn finish(&mut self, _ran: impl Fn(GroupId) -> bool) {}
}
