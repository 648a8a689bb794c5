//! What `mip profile` measures, and how it prints.

mod files;
mod measure;
mod report;
mod table;
mod video;

pub(crate) use files::{FileRow, Files};
pub(crate) use measure::{Measured, Mode, measure};
pub(crate) use report::Report;
pub(crate) use table::render;
pub(crate) use video::{VideoRequest, measure_video, render_video};
