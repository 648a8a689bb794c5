//! The CPU device against plain transcriptions of the kernel definitions.

#![allow(
    clippy::suboptimal_flops,
    clippy::imprecise_flops,
    reason = "the order and rounding of every operation is what these tests are about"
)]

mod device;
mod expressions;
mod groups;
mod images;
mod kernels;
mod plans;
mod reference;
mod refusals;
mod whole;
