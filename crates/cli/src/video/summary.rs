use mini_image_pipe::Pipeline;
use serde_json::{Value, json};

use super::Outcome;
use crate::devices::{Names, shares};
use crate::failure::Failure;
use crate::interrupt::Signal;

/// What `mip stream --json` prints: the keys of `mip run --json` that make sense for a stream, and its rate. Keys
/// may be added, never changed.
pub(crate) fn summary(
    pipeline: &Pipeline,
    outcome: &Outcome,
    frames_in_flight: u16,
) -> Result<Value, Failure> {
    let memory = pipeline.memory()?;
    let stats = memory.stats();
    let (effective, reason) = memory.effective_mode();
    let elapsed = outcome.elapsed.as_secs_f64();
    let tasks = outcome.tasks.iter().map(|task| {
        json!({
            "name": task.name,
            "op": task.op,
            "invocations": task.invocations,
            "state": task.state.to_string(),
        })
    });
    let names = Names::of(pipeline)?;
    Ok(json!({
        "device": names.ids,
        "device_name": names.names,
        "devices": shares(pipeline),
        "frames": outcome.frames,
        "frames_in_flight": frames_in_flight,
        "elapsed_ms": elapsed * 1e3,
        "frames_per_second": outcome.frames as f64 / elapsed.max(1e-9),
        "allocator": {
            "requested": memory.requested_mode(),
            "effective": effective,
            "reason": reason,
        },
        "graph": pipeline.graph_stats(),
        "memory": {
            "driver_allocations": stats.device.driver_allocations + stats.pinned.driver_allocations,
            "peak_device_bytes": stats.device.peak,
            "pinned_bytes": stats.pinned.peak,
            "limit_bytes": crate::work::limit_bytes(pipeline),
        },
        "interrupted": outcome.interrupted.map(Signal::name),
        "kept_as": outcome.beside.as_ref().map(|path| path.display().to_string()),
        "stages": outcome.stages.all,
        "bottleneck": outcome.stages.bottleneck,
        "tasks": tasks.collect::<Vec<_>>(),
    }))
}
