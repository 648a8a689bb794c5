//! What `mip profile` measures, and how it prints.

mod measure;
mod report;
mod table;

pub(crate) use measure::{Measured, Mode, measure};
pub(crate) use report::Report;
pub(crate) use table::render;
