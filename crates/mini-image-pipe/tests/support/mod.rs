//! What the numeric tests share: devices.

#![allow(dead_code, reason = "each test file uses a part of it")]

use mini_image_pipe::Device;
use mip_cpu::{CpuConfig, SimdLevel};

/// A CPU device with this many threads.
pub(crate) fn cpu(threads: usize, simd: SimdLevel) -> Device {
    Device::cpu_with(CpuConfig { threads: Some(threads), simd, ..CpuConfig::default() })
}

/// A CPU device with this many threads for which alike branches share groups.
pub(crate) fn joining_cpu(threads: usize) -> Device {
    Device::cpu_with(CpuConfig { threads: Some(threads), join_branches: true, ..CpuConfig::default() })
}
