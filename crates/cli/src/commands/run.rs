mod decode;
mod video;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use mini_image_pipe::Pipeline;
use mip_core::ImageDesc;
use mip_core::faults::{self, Fault};
use mip_core::text::{one_line, quoted_path};
use mip_io::{Metadata, WholeFile, expand_inputs};

use super::profile::write_trace;
use crate::args::{
    ArrayArgs, DecodeArg, NamedInput, PageArgs, RunArgs, SetParameter, VideoFileArgs, WriteArgs, load,
    note_warnings,
};
use crate::devices;
use crate::failure::Failure;
use crate::files::Files;
use crate::interrupt;
use crate::stages::Watch;
use crate::work::{
    ArrayRequest, ArrayTarget, FormatArg, Input, Limits, Naming, Outcome, Results, Runner, Summary,
};
use crate::{console, work};
use video::Job;
#[cfg(feature = "profiling")]
pub(crate) use video::{Decoded, Way};

/// Runs a pipeline over images, folders, globs and video files
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mip run [OPTIONS] PIPELINE INPUT...\n       mip run [OPTIONS] -e ONE-LINE INPUT..."
)]
#[command(after_help = "Examples:
  mip run edges.toml photo.jpg -o edges.png
  mip run edges.toml photos/ 'more/*.png' -o out --batch 8
  mip run -e 'resize width=640 ! gaussian_blur kernel=5' photo.jpg --set gaussian_blur.sigma=2
  mip run stereo.toml --input left=l.png --input right=r.png -o out
  mip run -e 'cast to=f32 ! resize width=640' scan.tif -o scan.exr
  mip run edges.toml photos/ -o out --format jpg --quality 80
  mip run classifier.toml photos/ -o tensors.npy --batch 32
  mip run classifier.toml photos/ -o tensors.npy --device cuda --decode gpu
  mip run edges.toml scan.tif --pages all -o out
  mip run edges.toml in.mp4 -o out.mp4
  mip run edges.toml in.mp4 -o 'frames/%05d.png' --frames 100..200 --every 5
  mip run edges.toml 'frames/%05d.png' -o out.mp4 --rate 25
  curl -s https://example.org/photo.jpg | mip run edges.toml - -o - --format jpg > edges.jpg

`mip formats` lists what is read and written; the extension chooses the format of a result.
Results are written to OUT/<input>.png, or to OUT/<input>.<task>.png when the pipeline has
several outputs. Their names are printed to stdout.")]
pub(crate) struct Args {
    /// Pipeline file (unless -e is given), then images, folders and globs, or a video file; `-` is an image from stdin
    #[arg(value_name = "PIPELINE INPUT")]
    arguments: Vec<PathBuf>,
    /// Pipeline in the one-line form, instead of a file
    #[arg(short = 'e', long = "expression", value_name = "ONE-LINE")]
    expression: Option<String>,
    /// Folder for results (default `out`), or a file name for a single one; `-` is stdout. NAME.npy is one array of the
    /// results of all images. With a video: a video file, numbered pictures (`frames/%05d.png`) or a folder for them
    #[arg(short = 'o', long = "out", value_name = "OUT")]
    out: Option<PathBuf>,
    /// Extension of results in a folder, or format of the one on stdout: png, jpg, tif, ... (`mip formats` lists them)
    #[arg(long, value_name = "EXT")]
    format: Option<FormatArg>,
    #[command(flatten)]
    writing: WriteArgs,
    #[command(flatten)]
    arrays: ArrayArgs,
    /// Image for a named pipeline input, used for every execution; repeat for several
    #[arg(long = "input", value_name = "NAME=FILE")]
    inputs: Vec<NamedInput>,
    /// Value for a parameter, over the pipeline file's; repeat for several
    #[arg(long = "set", value_name = "TASK.PARAMETER=VALUE")]
    set: Vec<SetParameter>,
    /// Most consecutive images of one shape to run at once [default: 1; of those that a GPU decodes together, all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    batch: Option<u16>,
    #[command(flatten)]
    execution: RunArgs,
    #[command(flatten)]
    reading: PageArgs,
    /// What decodes JPEG files and video: the CPU, or the GPU that runs the pipeline (JPEG by nvJPEG, whose pixels differ a little;
    /// H.264, HEVC, VP8, VP9 and AV1 by NVDEC, as far as it knows them); `auto` is the GPU for so many JPEG files that it is sooner
    /// done with them, and else the CPU
    #[arg(long, value_enum, value_name = "WHERE", default_value_t = DecodeArg::Cpu)]
    decode: DecodeArg,
    /// Go on with the other images when one fails; exit code 1 at the end
    #[arg(long)]
    keep_going: bool,
    /// File for a timeline of the run (JSON of Chrome's trace format): files read, decoded, encoded and written, executions,
    /// and what streams did
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Print a JSON report instead of file names
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    video: VideoFileArgs,
}

impl Args {
    /// Begins the file for a timeline; what cannot be written is not worth a run.
    fn trace_file(&self, mut files: Files) -> Result<Option<WholeFile>, Failure> {
        let Some(path) = self.trace.as_deref() else { return Ok(None) };
        if self.out.as_deref() == Some(path) {
            let text = "--trace names the file that -o names; choose another";
            return Err(Failure::Request(text.to_owned()));
        }
        files.create_beside_stdout(path, "--trace").map(Some)
    }

    /// The arrays of all results, if those are asked for.
    fn arrays(&self, several: bool, tasks: &[String]) -> Result<Option<ArrayTarget>, Failure> {
        let ArrayArgs { stack, shard } = self.arrays;
        let (out, format) = (self.out.as_deref(), self.format.as_ref());
        ArrayTarget::of(ArrayRequest { out, format, stack, shard, several }, tasks)
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let start = Instant::now();
    let (file, positional) = split(args);
    let spec = load(file, args.expression.as_deref())?;
    let job = Job::of(args, positional)?;
    args.check_decode(job.as_ref())?;
    let decodes_on_gpu = args.decodes_on_gpu(job.as_ref(), positional);
    // What decodes on a GPU, or shows what it did from the beginning, waits for it.
    let batch = args.batch(decodes_on_gpu);
    let mut config = if decodes_on_gpu || args.trace.is_some() {
        args.execution.config(batch)?
    } else {
        args.execution.starting_config(batch)?
    };
    config.enable_profiling = args.trace.is_some();
    config.pinned_pool_size = super::stream::PINNED;
    let limits =
        Limits::new(args.reading.options(args.execution.limits.read_options()), config.memory_budget.clone())
            .for_batches(batch);
    let mut pipeline = Pipeline::from_spec(&spec, config)?;
    for set in &args.set {
        let task = pipeline.task(&set.task)?;
        pipeline.set_parameter(task, &set.parameter, mip_ops::Value::parse(&set.value))?;
    }
    pipeline.task_graph().validate()?;
    if let Some(job) = job {
        args.check_gpu(&pipeline)?;
        let reads = positional.iter().map(PathBuf::as_path).chain(file);
        let trace = args.trace_file(Files::reading(reads))?;
        return job.run(args, file, positional, &mut pipeline, trace);
    }

    let fixed = fixed_inputs(args, pipeline.task_graph().inputs())?;
    let streamed = streamed_input(pipeline.task_graph().inputs(), &fixed, positional)?;
    if args.batch.is_some_and(|batch| batch > 1) && pipeline.task_graph().inputs().len() > 1 {
        let text = "--batch needs a pipeline with one input; leave it out".to_owned();
        return Err(Failure::Request(text));
    }
    let files = if streamed.is_some() { expand_inputs(positional)? } else { vec![fixed[0].file.clone()] };
    let inputs = match args.reading.pages() {
        Some(pages) if streamed.is_some() => Input::pages(&files, pages, &limits)?,
        Some(_) => {
            let text = "--pages is for images after the pipeline; those of --input are one picture each";
            return Err(Failure::Request(text.to_owned()));
        }
        None => Input::whole(&files),
    };
    let tasks = output_names(&pipeline)?;
    let fixed_files = fixed.iter().map(|fixed| fixed.file.as_path());
    let read = files.iter().map(PathBuf::as_path).chain(fixed_files).chain(file);
    let originals: Vec<PathBuf> = read.map(Path::to_owned).collect();
    // A folder with one picture in it, or a pattern that fits one, is as several are.
    let pages = args.reading.pages().is_some();
    let several = streamed.is_some() && (inputs.len() > 1 || pages || files != positional);
    let (naming, arrays);
    let results = if let Some(target) = args.arrays(several, &tasks)? {
        target.check(inputs.len(), &originals)?;
        arrays = target;
        Results::Arrays(&arrays)
    } else {
        naming = Naming::new(args.out.as_deref(), args.format.as_ref(), &inputs, &tasks, &originals)?;
        Results::Files(&naming)
    };
    check_stdout(args, results)?;
    let options = args.writing.options(results.format())?;
    let decoder = if decodes_on_gpu { args.decoder(&pipeline, streamed.is_some())? } else { None };
    let watch = Watch::recording(pipeline.probe());
    let (shapes, metadata) = bind(&mut pipeline, &fixed, &limits, &watch)?;
    // Results of many pictures are of those; of none but the fixed ones, they are of the first.
    let metadata = metadata.filter(|_| streamed.is_none()).map(|first| (0, first)).into_iter().collect();
    create_folder(results.folder())?;
    let trace = args.trace_file(Files::reading(&originals))?;

    let stop = interrupt::finish_first();
    let devices = pipeline.config().devices().count();
    let runner = Runner {
        pipeline: &mut pipeline,
        results,
        tasks: &tasks,
        files: &inputs,
        streamed: streamed.as_deref(),
        shapes: &shapes,
        metadata,
        // Of several devices each gets a batch.
        batch: batch * devices,
        keep_going: args.keep_going,
        numbers: args.json,
        options,
        limits,
        decoder,
        watch,
        stop: &stop,
    };
    let mut outcome = runner.run()?;
    outcome.tell_losses();
    if let (Some(file), Some(profile)) = (trace, pipeline.take_profile()) {
        write_trace(file, &profile)?;
    }
    let summary = Summary::new(&pipeline, &inputs, &outcome, start.elapsed())?;
    report(args, results, (&pipeline, &summary), &outcome)
}

/// The pipeline file, if one is to be named, and the inputs.
fn split(args: &Args) -> (Option<&Path>, &[PathBuf]) {
    match (&args.expression, args.arguments.split_first()) {
        (None, Some((file, inputs))) => (Some(file), inputs),
        _ => (None, &args.arguments),
    }
}

/// The `--input` arguments in the order of the pipeline's inputs, each checked to name one.
fn fixed_inputs(args: &Args, names: &[String]) -> Result<Vec<NamedInput>, Failure> {
    for (index, input) in args.inputs.iter().enumerate() {
        if !names.contains(&input.name) {
            let near = mip_ops::suggest(&input.name, names.iter().map(String::as_str));
            let hint = near.map_or_else(String::new, |n| format!(" (did you mean '{n}'?)"));
            return Err(Failure::Request(format!(
                "--input names '{}'{hint}, but the pipeline's inputs are: {}",
                input.name,
                names.join(", ")
            )));
        }
        if args.inputs[..index].iter().any(|other| other.name == input.name) {
            return Err(Failure::Request(format!("--input names '{}' twice", input.name)));
        }
    }
    let given = |name: &String| args.inputs.iter().find(|i| i.name == *name).cloned();
    Ok(names.iter().filter_map(given).collect())
}

/// The one input that the positional images feed; `None` when `--input` feeds them all.
fn streamed_input(
    names: &[String],
    fixed: &[NamedInput],
    positional: &[PathBuf],
) -> Result<Option<String>, Failure> {
    let free: Vec<&String> = names.iter().filter(|n| fixed.iter().all(|f| f.name != **n)).collect();
    let refuse = |text: String| Err(Failure::Request(text));
    match (free.as_slice(), positional) {
        ([], []) if fixed.is_empty() => refuse("the pipeline has no input; there is nothing to run".into()),
        ([], []) => Ok(None),
        ([], _) => {
            refuse("every input of the pipeline is given by --input; leave the other images out".into())
        }
        ([_], []) => refuse("no input images given: name files, folders or globs after the pipeline".into()),
        ([name], _) => Ok(Some((*name).clone())),
        (several, _) => {
            let names: Vec<&str> = several.iter().map(|n| n.as_str()).collect();
            refuse(format!(
                "the pipeline has {} inputs without an image ({}); give all but one with --input NAME=FILE",
                names.len(),
                names.join(", ")
            ))
        }
    }
}

/// Shapes of the pipeline's inputs, where they are known, and what the first file says beside its pixels.
type Bound = (Vec<Option<ImageDesc>>, Option<Metadata>);

/// Gives the named inputs their images.
fn bind(
    pipeline: &mut Pipeline,
    fixed: &[NamedInput],
    limits: &Limits,
    watch: &Watch,
) -> Result<Bound, Failure> {
    let mut shapes = vec![None; pipeline.task_graph().inputs().len()];
    let mut first = None;
    let mut reader = limits.reader();
    for input in fixed {
        let image = work::read(&mut reader, &input.file, watch);
        note_warnings(&mut reader);
        let image = image?;
        first.get_or_insert(reader.take_metadata());
        if let Some(index) = pipeline.task_graph().inputs().iter().position(|n| *n == input.name) {
            shapes[index] = Some(*image.desc());
        }
        pipeline.set_named_input(&input.name, &image)?;
    }
    Ok((shapes, first))
}

fn output_names(pipeline: &Pipeline) -> Result<Vec<String>, Failure> {
    let graph = pipeline.task_graph();
    graph.outputs().into_iter().map(|task| Ok(graph.name(task)?.to_owned())).collect()
}

fn create_folder(folder: &Path) -> Result<(), Failure> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    faults::check(Fault::Create)
        .and_then(|()| std::fs::create_dir_all(folder))
        .map_err(|e| Failure::Running(format!("cannot create the folder {}: {e}", quoted_path(folder))))
}

/// Names of files, or JSON, on the stdout that the picture goes to would damage it.
fn check_stdout(args: &Args, results: Results<'_>) -> Result<(), Failure> {
    let refuse = |text: &str| Err(Failure::Request(text.to_owned()));
    match results.is_stdout() {
        true if args.json => {
            refuse("--json prints to stdout, but the picture goes there; name a file for it with -o")
        }
        true if std::io::stdout().is_terminal() => refuse(
            "a picture does not belong on a terminal; pipe it into another program or name a file with -o",
        ),
        _ => Ok(()),
    }
}

fn report(
    args: &Args,
    results: Results<'_>,
    (pipeline, summary): (&Pipeline, &Summary),
    outcome: &Outcome,
) -> Result<(), Failure> {
    if args.json {
        console::json(summary)?;
    } else if !results.is_stdout() {
        summary.outputs.iter().try_for_each(|name| console::line(one_line(name)))?;
    }
    if summary.frames > 0 {
        let no_gpu = args.execution.no_gpu(pipeline);
        let done = work::count(summary.frames, "image");
        let files = work::count(summary.outputs.len(), "file");
        let Summary { elapsed_ms, device_name: device, .. } = summary;
        console::note(format_args!("{done} -> {files} in {elapsed_ms:.0} ms on {device}{no_gpu}"));
        devices::tell(pipeline);
        if outcome.decoders.has_gpu() {
            let rate = summary.images_per_second;
            console::note(format_args!("{}; {rate:.0} images/s", outcome.decoders));
        }
    }
    if let Some(stages) = summary.stages.as_ref().filter(|_| summary.frames > 1) {
        console::note(stages);
    }
    let Some(code) = outcome.exit_code(args.keep_going) else { return Ok(()) };
    let failed = work::count(summary.failed, "image");
    console::note(match (summary.interrupted, summary.not_tried) {
        (Some(signal), left) => format!("interrupted by {signal}: {failed} failed, {left} not tried"),
        (None, 0) => format!("{failed} failed"),
        (None, left) => format!("{failed} failed; {left} not tried (--keep-going goes on after a failure)"),
    });
    if let given_up @ 1.. = outcome.arrays.given_up.len() {
        let images = work::count(given_up, "image");
        console::note(format_args!(
            "results of {images} were not written, for their array has rows missing (--keep-going leaves out images that \
             fail; --shard N keeps every array that is complete)"
        ));
    }
    Err(Failure::Reported(code))
}
