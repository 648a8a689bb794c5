//! For tests of this crate and of device crates: hand-made plans, a tiny interpreter for the null device, and
//! the conformance suite that every device has to pass.

mod conformance;
mod interpret;
mod kernels;
mod plans;

pub use conformance::device_conformance;
pub use interpret::{interpret, interpreting_device};
pub use kernels::{FnKernel, KernelFn};
pub use plans::{PlanBuilder, Work, gray};
