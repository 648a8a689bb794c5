//! From CUDA C++ to machine code: NVRTC behind a cache on disk.

mod cache;
mod compiler;

pub(crate) use cache::KernelCache;
pub(crate) use compiler::{Compiler, options};
