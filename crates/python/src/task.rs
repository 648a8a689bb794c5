//! [`Task`]: a task of a pipeline, whose parameters are attributes.

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;

use crate::errors::Failed;
use crate::pipeline::Pipeline;

/// A task of a pipeline; its parameters are attributes.
#[pyclass(frozen, module = "mini_image_pipe")]
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) name: String,
    pub(crate) pipeline: Py<Pipeline>,
}

#[pymethods]
impl Task {
    fn __getattr__<'py>(&self, py: Python<'py>, parameter: &str) -> PyResult<Bound<'py, PyAny>> {
        // Python asks for names of its own here, and takes no other error for "there is none".
        if parameter.starts_with("__") {
            return Err(PyAttributeError::new_err(parameter.to_owned()));
        }
        let path = format!("{}.{parameter}", self.name);
        self.pipeline
            .get()
            .__getitem__(py, &path)
            .map_err(|error| PyAttributeError::new_err(error.value(py).to_string()))
    }

    fn __setattr__(&self, py: Python<'_>, parameter: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.pipeline.get().__setitem__(py, &format!("{}.{parameter}", self.name), value)
    }

    fn __dir__(&self, py: Python<'_>) -> Result<Vec<String>, Failed> {
        self.pipeline.get().with(py, |state, settings| {
            let graph = state.engine(settings)?.task_graph();
            let spec = graph.operator(graph.task(&self.name)?)?.spec();
            Ok(spec.params.iter().map(|param| param.name.to_owned()).collect())
        })
    }

    fn __repr__(&self) -> String {
        format!("<mini_image_pipe.Task {}>", self.name)
    }
}
