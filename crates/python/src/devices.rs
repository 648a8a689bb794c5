//! What there is to run on.

use std::sync::Mutex;

use mini_image_pipe::prelude::CpuConfig;
use mini_image_pipe::{Backends, Device, cuda};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::Failed;

/// Devices by name and the CPU's threads, so that all pipelines of a process share threads and memory. Threads do not survive a
/// fork, so the process is a part of the key.
static OPENED: Mutex<Vec<(Key, Device)>> = Mutex::new(Vec::new());

type Key = (u32, String, Option<usize>);

/// The device of that name: auto, cpu, cuda or cuda:N. The CPU has so many threads, without a number as many as cores.
pub(crate) fn device(name: &str, threads: Option<usize>) -> Result<Device, Failed> {
    let key = (std::process::id(), name.to_owned(), threads);
    let mut opened = OPENED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, device)) = opened.iter().find(|(known, _)| *known == key) {
        return Ok(device.clone());
    }
    let mut device: Device = name.parse()?;
    if threads.is_some() && device.info()?.id() == "cpu" {
        device = Device::cpu_with(CpuConfig { threads, ..CpuConfig::default() });
    }
    opened.push((key, device.clone()));
    Ok(device)
}

/// The devices of a list: names as above with commas between, cuda:all, or all.
pub(crate) fn named(names: &str, threads: Option<usize>) -> Result<Vec<Device>, Failed> {
    if !names.contains(',') && names != "all" && !names.ends_with(":all") {
        return Ok(vec![device(names, threads)?]);
    }
    // Those that other pipelines have opened are used again.
    Backends::default().devices(names)?.iter().map(|found| device(&found.info()?.id(), threads)).collect()
}

/// The devices that there are, and why one is not there: a list of dictionaries with the keys `device` (what
/// `Pipeline(device=...)` takes), `available`, `name`, `total_memory` (bytes), `compute_capability`, `driver`, `nvrtc` and
/// `reason`.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let (cpu, status) = py.detach(|| (Device::cpu().info(), cuda::probe()));
    let list = PyList::empty(py);
    let entry = PyDict::new(py);
    entry.set_item("device", "cpu")?;
    entry.set_item("available", cpu.is_ok())?;
    entry.set_item("name", cpu.as_ref().ok().map(|info| info.name.clone()))?;
    entry.set_item("total_memory", cpu.as_ref().ok().and_then(|info| info.total_memory))?;
    entry.set_item("reason", cpu.err().map(|error| error.to_string()))?;
    list.append(entry)?;
    for index in 0..status.devices.len().max(1) {
        let reason = status.usable(index).err().map(|missing| missing.to_string());
        let found = status.devices.get(index).and_then(|device| device.as_ref().ok());
        let entry = PyDict::new(py);
        let name = if status.devices.is_empty() { "cuda".to_owned() } else { format!("cuda:{index}") };
        entry.set_item("device", name)?;
        entry.set_item("available", reason.is_none())?;
        entry.set_item("name", found.map(|device| device.name.clone()))?;
        entry.set_item("total_memory", found.map(|device| device.total_memory))?;
        entry.set_item("compute_capability", found.map(|device| device.capability))?;
        entry.set_item("driver", status.driver.as_ref().ok().map(ToString::to_string))?;
        entry.set_item("nvrtc", status.nvrtc.as_ref().ok().map(ToString::to_string))?;
        entry.set_item("reason", reason)?;
        list.append(entry)?;
    }
    Ok(list)
}
