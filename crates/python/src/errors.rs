//! Errors as exceptions. The classes are Python's own, in `_errors.py`.

use mini_image_pipe::Error;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// An error of the engine on its way to Python.
#[derive(Debug)]
pub(crate) struct Failed(Error);

impl<E: Into<Error>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl Failed {
    /// A request that only the bindings can find wrong.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self(Error::Usage(text.into()))
    }

    const fn class(&self) -> &'static str {
        let mut error = &self.0;
        while let Error::Frame { error: inner, .. } = error {
            error = inner;
        }
        match error {
            error if error.is_out_of_memory() => "OutOfMemoryError",
            Error::Device(_) => "DeviceError",
            Error::PipelineFile { .. } => "FileError",
            _ => "",
        }
    }

    /// The exception, made of its class, its text and its parts.
    fn raise(self, py: Python<'_>) -> PyResult<PyErr> {
        let class = match (self.class(), self.0.is_request(), &self.0) {
            ("", true, _) => "RequestError",
            ("", false, Error::Io(_)) => "FileError",
            ("", false, _) => "RunError",
            (class, ..) => class,
        };
        let class = py.import("mini_image_pipe._errors")?.getattr(class)?.cast_into::<PyType>()?;
        let error = PyErr::from_type(class, (self.0.to_string(),));
        let details = self.0.details();
        let value = error.value(py);
        for (name, part) in [
            ("place", details.place),
            ("task", details.task),
            ("operator", details.operator),
            ("parameter", details.parameter),
            ("given", details.given),
            ("allowed", details.allowed),
            ("remedy", details.remedy),
        ] {
            value.setattr(name, part)?;
        }
        Ok(error)
    }
}

impl From<Failed> for PyErr {
    fn from(failed: Failed) -> Self {
        Python::attach(|py| failed.raise(py).unwrap_or_else(|error| error))
    }
}

/// An argument of a type that means nothing here.
pub(crate) fn wrong_type(text: impl Into<String>) -> PyErr {
    PyTypeError::new_err(text.into())
}

/// A function of a Python module, looked up once.
pub(crate) fn function<'py>(
    cell: &'static PyOnceLock<Py<PyAny>>,
    py: Python<'py>,
    module: &str,
    name: &str,
) -> PyResult<&'py Bound<'py, PyAny>> {
    let found = cell.get_or_try_init(py, || Ok::<_, PyErr>(py.import(module)?.getattr(name)?.unbind()))?;
    Ok(found.bind(py))
}
