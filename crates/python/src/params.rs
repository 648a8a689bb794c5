//! Parameter values between Python and the engine.

use mini_image_pipe::prelude::Value;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::errors::wrong_type;

/// A value given in Python. Whether a parameter takes it is for the engine to say.
pub(crate) fn value_of(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    // A bool is an int to Python, so it comes first.
    if object.is_instance_of::<PyBool>() {
        return Ok(Value::Bool(object.extract()?));
    }
    if object.is_instance_of::<PyInt>() {
        return Ok(Value::Int(object.extract()?));
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(object.extract()?));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::Text(text.extract()?));
    }
    // Numbers and arrays of NumPy.
    if let Ok(number) = object.extract::<i64>() {
        return Ok(Value::Int(number));
    }
    if let Ok(number) = object.extract::<f64>() {
        return Ok(Value::Float(number));
    }
    let items = object.try_iter().ok().and_then(|items| {
        items.map(|item| item.and_then(|item| item.extract::<f64>())).collect::<PyResult<Vec<f64>>>().ok()
    });
    items.map(Value::List).ok_or_else(|| {
        wrong_type(format!(
            "{object} is no value of a parameter; a value is a bool, a number, a text or a list of numbers"
        ))
    })
}

/// A value for Python.
pub(crate) fn to_python(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Value::Bool(v) => PyBool::new(py, v).to_owned().into_any(),
        Value::Int(v) => PyInt::new(py, v).into_any(),
        Value::Float(v) => PyFloat::new(py, v).into_any(),
        Value::Text(v) => PyString::new(py, &v).into_any(),
        Value::List(v) => PyList::new(py, v)?.into_any(),
    })
}

/// Keyword arguments as parameters; those that are `None` are left out.
pub(crate) fn parameters(given: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, Value)>> {
    let mut parameters = Vec::new();
    for (name, value) in given.into_iter().flatten() {
        if !value.is_none() {
            parameters.push((name.extract()?, value_of(&value)?));
        }
    }
    Ok(parameters)
}
