//! Weights, computed once in f64 from integers and rounded to binary32 once.

mod color_maps;
mod gaussian;
mod resampling;

pub use color_maps::ColorMap;
pub(crate) use color_maps::MAPS;
pub(crate) use gaussian::{gaussian_weights, mean_weights};
pub(crate) use resampling::{Kernel, area, triangle, windowed};
