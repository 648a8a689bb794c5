//! mip-cpu.
