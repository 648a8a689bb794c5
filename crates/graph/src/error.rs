use mip_core::ImageError;
use mip_core::text::quoted;
use mip_ops::{OpError, ParamError};

use crate::PlanFault;
use crate::spec::Position;

/// What can be wrong with a graph, a pipeline file or a request for a plan.
///
/// The text of an error says everything a user needs; sources are for code that wants the cause's type, and
/// need not be printed after it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A name that files and one-line pipelines could not hold.
    #[error(
        "'{}' cannot be the name of {what}: it must start with a letter or '_' \
         and go on with letters, digits, '_' or '-'", quoted(.given)
    )]
    Name {
        /// What was to be named ("a task").
        what: &'static str,
        /// The name given.
        given: String,
    },
    /// A name of more bytes than a file's name has room for.
    #[error("'{}' cannot be the name of {what}: it has {} bytes, but must have at most {max}", quoted(.given), .given.len())]
    LongName {
        /// What was to be named ("a task").
        what: &'static str,
        /// The name given.
        given: String,
        /// The limit in bytes.
        max: usize,
    },
    /// A second task or input of the same name.
    #[error("there is already {what} named '{}'; names must be unique", quoted(.name))]
    Duplicate {
        /// What was to be named ("a task").
        what: &'static str,
        /// The name given.
        name: String,
    },
    /// The colours of a YUV input are read, but nothing says what its samples mean.
    #[error(
        "@{} is YUV video whose matrix and range are not known, so it has no colours yet; say them (matrix 601, 709 or \
         2020; range limited or full), or read its planes, which need neither", quoted(.input)
    )]
    UnknownColor {
        /// The input, without `@`.
        input: String,
    },
    /// More tasks than a graph may hold.
    #[error("a graph holds at most {max} tasks")]
    TooManyTasks {
        /// The limit.
        max: usize,
    },
    /// No task of that name.
    #[error("there is no task '{}'{}; tasks: {known}", quoted(.given), did_you_mean(.suggestion.as_deref()))]
    UnknownTask {
        /// The name given.
        given: String,
        /// The closest known name, if one is close.
        suggestion: Option<String>,
        /// The known names, comma separated.
        known: String,
    },
    /// No pipeline input of that name.
    #[error("there is no pipeline input '@{}'{}; inputs: {known}", quoted(.given), did_you_mean(.suggestion.as_deref()))]
    UnknownInput {
        /// The name given, without `@`.
        given: String,
        /// The closest known name with `@`, if one is close.
        suggestion: Option<String>,
        /// The known names with `@`, comma separated.
        known: String,
    },
    /// No slot of that name.
    #[error("task '{task}' has no input '{}'{}; its inputs: {known}", quoted(.given), did_you_mean(.suggestion.as_deref()))]
    UnknownSlot {
        /// The task.
        task: String,
        /// The name given.
        given: String,
        /// The closest known name, if one is close.
        suggestion: Option<String>,
        /// The known names, comma separated.
        known: String,
    },
    /// A handle that another graph gave out.
    #[error("this task handle belongs to another graph; look the task up by name in this one")]
    ForeignHandle,
    /// An edge that would close a cycle; the graph was left as it was.
    #[error("connecting '{from}' to '{to}' would close the cycle {}", .path.join(" -> "))]
    Cycle {
        /// The producer.
        from: String,
        /// The consumer.
        to: String,
        /// Tasks along the cycle, from the producer back to the producer.
        path: Vec<String>,
    },
    /// A slot that already has a source.
    #[error("input '{slot}' of task '{task}' is already fed by '{by}'")]
    SlotTaken {
        /// The task.
        task: String,
        /// The slot.
        slot: String,
        /// What feeds it: a task, or `@` and an input's name.
        by: String,
    },
    /// All slots have a source.
    #[error("task '{task}' ({op}) takes {count} input(s) and all are connected: {slots}")]
    NoFreeSlot {
        /// The task.
        task: String,
        /// Its operator.
        op: &'static str,
        /// Number of slots.
        count: usize,
        /// Each slot and what feeds it.
        slots: String,
    },
    /// A graph without tasks.
    #[error("the pipeline has no tasks; add at least one")]
    Empty,
    /// A slot without a source.
    #[error(
        "input '{slot}' of task '{task}' ({op}) is not connected; connect a task or a pipeline input to it (in a file: inputs = [...])"
    )]
    Unconnected {
        /// The task.
        task: String,
        /// Its operator.
        op: &'static str,
        /// The slot.
        slot: String,
    },
    /// A pipeline input that no task reads.
    #[error("pipeline input '@{name}' feeds no task; connect it or do not declare it")]
    UnusedInput {
        /// The input's name without `@`.
        name: String,
    },
    /// A parameter that an operator does not take as given.
    #[error("task '{}': {source}", quoted(.task))]
    Parameter {
        /// The task.
        task: String,
        /// What is wrong.
        source: ParamError,
    },
    /// Inputs that an operator cannot work on.
    #[error("task '{task}': {source}")]
    Operator {
        /// The task.
        task: String,
        /// What is wrong.
        source: OpError,
    },
    /// Shapes were given for another number of inputs than the graph has.
    #[error("the pipeline has {expected} input(s) ({names}), but {given} image(s) were given")]
    InputCount {
        /// Number of inputs.
        expected: usize,
        /// Their names with `@`, comma separated.
        names: String,
        /// Number of images given.
        given: usize,
    },
    /// An image that cannot exist.
    #[error("'{name}': {source}")]
    Image {
        /// The input (with `@`) or the task.
        name: String,
        /// What is wrong.
        source: ImageError,
    },
    /// An operator whose kernels do not fit together: a mistake in the operator, not in its use.
    #[error("task '{task}': operator '{op}' lowers to kernels that do not fit together: {reason}")]
    Lowering {
        /// The task.
        task: String,
        /// Its operator.
        op: &'static str,
        /// What does not fit.
        reason: String,
    },
    /// A planning request out of range.
    #[error("{what} is {given}, but must be {allowed}")]
    Request {
        /// What was asked for ("the batch size").
        what: &'static str,
        /// The value given.
        given: usize,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Sizes whose sum does not fit in memory arithmetic.
    #[error(
        "a batch of {batch} needs more bytes in total than this machine can address; use a smaller batch"
    )]
    TooLarge {
        /// Frames in the batch.
        batch: usize,
    },
    /// More memory than allowed; nothing was allocated.
    #[error(
        "the plan needs {needed} bytes (inputs {inputs} + outputs {outputs} + arena {arena}) for a batch of {batch}, \
         but the limit is {limit}; use a smaller batch or smaller images, or raise the limit"
    )]
    MemoryLimit {
        /// Bytes needed in all.
        needed: usize,
        /// Bytes of all inputs.
        inputs: usize,
        /// Bytes of all outputs.
        outputs: usize,
        /// Bytes of intermediates and workspaces.
        arena: usize,
        /// Frames in the batch.
        batch: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// Something in a pipeline file or one-line pipeline, and where it stands.
    #[error("{}:{position}: {error}", quoted(.file))]
    At {
        /// The file's name, or what stands for it.
        file: String,
        /// Line and column.
        position: Position,
        /// What is wrong there.
        error: Box<GraphError>,
    },
    /// Text that is not TOML, or not a one-line pipeline.
    #[error("{0}")]
    Syntax(String),
    /// A key that means nothing at its place.
    #[error("{place} has no key '{}'{}; it has: {known}", quoted(.key), did_you_mean(.suggestion.as_deref()))]
    UnknownKey {
        /// Where it stands: `the pipeline`, or `task 'soft' (gaussian_blur)`.
        place: String,
        /// The key.
        key: String,
        /// The closest known key, if one is close.
        suggestion: Option<String>,
        /// The known keys, comma separated.
        known: String,
    },
    /// A value of the wrong type.
    #[error("'{}' is {}, but must be {allowed}", quoted(.key), quoted(.given))]
    WrongType {
        /// The key.
        key: String,
        /// What was given ("a table").
        given: String,
        /// What is allowed.
        allowed: String,
    },
    /// A task without an operator.
    #[error("task {number} does not say which operator it is; add a line like op = \"resize\"")]
    NoOperator {
        /// The task's number in the file, from 1.
        number: usize,
    },
    /// A plan that does not belong to the graph as it is now.
    #[error("the plan no longer fits the graph ({reason}); plan again")]
    Stale {
        /// What changed.
        reason: String,
    },
    /// The planner made a plan that its own checker refuses.
    #[error("internal error, please report it: the plan is inconsistent: {0}")]
    Internal(#[from] PlanFault),
}

impl GraphError {
    /// This error with the place in a text it belongs to.
    pub(crate) fn at(self, file: &str, position: Option<Position>) -> Self {
        match position {
            Some(position) => Self::At { file: file.to_owned(), position, error: Box::new(self) },
            None => self,
        }
    }

    /// What is wrong, without the place in the text.
    pub fn kind(&self) -> &Self {
        match self {
            Self::At { error, .. } => error.kind(),
            other => other,
        }
    }

    /// The place in the pipeline file or one-line pipeline, when the error has one.
    pub fn position(&self) -> Option<Position> {
        match self {
            Self::At { position, .. } => Some(*position),
            _ => None,
        }
    }
}

pub(crate) fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |s| format!(" (did you mean '{s}'?)"))
}
