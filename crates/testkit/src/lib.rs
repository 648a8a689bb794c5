//! Independent truth for tests.
//!
//! * [`reference`](mod@reference) computes every operator from its definition in f64: slow, obvious, and sharing
//!   no line with the code that it judges.
//! * [`compare`] decides whether a result keeps the numeric contract.
//! * [`golden`] loads what other libraries make of the same inputs.
//! * [`images`] draws deterministic test images; `strategies` makes random ones for proptest (feature
//!   `strategies`).
//!
//! Nothing here is fast, and nothing but tests and `mip validate` may depend on it.

#![forbid(unsafe_code)]

pub mod compare;
pub mod golden;
pub mod h264;
pub mod images;
mod real;
pub mod reference;
#[cfg(any(test, feature = "strategies"))]
pub mod strategies;

pub use compare::{assert_contract, check_contract, check_sums, same_pixels};
pub use golden::{Expected, GoldenCase, Param, Params, goldens};
pub use real::Real;
