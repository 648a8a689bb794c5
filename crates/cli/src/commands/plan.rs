use clap::ValueEnum;
use mini_image_pipe::{Pipeline, PipelineConfig};
use mip_core::ImageDesc;
use mip_graph::FusionSummary;
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
  mip plan -e 'color_convert to=gray ! sobel' --size 640x480 --streams 1")]
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
}

/// `--format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For reading.
    Text,
    /// For programs.
    Json,
}

/// The plan for the same request without fusion, whatever memory that takes.
fn unfused(pipeline: &Pipeline, inputs: &[ImageDesc], batch: usize) -> Result<Plan, Failure> {
    let config = PipelineConfig { fuse: false, memory_limit: None, ..pipeline.config().clone() };
    Ok(Pipeline::from_graph(pipeline.task_graph().clone(), config).plan_for(inputs, batch)?)
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let pipeline = Pipeline::from_spec(&args.pipeline.load()?, args.plan.config())?;
    pipeline.task_graph().validate()?;
    let inputs = args.size.resolve(pipeline.task_graph().inputs())?;
    let batch = usize::from(args.batch);
    let plan = pipeline.plan_for(&inputs, batch)?;
    let summary = if pipeline.config().fuse {
        Some(FusionSummary::of(&plan, &unfused(&pipeline, &inputs, batch)?))
    } else {
        None
    };
    match args.format {
        Format::Text => {
            let beside = summary.map_or_else(String::new, |s| s.render_text());
            console::line((mip_graph::render_text(&plan) + &beside).trim_end())
        }
        Format::Json => {
            let mut json = mip_graph::render_json(&plan);
            json["fusion_summary"] = json!(summary);
            console::json(&json)
        }
    }
}
