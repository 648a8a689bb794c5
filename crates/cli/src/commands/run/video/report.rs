use std::path::{Path, PathBuf};

use mini_image_pipe::Pipeline;
use mip_core::text::{one_line, path as path_text};
use mip_io::WholeFile;

use super::Args;
use crate::commands::profile::write_trace;
use crate::devices::{self, Names};
use crate::failure::Failure;
use crate::video::{self, Outcome};
use crate::{console, work};

pub(super) fn tell(notes: &[String]) {
    for text in notes {
        console::note(format_args!("note: {text}"));
    }
}

/// Says what became of a video that was written.
pub(super) fn finish(
    args: &Args,
    pipeline: &Pipeline,
    outcome: &Outcome,
    out: &Path,
    notes: &[String],
    trace: Option<WholeFile>,
) -> Result<(), Failure> {
    let written = if outcome.frames == 0 {
        None
    } else {
        Some(outcome.beside.clone().unwrap_or_else(|| out.to_owned()))
    };
    report(args, pipeline, outcome, written.as_slice(), notes, trace)?;
    let interrupted = |signal| Err(crate::commands::interrupted(out, outcome, signal));
    outcome.interrupted.map_or(Ok(()), interrupted)
}

/// Names of files, or JSON, on stdout, a line on stderr, and the timeline.
pub(super) fn report(
    args: &Args,
    pipeline: &Pipeline,
    outcome: &Outcome,
    files: &[PathBuf],
    notes: &[String],
    trace: Option<WholeFile>,
) -> Result<(), Failure> {
    if let (Some(file), Some(profile)) = (trace, &outcome.profile) {
        write_trace(file, profile)?;
    }
    let names: Vec<String> = files.iter().map(|path| path_text(path).into_owned()).collect();
    if args.json {
        let mut summary = video::summary(pipeline, outcome, args.video.in_flight())?;
        summary["outputs"] = names.into();
        summary["warnings"] = notes.into();
        console::json(&summary)?;
    } else {
        names.iter().try_for_each(|name| console::line(one_line(name)))?;
    }
    let seconds = outcome.elapsed.as_secs_f64();
    let rate = outcome.frames as f64 / seconds.max(1e-9);
    let device = Names::of(pipeline)?.names;
    let no_gpu = args.execution.no_gpu(pipeline);
    let frames = work::count(outcome.frames as usize, "frame");
    let files = work::count(files.len(), "file");
    console::note(format_args!(
        "{frames} -> {files} in {seconds:.2} s ({rate:.1} frames/s) on {device}{no_gpu}"
    ));
    devices::tell(pipeline);
    Ok(())
}
