use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use mini_image_pipe::{Device, Pipeline, PipelineConfig};
use mip_core::text::{one_line, quoted_path};
use serde::Serialize;

use crate::args::{DeviceArg, SizeArg, SizeArgs, load};
use crate::bench::{
    BATCHES, Comparison, Document, FEED, FeedRequest, Request, Workload, compare, render_feed, render_html,
    render_table, run as measure, run_feed, suite,
};
use crate::console;
use crate::failure::Failure;
use crate::files::Files;

/// Measures pipelines: throughput and latency of every way of running, against the device's own copy bandwidth
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mip bench
  mip bench --suite edges --device cuda --json > now.json
  mip bench --filter w1 --compare before.json
  mip bench edges.toml --size 1920x1080 --batch 1,8 --html bench.html
  mip bench --suite feed

All modes (direct and replayed, fused and not) of a workload take turns. Times are of images that stay on the
device; the column `w. copies` has them come from host memory and go back. `--compare` tells changes from noise.

The suite `feed` is of video in memory that goes through `mip stream`: frames a second of all, and of reading, upload,
compute, download and writing alone, and which of them the others wait for.")]
pub(crate) struct Args {
    /// Pipeline file (TOML); without one, a suite is measured
    #[arg(value_name = "PIPELINE")]
    file: Option<PathBuf>,
    /// Pipeline in the one-line form, instead of a file
    #[arg(short = 'e', long = "expression", value_name = "ONE-LINE", conflicts_with = "file")]
    expression: Option<String>,
    /// Shape of a pipeline's input images: width and height, then format and dtype (rgb,u8 when left out).
    /// For a pipeline with several inputs, `NAME=WxH...` gives one of them its own
    #[arg(long = "size", value_name = "[NAME=]WxH[,FORMAT][,TYPE]")]
    sizes: Vec<SizeArg>,
    /// Standard workloads to measure: edges, feed
    #[arg(long, value_name = "NAME", default_value = "edges", conflicts_with_all = ["file", "expression"])]
    suite: String,
    /// Only workloads of the suite whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    filter: String,
    /// Where to measure: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value_t = DeviceArg::Auto)]
    device: DeviceArg,
    /// Frames that one execution handles [default: 1,32 for a suite, 1 for a pipeline]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    batch: Vec<u16>,
    /// Seconds for each mode of each workload
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    time: f64,
    /// Executions of each mode, instead of a time
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Executions under way at once where throughput is measured [default: 2 on a GPU, 1 on the CPU; feed: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    in_flight: Option<u8>,
    /// Streams that independent tasks may use at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    streams: u32,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    /// An older result (as --json printed it) to compare with
    #[arg(long, value_name = "OLD.JSON")]
    compare: Option<PathBuf>,
    /// Also write a page with plots, for any browser, that needs nothing beside itself
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// The JSON document with a comparison, where one was asked for.
#[derive(Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    document: &'a Document,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a Comparison>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    // Read first: a slip in a file's name is not worth waiting for.
    let old = args.compare.as_deref().map(read).transpose()?;
    let is_feed = args.suite == FEED && args.file.is_none() && args.expression.is_none();
    let workloads = if is_feed { Vec::new() } else { args.workloads()? };
    let (device, reason) = args.device.open_with_reason()?;
    if let Some(reason) = reason {
        console::note(format_args!("measuring on the CPU: {reason}"));
    }
    if is_feed {
        return feed(args, device);
    }
    let unified = device.info()?.unified_memory;
    let own = args.file.is_some() || args.expression.is_some();
    let batches = match (args.batch.as_slice(), own) {
        ([], true) => vec![1],
        ([], false) => BATCHES.to_vec(),
        (given, _) => given.iter().map(|&batch| usize::from(batch)).collect(),
    };
    let request = Request {
        device,
        batches,
        seconds: args.time,
        runs: args.runs.map(|runs| runs as usize),
        in_flight: args.in_flight.map_or(if unified { 1 } else { 2 }, usize::from),
        streams: args.streams,
        workloads,
    };
    // Opened first: what cannot be written is not worth waiting for.
    let mut files = Files::reading(args.compare.iter().chain(&args.file));
    let html = args.html.as_deref().map(|path| files.create_beside_stdout(path, "--html")).transpose()?;
    let bar = progress(request.workloads.len() * request.batches.len());
    let document = measure(&request, |next| {
        bar.inc(1);
        bar.set_message(one_line(next).into_owned());
    });
    bar.finish_and_clear();
    let document = document?;
    let comparison = old.map(|old| compare(&old, &document));
    if let Some(file) = html {
        file.write_and_keep(render_html(&document, comparison.as_ref()).as_bytes())?;
    }
    if args.json {
        console::json(&Printed { document: &document, comparison: comparison.as_ref() })?;
    } else {
        for line in render_table(&document, comparison.as_ref()) {
            console::line(line)?;
        }
    }
    for failed in &document.failures {
        console::note(format_args!(
            "error: {}, batch {}: {}",
            one_line(&failed.workload),
            failed.batch,
            failed.error
        ));
    }
    if document.failures.is_empty() { Ok(()) } else { Err(Failure::Reported(1)) }
}

/// The suite of video.
fn feed(args: &Args, device: Device) -> Result<(), Failure> {
    let given = [
        ("--compare", args.compare.is_some()),
        ("--html", args.html.is_some()),
        ("--batch", !args.batch.is_empty()),
        ("--runs", args.runs.is_some()),
        ("--size", !args.sizes.is_empty()),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(Failure::Request(format!("{option} does not go with --suite feed; leave it out")));
    }
    let frames_in_flight = args.in_flight.map_or(8, usize::from);
    let request = FeedRequest { device, filter: &args.filter, seconds: args.time, frames_in_flight };
    let spinner = ProgressBar::new_spinner();
    let document = run_feed(&request, |next| {
        spinner.set_message(one_line(next).into_owned());
        spinner.tick();
    });
    spinner.finish_and_clear();
    let document = document?;
    if args.json {
        console::json(&document)?;
    } else {
        render_feed(&document).into_iter().try_for_each(console::line)?;
    }
    for failed in &document.failures {
        console::note(format_args!("error: {}: {}", one_line(&failed.workload), failed.error));
    }
    if document.failures.is_empty() { Ok(()) } else { Err(Failure::Reported(1)) }
}

impl Args {
    fn workloads(&self) -> Result<Vec<Workload>, Failure> {
        if self.file.is_none() && self.expression.is_none() {
            if !self.sizes.is_empty() {
                let text = "--size goes with a pipeline; the workloads of a suite have sizes of their own";
                return Err(Failure::Request(text.to_owned()));
            }
            return suite(&self.suite, &self.filter);
        }
        let spec = load(self.file.as_deref(), self.expression.as_deref())?;
        if self.sizes.is_empty() {
            let text = "no --size: the shape of the input images, for example --size 1920x1080";
            return Err(Failure::Request(text.to_owned()));
        }
        let sizes = SizeArgs::of(self.sizes.clone());
        let mut pipeline = Pipeline::from_spec(&spec, PipelineConfig::default())?;
        let video = sizes.videos(pipeline.task_graph().inputs());
        let inputs = sizes.apply(&mut pipeline)?;
        let stem =
            self.file.as_deref().and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
        let name = spec.name.as_ref().map(|name| name.value.clone()).or(stem);
        Ok(vec![Workload { name: name.unwrap_or_else(|| "pipeline".to_owned()), spec, inputs, video }])
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("'{text}' is no number of seconds"))?;
    let allowed = value > 0.0 && value <= 3600.0;
    if allowed { Ok(value) } else { Err("expected more than 0 and at most 3600 seconds".to_owned()) }
}

/// Reads an older result.
fn read(path: &Path) -> Result<Document, Failure> {
    let wrong = |error: String| Failure::Request(format!("--compare {}: {error}", quoted_path(path)));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let document = serde_json::from_str(&text).map(current).and_then(serde_json::from_value);
    document.map_err(|error| wrong(format!("not what `mip bench --json` prints: {error}")))
}

/// A result of before documents carried `schema`: `device` was the name then, and `device_id` what is `device` now.
fn current(mut document: serde_json::Value) -> serde_json::Value {
    if let Some(keys) = document.as_object_mut()
        && !keys.contains_key("schema")
        && let Some(id) = keys.remove("device_id")
        && let Some(name) = keys.insert("device".to_owned(), id)
    {
        keys.insert("device_name".to_owned(), name);
    }
    document
}

/// A bar on stderr when that is a terminal; nothing otherwise.
fn progress(total: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:32} {pos}/{len}  {msg}");
    ProgressBar::new(total as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
