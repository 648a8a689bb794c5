//! The CPU device.
//!
//! A group becomes a chain of *row stages*, each of which computes one row from a few input rows. Results are
//! pulled row by row, a band of rows at a time, through caches that hold just the rows the next stage still
//! needs, so that a group of many kernels never writes a whole intermediate image. Bands are spread over
//! threads. Kernels are vectorised; every instruction set and every number of threads gives the same bytes.

#![forbid(unsafe_code)]

mod backend;
mod config;
mod device;
mod group;
mod rows;
mod simd;
mod threads;

pub use backend::CpuBackend;
pub use config::{CpuConfig, SimdLevel};
pub use device::CpuDevice;
pub use group::{GroupRunner, execute_group, tiling};

/// README's program, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
