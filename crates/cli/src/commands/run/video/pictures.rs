use std::path::{Path, PathBuf};

use crossbeam_channel::unbounded;
use mini_image_pipe::Pipeline;
use mip_core::video::Matrix;
use mip_io::{WholeFile, expand_inputs};

use super::Args;
use super::goal::Goal;
use super::report::finish;
use crate::args::Rate;
use crate::failure::Failure;
use crate::ffmpeg::{Encoder, Encoding, Pick};
use crate::files::Files;
use crate::interrupt;
use crate::stages::Watch;
use crate::video::{self, Numbered, Output, Target};
use crate::work::{Feed, Input, Limits};

/// Pictures into a video file.
pub(super) fn of_pictures(
    args: &Args,
    spec: Option<&Path>,
    inputs: &[PathBuf],
    pipeline: &mut Pipeline,
    limits: &Limits,
    trace: Option<WholeFile>,
) -> Result<(), Failure> {
    let refuse = |text: &str| Err(Failure::Request(text.to_owned()));
    let container = match Goal::of(args)? {
        Goal::Video(container) => container,
        Goal::Raw(_) => return refuse("pictures become a video that is encoded; name it .mp4 or .mkv"),
        Goal::Pictures(..) => {
            return refuse("pictures become pictures without a video; leave the options for video files out");
        }
    };
    let Some(Rate(numerator, denominator)) = args.video.rate else {
        return refuse("how many frames a second? `--rate 25` says it");
    };
    if args.video.deinterlace {
        return refuse("--deinterlace is for a video that is read; pictures are whole");
    }
    if pipeline.task_graph().inputs().len() != 1 {
        return refuse("pictures for a video feed one input, but the pipeline has several");
    }
    let files = picked(inputs, args.video.pick())?;
    let out = args.out.clone().unwrap_or_default();
    let reads = files.iter().map(PathBuf::as_path).chain(spec);
    let file = Files::reading(reads).create(&out, "-o")?;
    let stop = interrupt::finish_first();
    let mut feed =
        Feed::start(&Input::whole(&files), limits.clone(), &Watch::recording(pipeline.probe()), &stop)?;
    let Some(first) = video::next_picture(&mut feed, &files, None, limits)? else {
        return Err(stop
            .signal()
            .map_or(Failure::ReaderGone, |signal| Failure::Reported(signal.exit_code())));
    };
    let made = Target::of_pictures(pipeline, first.desc())?;
    let (send, times) = unbounded();
    let every = u32::try_from(args.video.pick().every).unwrap_or(u32::MAX);
    let denominator = denominator.checked_mul(every).ok_or_else(|| {
        Failure::Request(format!("--rate {numerator}/{denominator} and --every {every} are out of range"))
    })?;
    let encoding = Encoding {
        path: out.clone(),
        container,
        crf: args.video.crf,
        options: args.video.options(),
        tags: Encoding::tags_of_pictures(made.matrix().unwrap_or(Matrix::Bt709)),
        time_base: (denominator, numerator),
        file_time_base: (denominator, numerator),
        aspect: None,
        original: None,
        last: 1,
    };
    let encoder = Encoder::start(encoding, &made.header, file, times)?;
    let output = Output::into(Box::new(encoder), Some(files.len() as u64));
    let in_flight = args.video.in_flight().into();
    let given = (&files[..], feed, first);
    let outcome = video::from_pictures(pipeline, given, &send, &made, output, in_flight, limits, &stop)?;
    finish(args, pipeline, &outcome, &out, &[], trace)
}

/// The pictures that inputs stand for, and of those the ones that are to be read.
fn picked(inputs: &[PathBuf], pick: Pick) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for input in inputs {
        match Numbered::parse(input).filter(|_| !input.exists()) {
            Some(numbered) => files.extend(numbered.files()?),
            None => files.extend(expand_inputs(&[input])?),
        }
    }
    let count = pick.count(Some(files.len() as u64)).unwrap_or(0);
    let number = |n| usize::try_from(pick.number(n)).ok();
    let picked: Vec<PathBuf> = (0..count).filter_map(|n| files.get(number(n)?).cloned()).collect();
    if picked.is_empty() {
        let text = format!("--frames picks none of the {} pictures", files.len());
        return Err(Failure::Request(text));
    }
    Ok(picked)
}
