use std::path::Path;

use crossbeam_channel::Receiver;
use mini_image_pipe::Pipeline;
use mip_core::text::quoted_path;
use mip_core::video::ChromaSampling;
use mip_io::nut::NutVideo;
use mip_io::y4m::Y4mHeader;
use mip_io::{FileFormat, WholeFile};

use super::decoded::{Decoded, Way};
use super::goal::{Goal, RawVideo};
use super::meaning::assumed;
use super::report::{finish, report, tell};
use super::{Args, create_folder};
use crate::args::DecodeArg;
use crate::commands::FormatArg;
use crate::console;
use crate::failure::Failure;
use crate::ffmpeg::{Container, Decoding, Encoder, Encoding, Original, Pick, Pixels, Probe, Tags};
use crate::files::Files;
use crate::interrupt;
use crate::video::{self, Numbered, Output, Pictures, Source, Target};
use crate::work::Limits;

/// A video file whose frames are on their way into the pipeline.
struct Reading<'a> {
    args: &'a Args,
    /// Files that must not be replaced.
    reads: Vec<&'a Path>,
    path: &'a Path,
    probe: Probe,
    pixels: Pixels,
    pick: Pick,
    nut: NutVideo,
    source: Source,
    /// When each frame is shown.
    times: Receiver<i64>,
    /// Whether the pipeline works on colours, or on planes as they are.
    sees_color: bool,
    /// What the user should know.
    notes: Vec<String>,
    /// Frames that there will be, where that is known.
    total: Option<u64>,
}

/// Frames of a video file into another one, or into pictures.
pub(super) fn of_video(
    args: &Args,
    spec: Option<&Path>,
    path: &Path,
    pipeline: &mut Pipeline,
    limits: &Limits,
    trace: Option<WholeFile>,
) -> Result<(), Failure> {
    let goal = Goal::of(args)?;
    if args.video.rate.is_some() {
        return Err(Failure::Request("--rate is for pictures; a video has its own rate".into()));
    }
    // Ends the ffmpeg that decodes, however this ends.
    let (reading, _decoding) = Reading::open(args, spec, path, pipeline, limits)?;
    match goal {
        Goal::Pictures(names, format) => reading.into_pictures(pipeline, (names, format), limits, trace),
        Goal::Video(container) => reading.into_video(pipeline, container, trace),
        Goal::Raw(kind) => reading.into_raw_video(pipeline, kind, trace),
    }
}

impl<'a> Reading<'a> {
    /// Starts to decode, and gives the pipeline its input.
    fn open(
        args: &'a Args,
        spec: Option<&'a Path>,
        path: &'a Path,
        pipeline: &mut Pipeline,
        limits: &Limits,
    ) -> Result<(Self, Decoding), Failure> {
        let input = video::input_name(pipeline)?;
        let (pick, strict) = (args.video.pick(), args.reading.is_strict());
        let on_gpu = args.decode == DecodeArg::Gpu;
        let way = Way { pick, deinterlace: args.video.deinterlace, strict, on_gpu };
        let decoded = Decoded::start(path, way, pipeline, limits)?;
        let Decoded { source, probe, pixels, nut, times, decoding } = decoded;
        let name = quoted_path(path);
        let notes = pixels.warning.iter().map(|text| format!("{name}: {text}")).collect();
        // Colours are what a pipeline sees that reads the input itself, not its planes.
        let sees_color = pipeline.task_graph().inputs().contains(&input);
        pipeline.read_video(&input, source.format, source.color())?;
        let total = pick.count(probe.video.frames);
        let reads = spec.into_iter().chain([path]).collect();
        let reading =
            Self { args, reads, path, probe, pixels, pick, nut, source, times, sees_color, notes, total };
        Ok((reading, decoding))
    }

    /// Notes that the matrix was assumed, where it was and that matters.
    fn note_matrix(&mut self, converts: bool) {
        if self.sees_color && self.source.format.sampling != ChromaSampling::C400 || converts {
            self.notes.extend(
                self.source.matrix.and_then(|matrix| assumed(&self.probe, matrix, &quoted_path(self.path))),
            );
        }
    }

    fn into_pictures(
        mut self,
        pipeline: &mut Pipeline,
        (names, format): (Numbered, FileFormat),
        limits: &Limits,
        trace: Option<WholeFile>,
    ) -> Result<(), Failure> {
        self.note_matrix(false);
        let Self { args, reads, pick, source, notes, total, .. } = self;
        let options = args.writing.options(format)?;
        check_pictures(pipeline, &source, format)?;
        check_names(&mut Files::reading(reads), pipeline, &names, pick.number(0), self.path)?;
        create_folder(names.folder())?;
        tell(&notes);
        let stop = interrupt::finish_first();
        let pictures = Pictures { names, format, options, pick, total };
        let in_flight = args.video.in_flight().into();
        let (outcome, files) = video::write_pictures(pipeline, source, &pictures, in_flight, limits, &stop)?;
        report(args, pipeline, &outcome, &files, &notes, trace)?;
        outcome.interrupted.map_or(Ok(()), |signal| {
            let name = signal.name();
            console::note(format_args!("interrupted by {name}: the pictures up to there are whole"));
            Err(Failure::Reported(signal.exit_code()))
        })
    }

    fn into_video(
        mut self,
        pipeline: &mut Pipeline,
        container: Container,
        trace: Option<WholeFile>,
    ) -> Result<(), Failure> {
        let target = self.target(pipeline)?;
        self.note_matrix(target.converts());
        let out = self.args.out.clone().unwrap_or_default();
        let file = Files::reading(&self.reads).create(&out, "-o")?;
        let encoding = self.encoding(&out, container, &target);
        let lost = encoding.lost();
        if !lost.is_empty() {
            self.notes.push(format!("not carried over to {}: {}", quoted_path(&out), lost.join(", ")));
        }
        let Self { args, source, times, notes, total, .. } = self;
        tell(&notes);
        let stop = interrupt::finish_first();
        let encoder = Encoder::start(encoding, &target.header, file, times)?;
        let output = Output::into(Box::new(encoder), total);
        let in_flight = args.video.in_flight().into();
        let outcome = video::run(pipeline, source, &target, output, in_flight, &stop)?;
        finish(args, pipeline, &outcome, &out, &notes, trace)
    }

    /// Written by ourselves, without an ffmpeg that encodes.
    fn into_raw_video(
        mut self,
        pipeline: &mut Pipeline,
        kind: RawVideo,
        trace: Option<WholeFile>,
    ) -> Result<(), Failure> {
        let mut target = Target::new(pipeline, &self.source, self.sees_color, None, kind == RawVideo::Yuv)?;
        target.header.rate = self.probe.video.rate.map(|rate| self.pick.rate(rate));
        self.note_matrix(target.converts());
        let out = self.args.out.clone().unwrap_or_default();
        let file = Files::reading(&self.reads).create(&out, "-o")?;
        let mut lost = self.probe.beside_video();
        if kind == RawVideo::Yuv {
            let Y4mHeader { width, height, .. } = target.header;
            let samples = target.samples(&self.source);
            lost.push(format!("what its samples are ({width}x{height} of {samples})"));
        }
        if !lost.is_empty() {
            self.notes.push(format!("not carried over to {}: {}", quoted_path(&out), lost.join(", ")));
        }
        let Self { args, source, notes, total, .. } = self;
        tell(&notes);
        let stop = interrupt::finish_first();
        let output = Output::begin(file, &out, &target)?.of(total);
        let in_flight = args.video.in_flight().into();
        let outcome = video::run(pipeline, source, &target, output, in_flight, &stop)?;
        finish(args, pipeline, &outcome, &out, &notes, trace)
    }

    /// The kind of frames written.
    fn target(&self, pipeline: &mut Pipeline) -> Result<Target, Failure> {
        // Gray results: few programs play video without chroma.
        let is_gray = self.sees_color && Target::is_gray(pipeline, &self.source)?;
        let format = is_gray.then_some(FormatArg::C420);
        Target::new(pipeline, &self.source, self.sees_color, format, false)
    }

    fn encoding(&self, out: &Path, container: Container, target: &Target) -> Encoding {
        let Self { args, path, probe, pixels, pick, nut, source, .. } = self;
        let tags = probe.video.tags.clone();
        let tags: Tags = match (target.matrix(), source.color()) {
            (Some(matrix), _) => tags.made(matrix, target.header.effective_range()),
            (None, Some(color)) if pixels.from_rgb => tags.made(color.matrix, color.range),
            (None, _) => tags,
        };
        Encoding {
            path: out.to_owned(),
            container,
            crf: args.video.crf,
            options: args.video.options(),
            tags,
            time_base: nut.time_base,
            file_time_base: probe.video.time_base,
            aspect: nut.aspect,
            original: Some(Original { path: (*path).to_owned(), probe: probe.clone(), part: pick.is_part() }),
            last: probe.video.frame_units(nut.time_base).saturating_mul(pick.every as i64),
        }
    }
}

/// Finds out before a pixel is computed that results cannot be written as pictures.
fn check_pictures(pipeline: &Pipeline, source: &Source, format: FileFormat) -> Result<(), Failure> {
    let graph = pipeline.task_graph();
    let planes = source.planes()?;
    let descs: Vec<_> = pipeline.video_inputs().map(|(plane, _)| planes[plane]).collect();
    let shapes = graph.infer(&descs)?;
    for task in graph.outputs() {
        let refused = |error| {
            Failure::from(error)
                .about(format_args!("the result of task '{}'", graph.name(task).unwrap_or_default()))
        };
        mip_io::check_encodable(&shapes[task.index()], format).map_err(refused)?;
    }
    Ok(())
}

/// Refuses names under which the video that is read, or the pipeline, would be replaced.
fn check_names(
    files: &mut Files,
    pipeline: &Pipeline,
    names: &Numbered,
    first: u64,
    video: &Path,
) -> Result<(), Failure> {
    let graph = pipeline.task_graph();
    let outputs = graph.outputs();
    for task in &outputs {
        let task = graph.name(*task)?;
        let path = names.path(first, (outputs.len() > 1).then_some(task));
        if files.claim(&path, video).is_err() {
            return Err(Failure::Request(format!(
                "the picture {} would replace what is read; choose other names with -o",
                quoted_path(&path)
            )));
        }
    }
    Ok(())
}
