//! From groups to CUDA C++: text only, no driver.
//!
//! The arithmetic lives in templates (`kernels/*.cu`); what is generated for a stage is its parameter struct
//! and one `__global__` function that names the templates it is made of. Code depends on sample types,
//! channels, memory order, radii, taps, borders and alignment; sizes, strides, tables and weights are
//! parameters, so that images of another size need no new program.

mod custom;
mod fields;
mod filter;
mod fused;
mod gather;
mod group;
mod map;
mod resample;
mod stage;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use fields::{put_floats, put_image, put_pointer, put_uint};
pub(crate) use fused::{fused_tiles, fuses};
pub(crate) use group::{Destination, GroupCode, group_code, intermediates, workspace};
pub(crate) use stage::{Grid, StageCode, Variant};
pub(crate) use text::without_comments;

/// What the generator must know of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    /// Number of multiprocessors: how many blocks it takes to fill the device.
    pub multiprocessors: u32,
}

impl Default for Target {
    fn default() -> Self {
        Self { multiprocessors: 132 }
    }
}
