//! What is there of CUDA, and what to install for what is not.

use std::fmt;

use serde::Serialize;

use crate::driver::{self, Attributes, library};

/// Oldest driver interface used: CUDA 12.0.
const OLDEST_DRIVER: u32 = 12_000;
/// Oldest architecture that kernels are generated for.
const OLDEST_CAPABILITY: (u32, u32) = (7, 5);

/// Something that is missing, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem, self.remedy)
    }
}

impl Missing {
    fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into() }
    }
}

/// A CUDA version: 13.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CudaVersion {
    /// 13.
    pub major: u32,
    /// 0.
    pub minor: u32,
}

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A GPU that the driver shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CudaDeviceProbe {
    /// Index for `cuda:N`.
    pub index: usize,
    /// Name by the driver.
    pub name: String,
    /// Compute capability, as (9, 0).
    pub capability: (u32, u32),
    /// Memory in bytes.
    pub total_memory: u64,
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// Whether stream-ordered allocation is supported.
    pub stream_ordered: bool,
    /// The node of the host's memory that is nearest, from which pinned memory is taken; `None` where the driver knows none.
    pub numa_node: Option<u32>,
}

/// Everything that running on an NVIDIA GPU needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CudaStatus {
    /// The driver: the newest CUDA version it supports.
    pub driver: Result<CudaVersion, Missing>,
    /// The run-time compiler.
    pub nvrtc: Result<CudaVersion, Missing>,
    /// The devices, in the driver's order. Empty without a driver.
    pub devices: Vec<Result<CudaDeviceProbe, Missing>>,
}

/// Whether there is a driver of CUDA at all, without starting it: that takes a while, and [`probe`] does it.
pub fn driver_is_installed() -> bool {
    library::driver_is_present()
}

/// Looks for driver, compiler and devices. Never fails and never panics: what is missing is part of the answer.
pub fn probe() -> CudaStatus {
    let driver = probe_driver();
    // Without a driver nothing can run what a compiler makes, and nothing more is loaded.
    let nvrtc = match &driver {
        Ok(driver) => probe_nvrtc(*driver),
        Err(_) => Err(Missing::new("NVRTC was not looked for", "it is of use with a driver only")),
    };
    let devices = if driver.is_ok() { probe_devices() } else { Vec::new() };
    CudaStatus { driver, nvrtc, devices }
}

impl CudaStatus {
    /// Whether a device can be opened.
    ///
    /// # Errors
    /// The first thing that is missing.
    pub fn usable(&self, index: usize) -> Result<&CudaDeviceProbe, Missing> {
        self.driver.as_ref().map_err(Clone::clone)?;
        let found = self.devices.len();
        let device = self.devices.get(index).ok_or_else(|| no_such_device(index, found))?;
        let device = device.as_ref().map_err(Clone::clone)?;
        self.nvrtc.as_ref().map_err(Clone::clone)?;
        Ok(device)
    }
}

fn no_such_device(index: usize, found: usize) -> Missing {
    match found {
        0 => Missing::new(
            "the NVIDIA driver shows no device",
            "check that a GPU is installed and visible (`nvidia-smi`; CUDA_VISIBLE_DEVICES may hide it)",
        ),
        _ => Missing::new(
            format!("there is no device cuda:{index}"),
            format!("the driver shows {found}: cuda:0 to cuda:{}", found - 1),
        ),
    }
}

fn probe_driver() -> Result<CudaVersion, Missing> {
    if !library::driver_is_present() {
        return Err(Missing::new(
            "the NVIDIA driver (libcuda) is not installed",
            "install the NVIDIA driver for your GPU; in a container, start it with the NVIDIA container toolkit",
        ));
    }
    let install = "install a driver for CUDA 12.0 or newer (525 or newer)";
    let lacks = |functions| {
        let missing =
            |name| Missing::new(format!("the NVIDIA driver (libcuda) has no function {name}"), install);
        library::driver_lacks(functions).map(missing).map_or(Ok(()), Err)
    };
    let broken = |error: driver::DriverError| {
        let remedy = "check the driver with `nvidia-smi`; a restart is needed after an update of the driver";
        Missing::new(format!("the NVIDIA driver does not start: {error}"), remedy)
    };
    // Asked before anything else: older drivers lack functions.
    lacks(library::FIRST_FUNCTIONS)?;
    let version = driver::driver_version().map_err(broken)?;
    if version < OLDEST_DRIVER {
        return Err(Missing::new(format!("the NVIDIA driver supports CUDA {}", split(version)), install));
    }
    lacks(library::FUNCTIONS)?;
    match driver::initialise() {
        // Without a device the driver is well all the same: `devices` stays empty.
        Err(error) if error.name != "CUDA_ERROR_NO_DEVICE" => Err(broken(error)),
        _ => Ok(split(version)),
    }
}

fn split(version: u32) -> CudaVersion {
    CudaVersion { major: version / 1000, minor: version % 1000 / 10 }
}

fn probe_nvrtc(driver: CudaVersion) -> Result<CudaVersion, Missing> {
    let install = |major| {
        format!(
            "install it with `pip install 'nvidia-cuda-nvrtc=={major}.*'` or the CUDA toolkit, and name its \
             folder in {}",
            library::NVRTC_VARIABLE
        )
    };
    let found = library::nvrtc().and_then(|()| driver::nvrtc_version());
    let (major, minor) = found.map_err(|problem| Missing::new(problem, install(driver.major)))?;
    let version = CudaVersion { major, minor };
    // Code of a newer major version is refused by the driver when it is loaded.
    if major > driver.major {
        return Err(Missing::new(
            format!(
                "NVRTC {version} makes code for newer drivers than the one installed, which is for CUDA {driver}"
            ),
            format!("update the driver, or {}", install(driver.major)),
        ));
    }
    Ok(version)
}

fn probe_devices() -> Vec<Result<CudaDeviceProbe, Missing>> {
    let count = driver::device_count().unwrap_or(0);
    (0..count).map(probe_device).collect()
}

fn probe_device(index: usize) -> Result<CudaDeviceProbe, Missing> {
    let attributes = Attributes::of(index).map_err(|error| {
        Missing::new(format!("cuda:{index} does not answer: {error}"), "check it with `nvidia-smi`")
    })?;
    let Attributes { name, total_memory, capability, multiprocessors, memory_pools, numa_node } = attributes;
    if capability < OLDEST_CAPABILITY {
        return Err(Missing::new(
            format!("cuda:{index} ({name}) has compute capability {}.{}", capability.0, capability.1),
            format!("{}.{} (Turing) or newer is needed", OLDEST_CAPABILITY.0, OLDEST_CAPABILITY.1),
        ));
    }
    Ok(CudaDeviceProbe {
        index,
        name,
        capability,
        total_memory,
        multiprocessors,
        stream_ordered: memory_pools,
        numa_node,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probing_never_panics_and_gives_reasons() {
        let status = probe();
        if let Err(missing) = status.usable(0) {
            assert!(!missing.problem.is_empty() && !missing.remedy.is_empty(), "{missing}");
        }
        assert!(status.driver.is_ok() || status.devices.is_empty());
    }

    #[test]
    fn the_first_missing_piece_is_named() {
        let version = CudaVersion { major: 13, minor: 0 };
        let missing = |text: &str| Missing::new(text, "do something");
        let no_driver =
            CudaStatus { driver: Err(missing("no driver")), nvrtc: Ok(version), devices: Vec::new() };
        assert_eq!(no_driver.usable(0).unwrap_err().problem, "no driver");
        let device = CudaDeviceProbe {
            index: 0,
            name: "GPU".to_owned(),
            capability: (9, 0),
            total_memory: 1,
            multiprocessors: 1,
            stream_ordered: true,
            numa_node: Some(0),
        };
        let status =
            CudaStatus { driver: Ok(version), nvrtc: Err(missing("no nvrtc")), devices: vec![Ok(device)] };
        assert_eq!(status.usable(0).unwrap_err().problem, "no nvrtc");
        assert_eq!(
            status.usable(3).unwrap_err().to_string(),
            "there is no device cuda:3; the driver shows 1: cuda:0 to cuda:0"
        );
        let none = CudaStatus { devices: Vec::new(), ..status };
        assert!(none.usable(0).unwrap_err().remedy.contains("nvidia-smi"));
    }
}
