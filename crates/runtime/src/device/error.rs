/// What a device can fail with. The task it concerns is added above, where it is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// No memory, even after giving back what was cached.
    #[error("out of {space} memory: {requested} bytes requested, {in_use} in use, {reserved} reserved{}", limit_text(*.limit))]
    OutOfMemory {
        /// "device" or "pinned".
        space: &'static str,
        /// Bytes asked for.
        requested: usize,
        /// Bytes handed out.
        in_use: usize,
        /// Bytes held from the driver.
        reserved: usize,
        /// The limit set, if any.
        limit: Option<usize>,
    },
    /// A driver call failed.
    #[error("{call} failed: {message}")]
    Driver {
        /// The call.
        call: &'static str,
        /// What the driver says.
        message: String,
    },
    /// A kernel failed while running.
    #[error("kernel '{kernel}' failed: {message}")]
    Kernel {
        /// Name of the kernel.
        kernel: String,
        /// Why.
        message: String,
    },
    /// A kernel could not be compiled or loaded.
    #[error("kernel '{kernel}' cannot be built: {message}")]
    Build {
        /// Name of the kernel.
        kernel: String,
        /// The compiler's log.
        message: String,
    },
    /// Two commands touched the same memory without an order between them: a fault of the plan.
    #[error("memory conflict: {0}")]
    Conflict(String),
    /// The device cannot be used any more.
    #[error("the device is lost: {0}")]
    Lost(String),
    /// The device cannot do what was asked.
    #[error("{0}")]
    Unsupported(String),
    /// A failure a test asked for.
    #[error("injected failure: {0}")]
    Injected(String),
}

fn limit_text(limit: Option<usize>) -> String {
    limit.map_or_else(String::new, |l| format!(", limit {l}"))
}
