//! Arguments that several commands share.

mod arrays;
mod assign;
mod execution;
mod limits;
mod pipeline;
mod reading;
mod refusal;
mod size;
mod video;
mod video_file;
mod writing;

pub(crate) use arrays::ArrayArgs;
pub(crate) use assign::{NamedInput, SetParameter};
pub(crate) use execution::{DeviceArg, PlanArgs, RunArgs};
pub(crate) use limits::{LimitArgs, SizeLimit};
pub(crate) use pipeline::{PipelineArgs, load};
pub(crate) use reading::{DecodeArg, PageArgs, ReadArgs, note_warnings, warning_line};
pub(crate) use refusal::refused;
pub(crate) use size::{SizeArg, SizeArgs, VideoArg, base};
pub(crate) use video::VideoArgs;
pub(crate) use video_file::{Rate, VideoFileArgs};
pub(crate) use writing::WriteArgs;
