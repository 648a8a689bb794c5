//! The operators, as the engine describes them: functions, stubs and documentation in Python are made of this.

use mini_image_pipe::ops;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// All operators as JSON: what `mip ops --json` tells of each, and for each parameter what is `allowed` in words.
#[pyfunction]
pub(crate) fn operators() -> String {
    let operators = ops::operators().iter().map(|spec| {
        let mut operator = json!(spec);
        let params = operator["params"].as_array_mut().into_iter().flatten();
        for (param, spec) in params.zip(spec.params) {
            param["allowed"] = json!(spec.kind.to_string());
        }
        operator["further_inputs"] = json!(spec.extra.inputs);
        operator["numbers"] = json!(spec.extra.number.is_some());
        operator
    });
    operators.collect::<Value>().to_string()
}
