//! Weights, computed once in f64 from integers and rounded to binary32 once.

mod color_maps;
mod gaussian;
mod resampling;
mod smoothing;

pub use color_maps::ColorMap;
pub(crate) use color_maps::MAPS;
pub(crate) use gaussian::{gaussian, gaussian_weights, mean_weights, sigma_of};
pub(crate) use resampling::{Kernel, area, triangle, windowed};
pub(crate) use smoothing::{LONGEST, SHORT, smoothed, weighable};
