//! What a pipeline would do, to be looked at.

use mini_image_pipe::{graph, plan};
use pyo3::prelude::*;

/// What a pipeline does for inputs of certain shapes: launches after fusion, streams, waits and memory.
///
/// `print(plan)` gives what `mip plan` prints; notebooks draw it.
#[pyclass(frozen, module = "mini_image_pipe")]
#[derive(Debug)]
pub(crate) struct Plan(plan::Plan);

impl From<plan::Plan> for Plan {
    fn from(plan: plan::Plan) -> Self {
        Self(plan)
    }
}

#[pymethods]
impl Plan {
    /// Launches after fusion.
    #[getter]
    const fn launches(&self) -> usize {
        self.0.groups.len()
    }

    /// Streams used.
    #[getter]
    const fn streams(&self) -> u32 {
        self.0.streams
    }

    /// Bytes that intermediates and workspaces share.
    #[getter]
    const fn arena_bytes(&self) -> usize {
        self.0.arena_bytes
    }

    /// The plan as JSON, as `mip plan --json` gives it.
    fn to_json(&self) -> String {
        graph::render_json(&self.0).to_string()
    }

    /// The plan as a graph in the language of Graphviz.
    fn to_dot(&self) -> String {
        graph::render_dot(&self.0)
    }

    /// The plan as a Mermaid diagram.
    fn to_mermaid(&self) -> String {
        graph::render_mermaid(&self.0)
    }

    /// The plan drawn: tasks with their shapes in a column for each stream.
    fn to_svg(&self) -> String {
        graph::render_svg(&self.0)
    }

    /// The arena over time, drawn.
    fn memory_svg(&self) -> String {
        graph::render_memory_svg(&self.0)
    }

    fn _repr_svg_(&self) -> String {
        self.to_svg()
    }

    fn _repr_html_(&self) -> String {
        let text = self.__str__().replace('&', "&amp;").replace('<', "&lt;");
        format!("<div>{}<details><summary>plan</summary><pre>{text}</pre></details></div>", self.to_svg())
    }

    fn __str__(&self) -> String {
        graph::render_text(&self.0)
    }

    fn __repr__(&self) -> String {
        let Self(plan) = self;
        format!(
            "<mini_image_pipe.Plan of {} tasks in {} launches on {} streams>",
            plan.tasks.len(),
            plan.groups.len(),
            plan.streams
        )
    }
}
