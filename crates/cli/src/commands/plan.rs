use clap::ValueEnum;
use mini_image_pipe::{Pipeline, PipelineConfig};
use mip_graph::{FusionSummary, Traffic, render_dot, render_memory_svg, render_mermaid, render_svg};
use serde_json::json;

use crate::args::{DeviceArg, PipelineArgs, PlanArgs, SizeArgs, SizeLimit};
use crate::console;
use crate::failure::Failure;
use crate::machine::Machine;
use crate::plan::{Rate, Target};

/// Prints what would happen: launches after fusion, streams, waits, buffers, memory, tiles, time against the
/// floor
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mip plan edges.toml --size 1920x1080
  mip plan edges.toml --size 1920x1080 --batch 8 --format json
  mip plan -e 'color_convert to=gray ! sobel' --size 640x480 --streams 1
  mip plan edges.toml --size 1920x1080 --format svg > plan.svg
  mip plan edges.toml --size 1920x1080 --no-fuse --format svg --memory > memory.svg
  mip plan edges.toml --size 1920x1080 --device cuda --batch 32 --bandwidth 2900
  mip plan edges.toml --size 1920x1080 --device cpu --bandwidth measure")]
pub(crate) struct Args {
    #[command(flatten)]
    pipeline: PipelineArgs,
    #[command(flatten)]
    size: SizeArgs,
    /// Images that one execution handles
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    batch: u16,
    #[command(flatten)]
    plan: PlanArgs,
    /// Where it would run: auto, cpu, cuda or cuda:N; cuda without a GPU assumes one
    #[arg(long, value_name = "DEVICE", default_value_t = DeviceArg::Auto)]
    device: DeviceArg,
    /// Refuse a plan that takes more memory: bytes (4GiB, 500MB) or a share of what this machine has (50%)
    #[arg(long, value_name = "SIZE|PERCENT")]
    memory_limit: Option<SizeLimit>,
    /// How to print it
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
    /// Print JSON: the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// With --format svg: the arena over time, instead of the graph
    #[arg(long)]
    memory: bool,
    /// Rate of the device's memory (`mip bench` prints it), for the time that each launch takes at least;
    /// 'measure' copies on the device now
    #[arg(long, value_name = "GB/S|measure")]
    bandwidth: Option<Rate>,
}

/// `--format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading.
    Text,
    /// For programs.
    Json,
    /// For Graphviz.
    Dot,
    /// For Markdown.
    Mermaid,
    /// A picture.
    Svg,
}

impl Args {
    pub(super) const fn prints_json(&self) -> bool {
        self.json || matches!(self.format, Format::Json)
    }
}

/// The same pipeline without fusion, whatever memory that takes.
fn unfused(pipeline: &Pipeline) -> Pipeline {
    let config = PipelineConfig { fuse: false, memory_limit: None, ..pipeline.config().clone() };
    Pipeline::from_graph(pipeline.task_graph().clone(), config)
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.memory && args.format != Format::Svg {
        let text = "--memory draws a picture: add --format svg (the other formats list buffers already)";
        return Err(Failure::Request(text.to_owned()));
    }
    let memory_limit = args.memory_limit.map(|limit| limit.bytes(&Machine::here()));
    let config = PipelineConfig { memory_limit, ..args.plan.config() };
    let mut pipeline = Pipeline::from_spec(&args.pipeline.load()?, config)?;
    pipeline.task_graph().validate()?;
    let inputs = args.size.apply(&mut pipeline)?;
    let batch = usize::from(args.batch);
    let target = Target::of(args.device)?;
    let plan = target.plan(&pipeline, &inputs, batch)?;
    match args.format {
        _ if args.json => {}
        Format::Text | Format::Json => {}
        Format::Dot => return console::line(render_dot(&plan).trim_end()),
        Format::Mermaid => return console::line(render_mermaid(&plan).trim_end()),
        Format::Svg if args.memory => return console::line(render_memory_svg(&plan).trim_end()),
        Format::Svg => return console::line(render_svg(&plan).trim_end()),
    }
    let summary = if pipeline.config().fuse {
        Some(FusionSummary::of(&plan, &target.plan(&unfused(&pipeline), &inputs, batch)?))
    } else {
        None
    };
    let tilings = target.tilings(&plan);
    let rate = args.bandwidth.map(|rate| rate.resolve(args.device, &Traffic::of(&plan, &tilings, None)));
    let traffic = Traffic::of(&plan, &tilings, rate.transpose()?);
    if args.prints_json() {
        let mut json = mip_graph::render_json(&plan);
        json["fusion_summary"] = json!(summary);
        json["traffic"] = json!(traffic);
        json["device"] = json!(target.id);
        json["device_name"] = json!(target.name);
        let launches = json["launches"].as_array_mut().into_iter().flatten();
        for (launch, tiling) in launches.zip(&tilings) {
            launch["tiling"] = json!(tiling.as_ref().ok());
        }
        return console::json(&json);
    }
    let mut text = mip_graph::render_text(&plan);
    text += &summary.map_or_else(String::new, |s| s.render_text());
    text += &mip_graph::render_tiles(&plan, &target.name, &tilings);
    text += &traffic.render_text();
    if traffic.gb_per_s.is_none() {
        text +=
            "  no times: give the rate of the device's memory by --bandwidth GB/S, or --bandwidth measure\n";
    }
    console::line(text.trim_end())
}
