//! One workload in one mode, made ready and measured.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use mip_core::ImageBuffer;
use mip_plan::{Place, Plan};
use mip_runtime::{
    DeviceImage, MemoryManager, RunInput, RunReport, RunRequest, SchedulerStats, Session, SessionOptions,
    SpaceStats, Ticket,
};

use super::document::{Mode, Row};
use super::first_run::{FirstRun, Ready, execute, manager_options, running};
use super::stats::{Center, median, percentile, sorted};
use crate::failure::Failure;

/// Time that a sample of executions one after the other lasts at least, where one does not last longer.
const SAMPLE_SECONDS: f64 = 0.01;
/// Executions in such a sample at most.
const MAX_IN_SAMPLE: usize = 2000;

/// A workload in one mode: inputs and results stay on the device.
#[derive(Debug)]
pub(crate) struct Subject {
    mode: Mode,
    batch: usize,
    plan: Arc<Plan>,
    manager: Arc<MemoryManager>,
    /// Taken in turn; as many runs may be under way at once.
    sessions: Vec<Session>,
    /// From host memory to host memory; a session of its own, so that neither disturbs the other's graph.
    copying: Option<Session>,
    /// Images on the device that take turns, so that caches do not serve them again.
    inputs: Arc<Vec<Vec<DeviceImage>>>,
    /// Results held for as many turns, so that they too go elsewhere each time.
    held: VecDeque<RunReport>,
    turn: usize,
    /// Executions in one sample.
    per_sample: usize,
    facts: Facts,
    steady: Option<Counters>,
    samples: Vec<f64>,
    alone: Vec<f64>,
    with_copies: Vec<f64>,
}

/// What is known before anything repeats.
#[derive(Debug)]
struct Facts {
    cold: FirstRun,
    warm: FirstRun,
    second_run_ms: f64,
    peak_device_bytes: usize,
}

/// Counters at a moment.
#[derive(Debug, Clone, Copy)]
struct Counters {
    scheduler: SchedulerStats,
    driver_allocations: u64,
}

impl Subject {
    /// Makes ready: `warm` has run once; `cold` is what that took where nothing was compiled yet.
    pub(crate) fn new(
        mode: Mode,
        cold: FirstRun,
        warm: Ready,
        images: &[ImageBuffer],
        inputs: Arc<Vec<Vec<DeviceImage>>>,
        in_flight: usize,
    ) -> Result<Self, Failure> {
        let Ready { plan, session: copying, first } = warm;
        let second_run_ms = execute(&copying, images)?;
        let device = copying.device().clone();
        let peak_device_bytes = copying.manager().stats().device.peak;
        let manager = MemoryManager::new(device.clone(), manager_options());
        let options = SessionOptions { replay: mode.replay, ..SessionOptions::default() };
        let unified = device.info().unified_memory;
        let session = Session::new(device, manager.clone(), plan.clone(), options).map_err(running)?;
        let mut sessions = vec![session];
        for _ in 1..in_flight {
            sessions.push(sessions[0].sibling().map_err(running)?);
        }
        Ok(Self {
            batch: plan.batch,
            held: VecDeque::new(),
            turn: 0,
            per_sample: 1,
            facts: Facts { cold, warm: first, second_run_ms, peak_device_bytes },
            steady: None,
            samples: Vec::new(),
            alone: Vec::new(),
            with_copies: Vec::new(),
            copying: (!unified).then_some(copying),
            mode,
            plan,
            manager,
            sessions,
            inputs,
        })
    }

    fn submit(&mut self) -> Result<Ticket, Failure> {
        let images = &self.inputs[self.turn % self.inputs.len()];
        let session = &self.sessions[self.turn % self.sessions.len()];
        self.turn += 1;
        let inputs = images.iter().map(|image| RunInput::from(image.clone())).collect();
        let request = RunRequest { inputs, keep_on_device: true, ..RunRequest::default() };
        session.submit(request).map_err(running)
    }

    /// Waits for a run and holds its result in place of the oldest.
    fn finish(&mut self, ticket: Ticket) -> Result<(), Failure> {
        let report = ticket.wait();
        if let Some(error) = report.error {
            return Err(running(error));
        }
        self.held.push_back(report);
        if self.held.len() > self.inputs.len() {
            self.held.pop_front();
        }
        Ok(())
    }

    /// Seconds that `count` executions one after the other take, the wait for the last included.
    fn one_after_the_other(&mut self, count: usize) -> Result<f64, Failure> {
        let mut under_way = VecDeque::with_capacity(self.sessions.len());
        let start = Instant::now();
        for _ in 0..count {
            if under_way.len() == self.sessions.len()
                && let Some(oldest) = under_way.pop_front()
            {
                self.finish(oldest)?;
            }
            under_way.push_back(self.submit()?);
        }
        for ticket in under_way {
            self.finish(ticket)?;
        }
        Ok(start.elapsed().as_secs_f64())
    }

    /// Executes until memory, graphs and caches are as they will stay, and finds out how many executions make a
    /// sample. Nothing of it counts.
    pub(crate) fn warm_up(&mut self) -> Result<(), Failure> {
        let turns = self.inputs.len() + 2 * self.sessions.len();
        self.one_after_the_other(turns)?;
        let seconds = self.one_after_the_other(turns)? / turns as f64;
        let fitting = (SAMPLE_SECONDS / seconds.max(1e-9)).ceil() as usize;
        self.per_sample = fitting.clamp(self.sessions.len(), MAX_IN_SAMPLE);
        for _ in 0..2 {
            self.alone_once()?;
        }
        Ok(())
    }

    fn alone_once(&mut self) -> Result<f64, Failure> {
        self.one_after_the_other(1)
    }

    /// Executions that one round measures each way.
    pub(crate) const fn per_round(&self) -> usize {
        self.per_sample
    }

    /// One round: a sample of executions one after the other, as many alone, one with copies. At most `max`
    /// of each kind of execution.
    pub(crate) fn round(&mut self, max: usize, images: &[ImageBuffer]) -> Result<(), Failure> {
        if self.steady.is_none() {
            self.steady = Some(self.counters());
        }
        let count = self.per_sample.min(max).max(1);
        let seconds = self.one_after_the_other(count)?;
        self.samples.push(seconds * 1e6 / (count * self.batch) as f64);
        for _ in 0..count {
            let seconds = self.alone_once()?;
            self.alone.push(seconds * 1e6 / self.batch as f64);
        }
        if let Some(session) = &self.copying {
            self.with_copies.push(execute(session, images)? * 1e3 / self.batch as f64);
        }
        Ok(())
    }

    fn counters(&self) -> Counters {
        let stats = self.manager.stats();
        let copying = self.copying.as_ref().map(|session| session.manager().stats()).unwrap_or_default();
        let allocations = |space: SpaceStats| space.driver_allocations;
        Counters {
            scheduler: self.sessions[0].scheduler().stats(),
            driver_allocations: allocations(stats.device)
                + allocations(stats.pinned)
                + allocations(copying.device)
                + allocations(copying.pinned),
        }
    }

    /// The results, beside the bandwidth of a copy.
    pub(crate) fn row(&self, workload: &str, copy_gb_per_s: Option<f64>) -> Row {
        let now = self.counters();
        let before = self.steady.unwrap_or(now);
        let runs = now.scheduler.runs - before.scheduler.runs;
        let each = |now: u64, before: u64| (now - before) as f64 / runs.max(1) as f64;
        let graph_launches = each(now.scheduler.graph_launches, before.scheduler.graph_launches);
        let inside = |count: usize| graph_launches * count as f64;
        let center = Center::of(&self.samples);
        let alone = sorted(&self.alone);
        let bytes = bytes_at_least(&self.plan);
        let gb_per_s = bytes as f64 / (center.median * self.batch as f64).max(f64::MIN_POSITIVE) / 1e3;
        Row {
            workload: workload.to_owned(),
            mode: self.mode,
            batch: self.batch,
            median_us: center.median,
            median_low_us: center.low,
            median_high_us: center.high,
            p50_us: percentile(&alone, 50.0),
            p99_us: percentile(&alone, 99.0),
            with_copies_us: (!self.with_copies.is_empty()).then(|| median(&self.with_copies)),
            runs: alone.len(),
            throughput_runs: runs as usize - alone.len(),
            launches: each(now.scheduler.launches, before.scheduler.launches)
                + inside(self.plan.groups.len()),
            waits: each(now.scheduler.waits, before.scheduler.waits) + inside(self.plan.waits.len()),
            graph_launches,
            bytes,
            gb_per_s,
            copy_gb_per_s,
            copy_fraction: copy_gb_per_s.map(|copy| gb_per_s / copy),
            floor_us: copy_gb_per_s.map(|copy| bytes as f64 / copy / 1e3 / self.batch as f64),
            first_run_ms: self.facts.cold.total_ms(),
            first_run_parts_ms: self.facts.cold.parts_ms(),
            warm_first_run_ms: self.facts.warm.total_ms(),
            second_run_ms: self.facts.second_run_ms,
            driver_allocations: now.driver_allocations - before.driver_allocations,
            peak_device_bytes: self.facts.peak_device_bytes,
            percentiles_us: (0..=100).map(|percent| percentile(&alone, f64::from(percent))).collect(),
        }
    }
}

/// Inputs once and outputs once, for all frames, without padding.
pub(crate) fn bytes_at_least(plan: &Plan) -> u64 {
    let outside = plan.buffers.iter().filter(|b| !matches!(b.place, Place::Arena { .. }));
    outside.map(|b| b.layout.desc.bytes() as u64 * b.layout.batch_size as u64).sum()
}
