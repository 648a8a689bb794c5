//! The validation path: is what this device computes right, and does the runtime keep its promises on it?
//!
//! Every check compares pixels: with the CPU byte for byte, and with f64 references by the numeric contract.

mod custom;
mod engine;
mod faults;
mod frames;
mod gate;
mod jpeg;
mod junit;
mod matrix;
mod modes;
mod nvdec;
mod operators;
mod random;
mod reasons;
mod report;
mod scenarios;
mod video;

use mip_core::threads;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use mini_image_pipe::Device;
use mip_runtime::GraphStats;

pub(crate) use report::{Check, Outcome, Report};

/// What to validate, and how thoroughly.
pub(crate) struct Request {
    pub(crate) device: Device,
    /// Every format, dtype and layout with every operator, instead of a selection.
    pub(crate) full: bool,
    /// Without the larger images.
    pub(crate) small: bool,
    /// Only checks whose name contains this.
    pub(crate) only: String,
    /// No checks whose name contains this.
    pub(crate) skip: Option<String>,
    /// Executions of the repeated scenarios.
    pub(crate) repeat: usize,
    /// Random graphs to compare.
    pub(crate) graphs: usize,
    pub(crate) seed: u64,
    /// Threads that run cases side by side.
    pub(crate) jobs: usize,
}

/// Counters of graph replay in a message, by their names in reports.
fn counters(stats: &GraphStats) -> String {
    serde_json::to_string(stats).unwrap_or_else(|error| error.to_string())
}

/// Runs a check of graph replay; skipped, with the reason, on a device that has none.
fn if_replayed(request: &Request, check: impl FnOnce(&Request) -> Outcome) -> Outcome {
    match request.device.info().map(|info| info.graph_replay) {
        Ok(Ok(())) => check(request),
        Ok(Err(reason)) => Outcome::skip(reason),
        Err(error) => Outcome::one(Err(error.to_string())),
    }
}

/// Runs all checks; `progress` gets each one's name when it begins.
pub(crate) fn run(request: &Request, progress: &mut dyn FnMut(&str)) -> Vec<Check> {
    let mut checks = Vec::new();
    for (section, list) in [
        ("operators", operators::checks(request)),
        ("operators", custom::checks(request)),
        ("modes", modes::checks(request)),
        ("modes", gate::checks(request)),
        ("modes", frames::checks(request)),
        ("modes", video::checks(request)),
        ("files", jpeg::checks(request)),
        ("files", nvdec::checks(request)),
        ("engine", engine::checks(request)),
        ("engine", reasons::checks(request)),
        ("scenarios", scenarios::checks(request)),
        ("faults", faults::checks(request)),
    ] {
        let wanted = |name: &str| {
            name.contains(&request.only) && !request.skip.as_ref().is_some_and(|skip| name.contains(skip))
        };
        for (name, check) in list.into_iter().filter(|(name, _)| wanted(name)) {
            progress(&name);
            let start = Instant::now();
            let outcome = check(request);
            let elapsed_ms = start.elapsed().as_secs_f64() * 1e3;
            checks.push(Check { section, name, outcome, elapsed_ms });
        }
    }
    checks
}

/// A check that has not run yet.
type Pending = (String, Box<dyn Fn(&Request) -> Outcome>);

/// Runs independent cases on `jobs` threads and collects what went wrong, in the order of the cases.
fn cases<T: Sync>(jobs: usize, cases: &[T], run: impl Fn(&T) -> Result<(), String> + Sync) -> Outcome {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(text) = run(case) {
                let index = cases.iter().position(|c| std::ptr::eq(c, case));
                failures.lock().unwrap_or_else(PoisonError::into_inner).push((index, text));
            }
        }
    };
    std::thread::scope(|scope| {
        // This thread works as well, so that fewer others, or none, take longer and change nothing.
        let workers = 1..jobs.clamp(1, cases.len().max(1));
        workers
            .map_while(|_| threads::spawn_scoped(scope, "mip-validate", "validate", work).ok())
            .for_each(drop);
        work();
    });
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort();
    let failures = failures.into_iter().map(|(_, text)| text).collect();
    Outcome { cases: cases.len(), failures, ..Outcome::default() }
}
