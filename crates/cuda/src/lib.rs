//! The NVIDIA device.
//!
//! A group of a plan becomes CUDA C++ ([`kernel_sources`]), is compiled for the device at hand by NVRTC,
//! kept on disk, and launched on the driver's streams. Driver and compiler are looked for when a program
//! runs: what is built here builds and starts without CUDA, and [`probe`] says what is missing.
//!
//! ```text
//! device/    the runtime's traits: streams, events, memory, executables, staging
//!   codegen/ groups to text; kernels/*.cu hold the arithmetic
//!   compile/ NVRTC behind a cache on disk
//!   driver/  safe wrappers of driver, NVRTC and nvJPEG: the only `unsafe` code
//! ```

#![deny(unsafe_code)]

mod backend;
pub mod check;
mod codegen;
mod compile;
mod device;
#[allow(unsafe_code, reason = "the driver's interface is C; every call states why it is sound")]
mod driver;
#[cfg(test)]
#[allow(unsafe_code, reason = "loads kernels that were compiled for the host")]
mod emulated;
mod environment;
mod measure;
mod probe;
pub mod tiles;

pub use backend::CudaBackend;
pub use check::kernel_sources;
pub use device::{CudaDevice, CudaOptions, jpeg, video};
pub use driver::{BorrowedMemory, BorrowedStream};
pub use probe::{CudaDeviceProbe, CudaStatus, CudaVersion, Missing, driver_is_installed, probe};

/// README's program, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
