//! Tasks and the edges between them.

mod connect;
mod handle;
mod infer;
mod order;
mod parameters;
mod tasks;
#[cfg(test)]
mod tests;
mod validate;
mod video;
mod video_output;

use mip_ops::Operator;

pub(crate) use connect::DEFAULT_INPUT;
use handle::GraphId;
pub use handle::TaskHandle;
pub use infer::Derived;
pub use video::VideoInput;
pub use video_output::VideoOutput;

/// Most tasks a graph may hold; keeps planning, which is quadratic, well below a second.
pub const MAX_TASKS: usize = 4096;

/// Operators under unique names, and which results feed which inputs. Always acyclic.
///
/// A clone is a graph of its own: handles of the original are refused there, names find the same tasks.
#[derive(Debug)]
pub struct TaskGraph {
    id: GraphId,
    tasks: Vec<Task>,
    inputs: Vec<String>,
    marked_outputs: Vec<usize>,
    topology_version: u64,
    uniform_version: u64,
}

/// What feeds an input slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// A pipeline input: index into [`TaskGraph::inputs`].
    Input(usize),
    /// The result of a task.
    Task(TaskHandle),
}

#[derive(Debug, Clone)]
struct Task {
    name: String,
    operator: Box<dyn Operator>,
    /// One a slot of the operator, in declared order.
    sources: Vec<Option<Feed>>,
}

/// [`Source`] by index, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feed {
    Input(usize),
    Task(usize),
}

impl TaskGraph {
    /// A graph without tasks.
    pub fn new() -> Self {
        Self {
            id: GraphId::fresh(),
            tasks: Vec::new(),
            inputs: Vec::new(),
            marked_outputs: Vec::new(),
            topology_version: 0,
            uniform_version: 0,
        }
    }

    /// Number that grows with every change that makes an existing plan invalid: tasks, edges, inputs, outputs,
    /// and structural parameters.
    pub const fn topology_version(&self) -> u64 {
        self.topology_version
    }

    /// Number that grows whenever a uniform parameter takes a new value; plans stay valid, see
    /// [`crate::uniforms`].
    pub const fn uniform_version(&self) -> u64 {
        self.uniform_version
    }
}

impl Default for TaskGraph {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for TaskGraph {
    fn clone(&self) -> Self {
        Self {
            id: GraphId::fresh(),
            tasks: self.tasks.clone(),
            inputs: self.inputs.clone(),
            marked_outputs: self.marked_outputs.clone(),
            topology_version: self.topology_version,
            uniform_version: self.uniform_version,
        }
    }
}
