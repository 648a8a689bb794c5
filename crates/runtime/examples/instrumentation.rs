//! What the instrumentation points of profiles cost a run that is not profiled: the host's time for runs on
//! the null device, which does nothing. Compare `cargo run --release -p mip-runtime --features testing
//! --example instrumentation` with the same and `--features testing,profiling`.

#![allow(clippy::print_stdout, reason = "an example prints what it measured")]

use std::sync::Arc;
use std::time::Instant;

use mip_core::{BatchLayout, ImageBuffer};
use mip_runtime::device::Device;
use mip_runtime::device::null::{NullDevice, NullOptions};
use mip_runtime::profiling::Probe;
use mip_runtime::testing::{PlanBuilder, gray};
use mip_runtime::{DagScheduler, ManagerOptions, MemoryManager, RunRequest, Session, SessionOptions};

/// Short, so that some of them are not interrupted.
const ROUNDS: usize = 40;
const REPEATS: usize = 3000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let compiled_in = Probe::recording().is_some();
    let device = NullDevice::new(NullOptions { unified_memory: false, ..NullOptions::default() });
    let plan = PlanBuilder::diamond(1, gray(5, 3)).build();
    let image = ImageBuffer::with_layout(BatchLayout::tight(gray(5, 3), 1)?)?;
    for (name, replay, probe) in [
        ("direct, not profiled", false, None),
        ("replayed, not profiled", true, None),
        ("direct, profiled", false, Probe::recording()),
        ("replayed, profiled", true, Probe::recording()),
    ] {
        let profiled = probe.is_some();
        if !profiled && name.ends_with(", profiled") {
            continue;
        }
        let manager = MemoryManager::new(device.clone() as Arc<dyn Device>, ManagerOptions::default());
        let probe = probe.unwrap_or_default();
        let scheduler = Arc::new(DagScheduler::with_probe(probe.clone()));
        let options = SessionOptions { replay, scheduler, ..SessionOptions::default() };
        let session = Session::new(device.clone() as Arc<dyn Device>, manager, plan.clone(), options)?;
        let mut means = Vec::new();
        for _ in 0..REPEATS {
            let start = Instant::now();
            for _ in 0..ROUNDS {
                session.execute(RunRequest::new(vec![image.clone()]))?;
            }
            means.push(start.elapsed().as_secs_f64() * 1e9 / ROUNDS as f64);
            device.take_records();
            #[cfg(feature = "profiling")]
            drop(probe.take());
        }
        means.sort_by(f64::total_cmp);
        println!(
            "profiling compiled {}; {name}: {:.0} ns a run of {} groups (least of {REPEATS} times {ROUNDS} runs; a tenth below {:.0})",
            if compiled_in { "in" } else { "out" },
            means[0],
            plan.groups.len(),
            means[means.len() / 10],
        );
    }
    Ok(())
}
