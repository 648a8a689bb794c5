//! What the numeric tests share: devices.

#![allow(dead_code, reason = "each test file uses a part of it")]

use mini_image_pipe::Device;
use mip_cpu::{CpuConfig, SimdLevel};

/// A CPU device with this many threads.
pub(crate) fn cpu(threads: usize, simd: SimdLevel) -> Device {
    Device::cpu_with(CpuConfig { threads: Some(threads), simd, ..CpuConfig::default() })
}

/// A CPU device with this many threads for which branches of the same program share groups.
pub(crate) fn horizontally_fusing_cpu(threads: usize) -> Device {
    Device::cpu_with(CpuConfig { threads: Some(threads), horizontal_fusion: true, ..CpuConfig::default() })
}
