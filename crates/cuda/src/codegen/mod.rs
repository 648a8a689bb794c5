//! From groups to CUDA C++: text only, no driver.
//!
//! The arithmetic lives in templates (`kernels/*.cu`); what is generated for a stage is its parameter struct
//! and one `__global__` function that names the templates it is made of. Code depends on dtypes,
//! channels, layout, radii, taps, borders and alignment; sizes, strides, tables and weights are
//! parameters, so that images of another size need no new program.

mod branches;
mod custom;
mod fields;
mod filter;
mod fused;
mod gather;
mod group;
mod map;
mod point;
mod rank;
mod resample;
mod stage;
mod stencil;
#[cfg(test)]
mod tests;
mod text;
mod warp;
mod whole;

pub(crate) use branches::{Branch, Program, branch_offset, programs, put_branches};
pub(crate) use fields::{put_floats, put_image, put_pointer, put_uint};
pub(crate) use fused::fused_tiles;
#[cfg(test)]
pub(crate) use group::{BranchCode, group_code};
pub(crate) use group::{Destination, fuses, intermediates, workspace};
pub(crate) use stage::{Grid, Input, StageCode, Variant, corner_offset};
pub(crate) use text::without_comments;

/// Most bytes of a kernel's parameters on any device.
pub(crate) const PARAMETER_BYTES: usize = 4096;
/// The same from CUDA 12.1 on, on every device that is supported.
pub(crate) const MORE_PARAMETER_BYTES: usize = 32_764;

/// What the generator must know of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    /// Number of multiprocessors: how many blocks it takes to fill the device.
    pub multiprocessors: u32,
    /// Most bytes of a kernel's parameter.
    pub parameter_bytes: usize,
    /// Branches that run side by side: as many times more frames than the batch has.
    pub branches: usize,
}

impl Target {
    /// The same for a group of these branches.
    pub(crate) const fn of_branches(self, branches: &[Vec<usize>]) -> Self {
        Self { branches: branches.len(), ..self }
    }
}

impl Default for Target {
    fn default() -> Self {
        Self { multiprocessors: 132, parameter_bytes: MORE_PARAMETER_BYTES, branches: 1 }
    }
}
