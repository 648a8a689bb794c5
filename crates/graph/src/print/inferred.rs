use mip_core::ImageDesc;
use serde::Serialize;

use crate::graph::Feed;
use crate::{GraphError, TaskGraph};

/// What is known of a task once the input shapes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InferredTask {
    /// The task's name.
    pub name: String,
    /// Its operator.
    pub op: &'static str,
    /// Where its inputs come from, in slot order: tasks by name, pipeline inputs as `@name`.
    pub inputs: Vec<String>,
    /// Shape, format and type of its result.
    pub output: ImageDesc,
    /// Whether the pipeline gives the result back.
    pub is_output: bool,
}

/// Every task in topological order with the shape of its result.
///
/// # Errors
/// What [`TaskGraph::infer`] finds.
pub fn check_report(graph: &TaskGraph, inputs: &[ImageDesc]) -> Result<Vec<InferredTask>, GraphError> {
    let descs = graph.infer(inputs)?;
    let outputs = graph.output_indices();
    let source = |feed: &Feed| match *feed {
        Feed::Input(input) => format!("@{}", graph.inputs()[input]),
        Feed::Task(task) => graph.name_at(task).to_owned(),
    };
    let report = |task: usize| InferredTask {
        name: graph.name_at(task).to_owned(),
        op: graph.operator_at(task).spec().name,
        inputs: graph.feeds(task).iter().flatten().map(source).collect(),
        output: descs[task],
        is_output: outputs.contains(&task),
    };
    Ok(graph.order_indices().into_iter().map(report).collect())
}
