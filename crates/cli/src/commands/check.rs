use mini_image_pipe::Pipeline;
use mip_core::ImageDesc;
use mip_core::text::padded;
use mip_graph::{InferredTask, TaskGraph, check_report};

use crate::args::{PipelineArgs, SizeArgs};
use crate::console;
use crate::failure::Failure;

/// Checks a pipeline for images of a given size and prints the shape of every task
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mip check edges.toml --size 1920x1080
  mip check -e 'resize width=640 height=480 ! color_convert to=gray' --size 4000x3000,rgb,u16

Exit code 2 when the pipeline or the shapes are wrong, with the reason on stderr.")]
pub(crate) struct Args {
    #[command(flatten)]
    pipeline: PipelineArgs,
    #[command(flatten)]
    size: SizeArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let config = mini_image_pipe::PipelineConfig::default();
    let mut pipeline = Pipeline::from_spec(&args.pipeline.load()?, config)?;
    pipeline.task_graph().validate()?;
    let inputs = args.size.apply(&mut pipeline)?;
    let graph = pipeline.task_graph();
    for row in table(graph, &inputs)? {
        console::line(row)?;
    }
    console::note(format_args!("ok: {} task(s)", graph.len()));
    Ok(())
}

/// A line for each input and task: name, shape, and for tasks the operator and where its inputs come from.
fn table(graph: &TaskGraph, inputs: &[ImageDesc]) -> Result<Vec<String>, Failure> {
    let input =
        |(name, shape): (&String, &ImageDesc)| [format!("@{name}"), shape.to_string(), "input".into()];
    let task = |task: InferredTask| {
        let output = if task.is_output { ", an output" } else { "" };
        let origin = format!("{} of {}{output}", task.op, task.inputs.join(", "));
        [task.name, task.output.to_string(), origin]
    };
    let tasks = check_report(graph, inputs)?;
    let rows: Vec<_> =
        graph.inputs().iter().zip(inputs).map(input).chain(tasks.into_iter().map(task)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let (name, shape) = (width(0), width(1));
    Ok(rows.iter().map(|[a, b, c]| format!("{}  {}  {c}", padded(a, name), padded(b, shape))).collect())
}
