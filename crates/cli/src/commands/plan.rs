use clap::ValueEnum;
use mini_image_pipe::{Pipeline, PipelineConfig};
use mip_core::ImageDesc;
use mip_graph::{FusionSummary, Traffic, render_dot, render_memory_svg, render_mermaid, render_svg};
use mip_plan::Plan;
use serde_json::json;

use crate::args::{PipelineArgs, PlanArgs, SizeArgs};
use crate::console;
use crate::failure::Failure;

/// Prints what would happen: kernels after fusion, streams, waits, buffers and memory
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mip plan edges.toml --size 1920x1080
  mip plan edges.toml --size 1920x1080 --batch 8 --format json
  mip plan -e 'color_convert to=gray ! sobel' --size 640x480 --streams 1
  mip plan edges.toml --size 1920x1080 --format svg > plan.svg
  mip plan edges.toml --size 1920x1080 --no-fuse --format svg --memory > memory.svg
  mip plan edges.toml --size 1920x1080 --batch 32 --bandwidth 2900")]
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
    /// How to print it
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
    /// With --format svg: the arena over time, instead of the graph
    #[arg(long)]
    memory: bool,
    /// Rate of the device's memory (`mip bench` measures it), for the time that each kernel takes at least
    #[arg(long, value_name = "GB/S", value_parser = rate)]
    bandwidth: Option<f64>,
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

fn rate(text: &str) -> Result<f64, String> {
    let positive = |rate: &f64| *rate > 0.0 && rate.is_finite();
    text.parse().ok().filter(positive).ok_or_else(|| format!("'{text}' is no rate above 0, in GB/s"))
}

/// The plan for the same request without fusion, whatever memory that takes.
fn unfused(pipeline: &Pipeline, inputs: &[ImageDesc], batch: usize) -> Result<Plan, Failure> {
    let config = PipelineConfig { fuse: false, memory_limit: None, ..pipeline.config().clone() };
    Ok(Pipeline::from_graph(pipeline.task_graph().clone(), config).plan_for(inputs, batch)?)
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.memory && args.format != Format::Svg {
        let text = "--memory draws a picture: add --format svg (the other formats list buffers already)";
        return Err(Failure::Request(text.to_owned()));
    }
    let pipeline = Pipeline::from_spec(&args.pipeline.load()?, args.plan.config())?;
    pipeline.task_graph().validate()?;
    let inputs = args.size.resolve(pipeline.task_graph().inputs())?;
    let batch = usize::from(args.batch);
    let plan = pipeline.plan_for(&inputs, batch)?;
    match args.format {
        Format::Text | Format::Json => {}
        Format::Dot => return console::line(render_dot(&plan).trim_end()),
        Format::Mermaid => return console::line(render_mermaid(&plan).trim_end()),
        Format::Svg if args.memory => return console::line(render_memory_svg(&plan).trim_end()),
        Format::Svg => return console::line(render_svg(&plan).trim_end()),
    }
    let summary = if pipeline.config().fuse {
        Some(FusionSummary::of(&plan, &unfused(&pipeline, &inputs, batch)?))
    } else {
        None
    };
    let traffic = Traffic::of(&plan, args.bandwidth);
    if args.format == Format::Json {
        let mut json = mip_graph::render_json(&plan);
        json["fusion_summary"] = json!(summary);
        json["traffic"] = json!(traffic);
        return console::json(&json);
    }
    let beside = summary.map_or_else(String::new, |s| s.render_text());
    console::line((mip_graph::render_text(&plan) + &beside + &traffic.render_text()).trim_end())
}
