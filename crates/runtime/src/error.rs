use crate::device::DeviceError;

/// What a session can fail with. Every variant names the task, input or output it concerns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// A task failed while running, or the device refused one of its commands.
    #[error("task '{task}' ({op}) failed: {error}")]
    Task {
        /// Name of the task.
        task: String,
        /// Its operator.
        op: String,
        /// What the device reported.
        error: DeviceError,
    },
    /// A task could not be made ready for the device.
    #[error("task '{task}' ({op}) cannot be prepared for this device: {error}")]
    Load {
        /// Name of the task.
        task: String,
        /// Its operator.
        op: String,
        /// What the device reported.
        error: DeviceError,
    },
    /// An input could not be copied to the device, so a task that reads it has nothing to work on.
    #[error("task '{task}' failed: input '{input}' could not be uploaded: {error}")]
    Upload {
        /// Name of the pipeline input.
        input: String,
        /// Name of the task that reads it.
        task: String,
        /// What the device reported.
        error: DeviceError,
    },
    /// A finished result could not be copied back to host memory.
    #[error("output '{output}' could not be read back: {error}")]
    Download {
        /// Name of the task whose result it is.
        output: String,
        /// What the device reported.
        error: DeviceError,
    },
    /// The wrong number of input images.
    #[error("{given} input images given, but the plan takes {expected} ({names})")]
    InputCount {
        /// Images given.
        given: usize,
        /// Images the plan takes.
        expected: usize,
        /// Names of the plan's inputs, comma separated.
        names: String,
    },
    /// An input image of another shape than the plan was made for.
    #[error(
        "input '{input}' is {given}, but the plan was made for {expected}; make a new plan for this shape"
    )]
    Input {
        /// Name of the pipeline input.
        input: String,
        /// What was given, with the batch size.
        given: String,
        /// What the plan was made for, with the batch size.
        expected: String,
    },
    /// Uniforms whose count does not match the plan.
    #[error("{given} {what} given, but the plan takes {expected}")]
    Uniforms {
        /// What was counted, with its place ("uniforms of stage 0 of task 'soft'").
        what: String,
        /// Count given.
        given: usize,
        /// Count the plan takes.
        expected: usize,
    },
    /// No memory for something the run needs.
    #[error("no memory for {what}: {error}")]
    Allocation {
        /// What the memory was for ("output 'edges'", "the arena").
        what: String,
        /// What the memory manager reported.
        error: DeviceError,
    },
    /// A stream, an event or a preparation outside any task failed.
    #[error("{what} failed: {error}")]
    Device {
        /// What was tried ("creating stream 2").
        what: String,
        /// What the device reported.
        error: DeviceError,
    },
    /// The run was cancelled before every task had started.
    #[error("the run was cancelled; {unfinished} of {tasks} tasks did not run")]
    Cancelled {
        /// Tasks that did not run.
        unfinished: usize,
        /// Tasks of the plan.
        tasks: usize,
    },
}
