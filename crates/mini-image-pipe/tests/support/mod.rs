//! What the numeric tests share: parameters and pipelines of a single operator.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod dag;

use mini_image_pipe::{Device, Pipeline, PipelineConfig};
use mip_core::ImageBuffer;
use mip_cpu::{CpuConfig, SimdLevel};
use mip_graph::TaskGraph;
use mip_ops::{Operator, Value};
use mip_testkit::{Param, Params};

/// A CPU device with this many threads.
pub(crate) fn cpu(threads: usize, simd: SimdLevel) -> Device {
    Device::cpu_with(CpuConfig { threads: Some(threads), simd, ..CpuConfig::default() })
}

/// A CPU device with this many threads for which alike branches share groups.
pub(crate) fn joining_cpu(threads: usize) -> Device {
    Device::cpu_with(CpuConfig { threads: Some(threads), join_branches: true, ..CpuConfig::default() })
}

/// The operator of that name with those parameters, from the registry.
pub(crate) fn operator(op: &str, params: &Params) -> Box<dyn Operator> {
    let value = |param: &Param| match param {
        Param::Bool(v) => Value::Bool(*v),
        Param::Int(v) => Value::Int(*v),
        Param::Float(v) => Value::Float(*v),
        Param::Text(v) => Value::Text(v.clone()),
        Param::List(v) => Value::List(v.clone()),
    };
    let values: Vec<_> = params.iter().map(|(name, v)| (name.to_owned(), value(v))).collect();
    mip_ops::create(op, &values).unwrap_or_else(|e| panic!("{op} {params:?}: {e}"))
}

/// Runs one operator alone over batches of one size, one for each slot, in poisoned memory; a result for each
/// frame.
pub(crate) fn run_operator(
    device: &Device,
    op: &str,
    params: &Params,
    inputs: &[&ImageBuffer],
) -> Vec<ImageBuffer> {
    let outputs = try_operator(device, op, params, inputs);
    outputs.unwrap_or_else(|e| panic!("{op} {params:?} on {}: {e}", inputs[0].desc()))
}

fn try_operator(
    device: &Device,
    op: &str,
    params: &Params,
    inputs: &[&ImageBuffer],
) -> Result<Vec<ImageBuffer>, Box<dyn std::error::Error>> {
    let mut graph = TaskGraph::new();
    let task = graph.add_task(op, operator(op, params)).expect("a name");
    let config = PipelineConfig { device: device.clone(), poison: true, ..PipelineConfig::default() };
    let mut pipeline = Pipeline::from_graph(graph, config);
    if let [input] = inputs {
        pipeline.set_input(task, input)?;
        if input.batch_size() > 1 {
            pipeline.execute_batch(&[(*input).clone()])?;
            return Ok(pipeline.batch_outputs(task)?.to_vec());
        }
    } else {
        for (slot, input) in ["a", "b"].into_iter().zip(inputs) {
            pipeline.set_input_slot(task, slot, input)?;
        }
    }
    pipeline.execute()?;
    Ok(vec![pipeline.output(task)?])
}
