//! `mip run` with a video file at one end or both.

mod decoded;
mod frames;
mod goal;
mod meaning;
mod on_gpu;
mod pictures;
mod report;

use std::path::{Path, PathBuf};

use mini_image_pipe::Pipeline;
use mip_core::text::quoted_path;
use mip_io::{WholeFile, has_video_extension, is_video_file};

pub(crate) use decoded::{Decoded, Way};

use super::{Args, create_folder};
use crate::failure::Failure;
use crate::work::Limits;

/// What a run does whose input or result is a video file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// Frames of this file, into another or into pictures.
    OfVideo(PathBuf),
    /// Pictures into a video.
    OfPictures,
}

impl Job {
    /// Whether the run is one of these.
    ///
    /// # Errors
    /// A video among other inputs; options for video files in a run that has none.
    pub(super) fn of(args: &Args, inputs: &[PathBuf]) -> Result<Option<Self>, Failure> {
        let refuse = |text: String| Err(Failure::Request(text));
        let writes = args.out.as_deref().is_some_and(|out| has_video_extension(out) && !out.is_dir());
        let job = match (inputs.iter().find(|path| is_video_file(path)), inputs) {
            (Some(video), [_]) => Self::OfVideo(video.clone()),
            (Some(video), _) => {
                return refuse(format!(
                    "{} is a video; a run takes one and nothing beside it",
                    quoted_path(video)
                ));
            }
            (None, [_, ..]) if writes => Self::OfPictures,
            (None, _) => match args.video.given() {
                Some(option) => {
                    return refuse(format!("{option} is for video files, and there is none; leave it out"));
                }
                None => return Ok(None),
            },
        };
        let unfit = [
            ("--input", !args.inputs.is_empty()),
            ("--batch", args.batch.is_some_and(|batch| batch > 1)),
            ("--keep-going", args.keep_going),
        ];
        match unfit.into_iter().find(|(_, given)| *given) {
            Some((option, _)) => refuse(format!("{option} is for images, not for video files; leave it out")),
            None => Ok(Some(job)),
        }
    }

    pub(super) fn run(
        self,
        args: &Args,
        spec: Option<&Path>,
        inputs: &[PathBuf],
        pipeline: &mut Pipeline,
        trace: Option<WholeFile>,
    ) -> Result<(), Failure> {
        let limits = Limits::new(
            args.reading.options(args.execution.limits.read_options()),
            pipeline.config().memory_budget.clone(),
        );
        match self {
            Self::OfVideo(path) => frames::of_video(args, spec, &path, pipeline, &limits, trace),
            Self::OfPictures => pictures::of_pictures(args, spec, inputs, pipeline, &limits, trace),
        }
    }
}
