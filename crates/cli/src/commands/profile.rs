use std::io::BufWriter;
use std::path::{Path, PathBuf};

use mini_image_pipe::Pipeline;
use mini_image_pipe::profiling::Profile;
use mip_core::ImageBuffer;
use mip_core::text::quoted_path;
use mip_io::{Reader, WholeFile};

use crate::args::{NamedInput, ReadArgs, RunArgs, SetParameter, VideoArgs, load, note_warnings};
use crate::console;
use crate::failure::Failure;
use crate::files::Files;
use crate::profile::{self, Mode, Report, VideoRequest, measure, render};
use crate::work::{FormatArg, Limits};

/// Shows where the time goes: a timeline of host and streams, and what each task and copy cost
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mip profile [OPTIONS] PIPELINE INPUT\n       mip profile [OPTIONS] -e ONE-LINE INPUT"
)]
#[command(after_help = "Examples:
  mip profile edges.toml photo.jpg
  mip profile edges.toml photo.jpg --trace edges.json --device cuda --graph
  mip profile -e 'resize width=640 ! sobel' photo.jpg --batch 8 --repeat 50 --json
  mip profile edges.toml photo.jpg --stream 3 --trace stream.json
  mip profile edges.toml in.mp4
  mip profile edges.toml frames.nv12 --raw nv12:1920x1080 --matrix 709 --range limited

Open the trace with https://ui.perfetto.dev or chrome://tracing. Times of streams are the device's own, taken
before and after each command. With --stream, the same frame from pinned memory goes through again and again,
and the time of a frame is compared with that of the slowest of upload, compute and download alone.
Of a video (Y4M, raw, or whatever ffmpeg decodes) the first frames go through, and the report says what
reading, upload, compute, download and writing could each do alone; results go nowhere.")]
pub(crate) struct Args {
    /// Pipeline file (unless -e is given), then one image, or a video
    #[arg(value_name = "PIPELINE INPUT")]
    arguments: Vec<PathBuf>,
    /// Pipeline in the one-line form, instead of a file
    #[arg(short = 'e', long = "expression", value_name = "ONE-LINE")]
    expression: Option<String>,
    /// File for the timeline (JSON of Chrome's trace format)
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Runs that are profiled [default: 20; with --stream, and of a video, 200 frames]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repeat: Option<u32>,
    /// Runs before that; with 0 the trace shows planning, loading and the first run as well
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(..=100_000))]
    warm_up: u32,
    /// Frames that one execution handles
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    batch: u16,
    /// Profile a stream of frames with so many under way at once [default of a video: 3]
    #[arg(long, value_name = "K", conflicts_with = "batch", value_parser = clap::value_parser!(u16).range(1..=64))]
    stream: Option<u16>,
    /// Image for a named pipeline input; repeat for several
    #[arg(long = "input", value_name = "NAME=FILE")]
    inputs: Vec<NamedInput>,
    /// Value for a parameter, over the pipeline file's; repeat for several
    #[arg(long = "set", value_name = "TASK.PARAMETER=VALUE")]
    set: Vec<SetParameter>,
    #[command(flatten)]
    execution: RunArgs,
    #[command(flatten)]
    reading: ReadArgs,
    #[command(flatten)]
    video: VideoArgs,
    /// Format that results are encoded in, to time that: png, jpg, ... [default: png; npy for what that does not hold]
    #[arg(long, value_name = "EXT")]
    format: Option<FormatArg>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Pinned memory kept for frames: enough for a few dozen of 4K.
const PINNED: usize = 1 << 30;

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (file, images) = match (&args.expression, args.arguments.split_first()) {
        (None, Some((file, images))) => (Some(file.as_path()), images),
        _ => (None, &args.arguments[..]),
    };
    let spec = load(file, args.expression.as_deref())?;
    args.execution.one_device("mip profile")?;
    let mut config = args.execution.config(usize::from(args.batch))?;
    (config.enable_profiling, config.pinned_pool_size) = (true, PINNED);
    let mut pipeline = Pipeline::from_spec(&spec, config)?;
    for set in &args.set {
        let task = pipeline.task(&set.task)?;
        pipeline.set_parameter(task, &set.parameter, mip_ops::Value::parse(&set.value))?;
    }
    pipeline.task_graph().validate()?;
    if let Some(request) = of_video(args, &pipeline, images)? {
        return video(args, file, &mut pipeline, &request);
    }
    let mut bound = bind(args, &pipeline, images)?;
    // Opened first: what cannot be written is not worth measuring.
    let read = file.into_iter().chain(images.iter().map(PathBuf::as_path));
    let mut files = Files::reading(read.chain(args.inputs.iter().map(|input| input.file.as_path())));
    let trace = args.trace.as_deref().map(|path| files.create_beside_stdout(path, "--trace")).transpose()?;

    let mode = args.stream.map_or(Mode::Batch(args.batch.into()), |k| Mode::Stream(k.into()));
    let repeat = args.repeat.unwrap_or(if args.stream.is_some() { 200 } else { 20 });
    let around = profile::Files {
        inputs: std::mem::take(&mut bound.files),
        reader: bound.reader,
        format: args.format.as_ref().map(|asked| asked.format),
    };
    let inputs = bound.inputs;
    let measured = measure(&mut pipeline, &inputs, around, mode, args.warm_up as usize, repeat as usize)?;
    if let Some(file) = trace {
        write_trace(file, &measured.profile)?;
    }
    let report = Report::new(&pipeline, &inputs, mode, measured, args.trace.as_deref())?;
    if args.json {
        return console::json(&report);
    }
    console::line(render(&report).trim_end())?;
    note_trace(args.trace.as_deref());
    Ok(())
}

/// What is measured, if the input is a video.
fn of_video(args: &Args, pipeline: &Pipeline, inputs: &[PathBuf]) -> Result<Option<VideoRequest>, Failure> {
    let refuse = |text: String| Err(Failure::Request(text));
    let path = match inputs {
        [path] if args.video.raw.is_some() || mip_io::is_video_file(path) => path,
        _ => {
            return match args.video.given() {
                Some(option) => refuse(format!("{option} is for a video, and there is none; leave it out")),
                None => Ok(None),
            };
        }
    };
    if !path.is_file() {
        let name = quoted_path(path);
        return refuse(format!("{name} is no file: a video is read several times, so name a file"));
    }
    let changed = args.reading.changes_pixels();
    let unfit = [
        ("--input", !args.inputs.is_empty()),
        ("--batch", args.batch > 1),
        ("--format", args.format.is_some()),
        (changed.unwrap_or_default(), changed.is_some()),
    ];
    if let Some((option, _)) = unfit.into_iter().find(|(_, given)| *given) {
        return refuse(format!("{option} is for images, not for a video; leave it out"));
    }
    let limits = args.execution.limits.read_options();
    Ok(Some(VideoRequest {
        path: path.clone(),
        said: args.video.said(),
        frames: args.repeat.unwrap_or(200).into(),
        warm_up: args.warm_up.into(),
        in_flight: args.stream.unwrap_or(3).into(),
        strict: args.reading.is_strict(),
        limits: Limits::new(limits, pipeline.config().memory_budget.clone()),
    }))
}

fn video(
    args: &Args,
    file: Option<&Path>,
    pipeline: &mut Pipeline,
    request: &VideoRequest,
) -> Result<(), Failure> {
    let mut files = Files::reading(file.into_iter().chain([request.path.as_path()]));
    let trace = args.trace.as_deref();
    let to = trace.map(|path| files.create_beside_stdout(path, "--trace")).transpose()?;
    let (report, profile) = profile::measure_video(pipeline, request, trace)?;
    if let Some(to) = to {
        write_trace(to, &profile)?;
    }
    if args.json {
        return console::json(&report);
    }
    console::line(profile::render_video(&report).trim_end())?;
    note_trace(trace);
    Ok(())
}

/// Says where the timeline is, or how to have one.
fn note_trace(trace: Option<&Path>) {
    console::note(match trace {
        Some(path) => format!("trace: {} (open it with https://ui.perfetto.dev)", quoted_path(path)),
        None => "--trace FILE writes the timeline".to_owned(),
    });
}

/// The pipeline's inputs.
struct Bound {
    /// An image for each, with its name.
    inputs: Vec<(String, ImageBuffer)>,
    /// Where they are from.
    files: Vec<PathBuf>,
    reader: Reader,
}

fn bind(args: &Args, pipeline: &Pipeline, images: &[PathBuf]) -> Result<Bound, Failure> {
    let names = pipeline.task_graph().inputs();
    if let Some(wrong) = args.inputs.iter().find(|input| !names.contains(&input.name)) {
        return Err(Failure::Request(format!(
            "--input names '{}', but the pipeline's inputs are: {}",
            wrong.name,
            names.join(", ")
        )));
    }
    if names.len() > 1 && (args.batch > 1 || args.stream.is_some()) {
        let text = "--batch and --stream need a pipeline with one input; leave them out";
        return Err(Failure::Request(text.to_owned()));
    }
    let limits = args.reading.options(args.execution.limits.read_options());
    let mut reader = Limits::new(limits, pipeline.config().memory_budget.clone()).reader();
    let mut images = images.iter();
    let (mut bound, mut files) = (Vec::new(), Vec::new());
    for name in names {
        let given = args.inputs.iter().find(|input| input.name == *name).map(|input| &input.file);
        let file: &Path = given.or_else(|| images.next()).ok_or_else(|| {
            Failure::Request(format!(
                "no image for the pipeline's input '{name}': name one after the pipeline, or --input {name}=FILE"
            ))
        })?;
        let image = reader.read(file);
        note_warnings(&mut reader);
        bound.push((name.clone(), image?));
        files.push(file.to_owned());
    }
    match images.next() {
        None => Ok(Bound { inputs: bound, files, reader }),
        Some(more) => Err(Failure::Request(format!(
            "{} is one image too many: mip profile runs the same one again and again (--batch and --repeat say how often)",
            quoted_path(more)
        ))),
    }
}

/// Writes a timeline for Chrome's trace viewer.
pub(super) fn write_trace(file: WholeFile, profile: &Profile) -> Result<(), Failure> {
    let mut writer = BufWriter::new(file);
    let written = profile.write_chrome_trace(&mut writer);
    let file = written.and_then(|()| writer.into_inner().map_err(std::io::IntoInnerError::into_error));
    let file = file.map_err(|error| Failure::Running(format!("cannot write the trace: {error}")))?;
    Ok(file.keep()?)
}
