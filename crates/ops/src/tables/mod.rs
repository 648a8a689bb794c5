//! Weights, computed once in f64 from integers and rounded to binary32 once.

mod gaussian;
mod resampling;

pub(crate) use gaussian::{gaussian_weights, mean_weights};
pub(crate) use resampling::{Kernel, area, triangle, windowed};
