//! What happens around the pipeline in `mip stream`: frames are read as they are on one thread, and results turned
//! into planes and written on another, while the pipeline has several under way.

mod output;
mod run;
mod source;
mod stages;
mod summary;
mod target;

pub(crate) use output::{Output, check_extension};
pub(crate) use run::{Outcome, run};
pub(crate) use source::{Said, Source};
pub(crate) use stages::Stages;
pub(crate) use summary::summary;
pub(crate) use target::{Target, input_name};
