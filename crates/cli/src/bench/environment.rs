//! Where and by what something was measured.

use std::fs;

use mini_image_pipe::Device;
use mip_runtime::device::DeviceKind;

use super::document::Environment;
use crate::failure::Failure;

/// What is known of a device, this machine and this program.
pub(crate) fn environment(device: &Device) -> Result<Environment, Failure> {
    let info = device.info()?;
    let (driver, nvrtc) = match info.kind {
        DeviceKind::CUDA => {
            let status = mip_cuda::probe();
            let cuda = status.driver.ok().map(|version| format!("CUDA {version}"));
            let driver = kernel_module().map(|version| format!("{version}, ")).unwrap_or_default();
            let nvrtc = status.nvrtc.ok().map(|version| version.to_string());
            (cuda.map(|cuda| driver + &cuda), nvrtc)
        }
        _ => (None, None),
    };
    Ok(Environment {
        device: info.id(),
        device_name: info.name,
        driver,
        nvrtc,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("MIP_COMMIT").unwrap_or("unknown").to_owned(),
        host: host()?,
        date: chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
    })
}

/// The processor (as the CPU device names it) and the operating system.
fn host() -> Result<String, Failure> {
    let cpu = Device::cpu().info()?.name;
    Ok(format!("{cpu}, {} {}", std::env::consts::OS, std::env::consts::ARCH))
}

/// Version of the driver's kernel module, where the system shows it.
fn kernel_module() -> Option<String> {
    let text = fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    version_in(&text)
}

/// The first word that is a version of three or two numbers.
fn version_in(text: &str) -> Option<String> {
    let is_version = |word: &&str| {
        word.split('.').count() >= 2
            && word.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    text.lines().next()?.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_version_is_found_in_the_line_of_the_kernel_module() {
        let line = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (x@y)\nGCC 13.3.0";
        assert_eq!(version_in(line).as_deref(), Some("580.159.04"));
        assert_eq!(version_in("NVRM version: unknown"), None);
    }
}
