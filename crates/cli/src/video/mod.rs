//! What happens around the pipeline in `mip stream`, and in `mip run` with a video file: frames are read as they are on one thread, and results turned
//! into planes and written on another, while the pipeline has several under way.

mod numbered;
mod output;
mod pictures;
mod run;
mod source;
mod summary;
mod target;

pub(crate) use numbered::Numbered;
pub(crate) use output::{FrameWriter, Nowhere, Output, check_extension};
pub(crate) use pictures::{Pictures, from_pictures, next_picture, write_pictures};
pub(crate) use run::{Outcome, run};
pub(crate) use source::{DeviceReader, FrameReader, Said, Source};
pub(crate) use summary::summary;
pub(crate) use target::{Target, input_name};
