use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use mini_image_pipe::Pipeline;
use mip_core::video::ChromaSampling;

use super::profile::write_trace;
use crate::args::{PipelineArgs, RunArgs, SetParameter, VideoArgs};
use crate::console;
use crate::devices::{self, Names};
use crate::failure::Failure;
use crate::files::Files;
use crate::interrupt::{self, Signal};
use crate::video::{self, Output, Source, Target};
use crate::work::Limits;

/// Runs a pipeline over video (Y4M), several frames at once
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mip stream [OPTIONS] PIPELINE [-i FILE] [-o FILE]\n       mip stream [OPTIONS] -e ONE-LINE [-i FILE] [-o FILE]"
)]
#[command(after_help = "Examples:
  mip stream edges.toml -i in.y4m -o out.y4m
  ffmpeg -i in.mp4 -pix_fmt yuv420p -f yuv4mpegpipe - \\
    | mip stream -e 'gaussian_blur kernel=9' \\
    | ffmpeg -f yuv4mpegpipe -i - out.mp4

  mip stream -e 'gaussian_blur kernel=5 inputs=@input-y' -i in.y4m -o out.y4m   # chroma is kept as it is
  mip stream edges.toml --raw nv12:1920x1080 --matrix 709 --range limited -i frames.nv12 -o out.y4m

The pipeline has one input, the video, and one output. It sees rgb (gray, for video without chroma), u8,
or u16 for more than 8 bits; @input-y, @input-u and @input-v are the planes as they are. Y4M says
everything but the colour matrix: without --matrix, 709 is assumed from 720 lines on, 601 below, and a
note on stderr says so. Raw video says nothing.")]
pub(crate) struct Args {
    #[command(flatten)]
    pipeline: PipelineArgs,
    /// Video to read; `-`, or nothing, is stdin
    #[arg(short = 'i', long = "input", value_name = "FILE")]
    input: Option<PathBuf>,
    /// Video to write (.y4m); `-`, or nothing, is stdout
    #[arg(short = 'o', long = "out", value_name = "FILE")]
    out: Option<PathBuf>,
    /// Frames under way at once; each takes memory of its own
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=64))]
    frames_in_flight: u16,
    #[command(flatten)]
    video: VideoArgs,
    /// Write frames without headers
    #[arg(long)]
    raw_output: bool,
    /// Chroma sampling to write [default: as read; mono for gray results]
    #[arg(long, value_enum, value_name = "FORMAT")]
    output_format: Option<FormatArg>,
    /// Value for a parameter, over the pipeline file's; repeat for several
    #[arg(long = "set", value_name = "TASK.PARAMETER=VALUE")]
    set: Vec<SetParameter>,
    #[command(flatten)]
    execution: RunArgs,
    /// File for a timeline of frames (JSON of Chrome's trace format); upload, compute and download are timed then
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Print a JSON report to stdout; needs -o, because video goes there otherwise
    #[arg(long)]
    pub(super) json: bool,
}

/// `--output-format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// Luma only; for gray results.
    Mono,
    /// Chroma of half width and height.
    #[value(name = "420")]
    C420,
    /// Chroma of half width.
    #[value(name = "422")]
    C422,
    /// Full chroma.
    #[value(name = "444")]
    C444,
}

/// Pinned memory kept for frames: enough for a few dozen of 4K.
pub(super) const PINNED: usize = 1 << 30;

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let input = args.input.as_deref().filter(|path| !mip_io::is_stdin(path));
    let out = named(args.out.as_deref());
    let stdio = Path::new("-");
    check_ends(args, input, out)?;
    let spec = args.pipeline.load()?;
    // What shows what a GPU did from the beginning waits for it.
    let mut config =
        if args.trace.is_some() { args.execution.config(1)? } else { args.execution.starting_config(1)? };
    (config.pinned_pool_size, config.enable_profiling) = (PINNED, args.trace.is_some());
    let mut pipeline = Pipeline::from_spec(&spec, config)?;
    for set in &args.set {
        let task = pipeline.task(&set.task)?;
        pipeline.set_parameter(task, &set.parameter, mip_ops::Value::parse(&set.value))?;
    }
    pipeline.task_graph().validate()?;

    let limits = Limits::new(args.execution.limits.read_options(), pipeline.config().memory_budget.clone());
    let source = Source::open(input, args.video.said(), &limits)?;
    let name = video::input_name(&pipeline)?;
    // Colours are what a pipeline sees that reads the input itself, not its planes.
    let sees_color = pipeline.task_graph().inputs().contains(&name);
    pipeline.read_video(&name, source.format, source.color())?;
    let target = Target::new(&mut pipeline, &source, sees_color, args.output_format, args.raw_output)?;
    if sees_color && source.format.sampling != ChromaSampling::C400 || target.converts() {
        note_assumptions(args, &source);
    }
    let to = out.unwrap_or(stdio);
    let read = args.pipeline.file().into_iter().chain([input.unwrap_or(stdio)]);
    let mut files = Files::reading(read);
    let file = files.create(to, "-o")?;
    let trace = args.trace.as_deref().map(|path| files.create_beside_stdout(path, "--trace")).transpose()?;
    let stop = interrupt::finish_first();
    let output = Output::begin(file, to, &target)?;
    let in_flight = args.frames_in_flight.into();
    let outcome = video::run(&mut pipeline, source, &target, output, in_flight, &stop);
    let outcome = match (outcome, stop.signal()) {
        // The program that read from us was asked to end as well.
        (Err(Failure::ReaderGone), Some(signal)) => return Err(Failure::Reported(signal.exit_code())),
        (outcome, _) => outcome?,
    };
    if let (Some(file), Some(profile)) = (trace, &outcome.profile) {
        write_trace(file, profile)?;
    }
    if args.json {
        console::json(&video::summary(&pipeline, &outcome, args.frames_in_flight)?)?;
    }
    let seconds = outcome.elapsed.as_secs_f64();
    let rate = outcome.frames as f64 / seconds.max(1e-9);
    let device = Names::of(&pipeline)?.names;
    let no_gpu = args.execution.no_gpu(&pipeline);
    let frames = crate::work::count(outcome.frames as usize, "frame");
    console::note(format_args!("{frames} in {seconds:.2} s ({rate:.1} frames/s) on {device}{no_gpu}"));
    devices::tell(&pipeline);
    if outcome.frames > 1 {
        console::note(&outcome.stages);
    }
    outcome.interrupted.map_or(Ok(()), |signal| Err(interrupted(to, &outcome, signal)))
}

/// Says what there is of an interrupted stream.
pub(crate) fn interrupted(to: &Path, outcome: &video::Outcome, signal: Signal) -> Failure {
    let (signal_name, name) = (signal.name(), mip_io::output_name(to));
    console::note(match (&outcome.beside, outcome.frames) {
        (_, 0) => format!("interrupted by {signal_name} before a frame was done"),
        (Some(beside), _) => {
            format!(
                "interrupted by {signal_name}: {name} is as it was; the new frames are in {}",
                beside.display()
            )
        }
        (None, _) => format!("interrupted by {signal_name}: {name} holds the frames up to there"),
    });
    Failure::Reported(signal.exit_code())
}

/// A file that was named for the video; `-` stands for stdout.
fn named(path: Option<&Path>) -> Option<&Path> {
    path.filter(|path| !mip_io::is_stdout(path))
}

fn check_ends(args: &Args, input: Option<&Path>, out: Option<&Path>) -> Result<(), Failure> {
    let refuse = |text: &str| Err(Failure::Request(text.to_owned()));
    match out {
        None if args.json => {
            refuse("--json prints to stdout, but the video goes there; name a file for it with -o")
        }
        None if std::io::stdout().is_terminal() => {
            refuse("video does not belong on a terminal; pipe it into another program or name a file with -o")
        }
        _ if input.is_none() && std::io::stdin().is_terminal() => refuse(
            "no video: name a file with -i, or pipe Y4M in (`ffmpeg -i FILE -f yuv4mpegpipe - | mip stream ...`)",
        ),
        Some(out) => video::check_extension(out, args.raw_output),
        None => Ok(()),
    }
}

/// Says what the stream leaves open and was assumed.
fn note_assumptions(args: &Args, source: &Source) {
    let Some(header) = source.header() else { return };
    if let (None, Some(matrix)) = (args.video.matrix, source.matrix) {
        let height = source.height;
        console::note(format_args!(
            "note: Y4M does not say the colour matrix; assumed {matrix} for {height} lines (--matrix says it)"
        ));
    }
    if let (None, None, Some(range)) = (args.video.range, header.range, source.range) {
        console::note(format_args!(
            "note: the stream does not say its range; assumed {range} (--range says it)"
        ));
    }
}
