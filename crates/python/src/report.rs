//! What a run did, as a dictionary.

use mini_image_pipe::ExecutionReport;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The report with the keys of `mip run --json`.
pub(crate) fn dictionary<'py>(py: Python<'py>, report: &ExecutionReport) -> PyResult<Bound<'py, PyDict>> {
    let tasks = PyList::empty(py);
    for task in &report.tasks {
        let entry = PyDict::new(py);
        entry.set_item("name", &*task.name)?;
        entry.set_item("op", &*task.op)?;
        entry.set_item("invocations", task.invocations)?;
        entry.set_item("state", task.state.to_string())?;
        tasks.append(entry)?;
    }
    let graph = PyDict::new(py);
    graph.set_item("captures", report.graph.captures)?;
    graph.set_item("replays", report.graph.replays)?;
    graph.set_item("direct_runs", report.graph.direct_runs)?;
    let memory = PyDict::new(py);
    memory.set_item("driver_allocations", report.memory.device.driver_allocations)?;
    let allocator = PyDict::new(py);
    allocator.set_item("requested", report.allocator.requested.to_string())?;
    allocator.set_item("effective", report.allocator.effective.to_string())?;
    allocator.set_item("reason", report.allocator.reason.clone())?;
    let whole = PyDict::new(py);
    whole.set_item("device_name", &report.device)?;
    let devices = PyList::empty(py);
    for device in &report.devices {
        let entry = PyDict::new(py);
        entry.set_item("device", &device.device)?;
        entry.set_item("name", &device.name)?;
        entry.set_item("frames", device.frames)?;
        entry.set_item("losses", device.losses.clone())?;
        entry.set_item("left", device.left)?;
        entry.set_item("standby", device.standby)?;
        devices.append(entry)?;
    }
    whole.set_item("devices", devices)?;
    whole.set_item("frames", report.frames)?;
    whole.set_item("elapsed_ms", report.elapsed.as_secs_f64() * 1e3)?;
    whole.set_item("tasks", tasks)?;
    whole.set_item("graph", graph)?;
    whole.set_item("memory", memory)?;
    whole.set_item("allocator", allocator)?;
    Ok(whole)
}
