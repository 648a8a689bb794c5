//! One operator alone.

use mini_image_pipe::{Device, Error, Pipeline, PipelineConfig};
use mip_core::{ImageBuffer, ImageDesc};
use mip_graph::TaskGraph;
use mip_ops::{Call, Operator, OperatorSpec, ParamError, Value};
use mip_testkit::{Param, Params};

/// The operator of that name with those parameters, from the registry.
///
/// # Errors
/// What the registry refuses.
pub(crate) fn try_operator(op: &str, params: &Params) -> Result<Box<dyn Operator>, ParamError> {
    let value = |param: &Param| match param {
        Param::Bool(v) => Value::Bool(*v),
        Param::Int(v) => Value::Int(*v),
        Param::Float(v) => Value::Float(*v),
        Param::Text(v) => Value::Text(v.clone()),
        Param::List(v) => Value::List(v.clone()),
    };
    let values: Vec<_> = params.iter().map(|(name, v)| (name.to_owned(), value(v))).collect();
    mip_ops::create(op, &values)
}

/// As `try_operator`, for parameters that are right.
///
/// # Panics
/// When they are not.
pub fn operator(op: &str, params: &Params) -> Box<dyn Operator> {
    try_operator(op, params).unwrap_or_else(|e| panic!("{op} {params:?}: {e}"))
}

/// What the registry says of ways to call an operator, examples and ends of parameters, as far as images of that description
/// take them.
pub fn calls(spec: &OperatorSpec, desc: &ImageDesc) -> Vec<Params> {
    let fits = |operator: &dyn Operator| {
        operator.inputs_like(desc).is_ok_and(|inputs| operator.infer(&inputs).is_ok())
    };
    fitting(spec, spec.calls(), fits)
}

/// Those of the calls that images of that description take, all inputs alike.
pub(crate) fn calls_alike(spec: &OperatorSpec, calls: Vec<Call>, desc: &ImageDesc) -> Vec<Params> {
    fitting(spec, calls, |operator| operator.infer(&vec![*desc; operator.spec().inputs.len()]).is_ok())
}

fn fitting(spec: &OperatorSpec, calls: Vec<Call>, fits: impl Fn(&dyn Operator) -> bool) -> Vec<Params> {
    let fits = |call: &Call| spec.call(call).is_ok_and(|operator| fits(operator.as_ref()));
    calls.into_iter().filter(fits).map(params).collect()
}

fn params(call: Call) -> Params {
    call.into_iter().fold(Params::new(), |params, (name, value)| {
        let value = match value {
            Value::Bool(v) => Param::Bool(v),
            Value::Int(v) => Param::Int(v),
            Value::Float(v) => Param::Float(v),
            Value::Text(v) => Param::Text(v),
            Value::List(v) => Param::List(v),
        };
        params.with(&name, value)
    })
}

/// Runs one operator alone over batches of one size, one for each slot, in poisoned memory; a result for each
/// frame.
///
/// # Panics
/// When it is refused or fails.
pub fn run_operator(device: &Device, op: &str, params: &Params, inputs: &[&ImageBuffer]) -> Vec<ImageBuffer> {
    let outputs = try_run(device, op, params, inputs);
    outputs.unwrap_or_else(|e| panic!("{op} {params:?} on {}: {e}", inputs[0].desc()))
}

fn try_run(
    device: &Device,
    op: &str,
    params: &Params,
    inputs: &[&ImageBuffer],
) -> Result<Vec<ImageBuffer>, Error> {
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
        let slots = operator(op, params).spec().inputs;
        for (slot, input) in slots.iter().zip(inputs) {
            pipeline.set_input_slot(task, slot, input)?;
        }
    }
    pipeline.execute()?;
    Ok(vec![pipeline.output(task)?])
}
