use std::fmt;

/// Why a command did not succeed; decides the exit code.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    /// The request itself is wrong: exit code 2.
    Request(String),
    /// Something failed while running: exit code 1.
    Running(String),
    /// Results cannot be written to stdout: exit code 1.
    Stdout(String),
    /// Everything has been said already; the exit code.
    Reported(u8),
    /// Whoever reads our output has gone (`mip ops | head`): nothing to say, exit code 0.
    ReaderGone,
}

impl Failure {
    pub(crate) const fn code(&self) -> u8 {
        match self {
            Self::Request(_) => 2,
            Self::Running(_) | Self::Stdout(_) => 1,
            Self::Reported(code) => *code,
            Self::ReaderGone => 0,
        }
    }

    /// The message, if there is still one to print.
    pub(crate) fn message(&self) -> Option<&str> {
        match self {
            Self::Request(text) | Self::Running(text) | Self::Stdout(text) => Some(text),
            Self::Reported(_) | Self::ReaderGone => None,
        }
    }

    /// Puts the file or argument that a message is about in front of it.
    pub(crate) fn about(self, what: impl fmt::Display) -> Self {
        match self {
            Self::Request(text) => Self::Request(format!("{what}: {text}")),
            Self::Running(text) => Self::Running(format!("{what}: {text}")),
            other => other,
        }
    }
}

impl From<mip_io::IoError> for Failure {
    fn from(error: mip_io::IoError) -> Self {
        use mip_io::IoError as E;
        let text = error.to_string();
        match error {
            E::UnknownExtension { .. }
            | E::UnknownFormat { .. }
            | E::Refused { .. }
            | E::Quality { .. }
            | E::NoInput { .. } => Self::Request(text),
            _ => Self::Running(text),
        }
    }
}

impl From<mip_io::y4m::Y4mError> for Failure {
    fn from(error: mip_io::y4m::Y4mError) -> Self {
        match &error {
            mip_io::y4m::Y4mError::Write { source, .. }
                if source.kind() == std::io::ErrorKind::BrokenPipe =>
            {
                Self::ReaderGone
            }
            _ => Self::Running(error.to_string()),
        }
    }
}

impl From<mini_image_pipe::Error> for Failure {
    fn from(error: mini_image_pipe::Error) -> Self {
        let text = error.to_string();
        if error.is_request() { Self::Request(text) } else { Self::Running(text) }
    }
}

impl From<mip_graph::GraphError> for Failure {
    fn from(error: mip_graph::GraphError) -> Self {
        mini_image_pipe::Error::from(error).into()
    }
}

impl From<mip_ops::ParamError> for Failure {
    fn from(error: mip_ops::ParamError) -> Self {
        mini_image_pipe::Error::from(error).into()
    }
}

impl From<std::io::Error> for Failure {
    /// For writes to stdout.
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::Stdout(format!("cannot write to stdout: {error}")),
        }
    }
}
