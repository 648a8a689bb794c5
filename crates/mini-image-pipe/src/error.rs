use std::borrow::Cow;
use std::fmt;

use mip_core::ImageError;
use mip_graph::GraphError;
#[cfg(feature = "io")]
use mip_io::IoError;
use mip_ops::ParamError;
use mip_runtime::RuntimeError;
use mip_runtime::device::DeviceError;

#[cfg(feature = "io")]
use crate::files::FileError;

/// Whatever can go wrong between describing a pipeline and reading its outputs.
///
/// `Debug` prints what `Display` does, for a `main` that returns an error prints it so.
///
/// [`Error::is_request`] tells mistakes in what was asked for from failures while running.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The graph, a parameter, a shape or a pipeline file is wrong.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A parameter value is wrong.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// An image description or its memory is wrong.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RuntimeError),
    /// The device cannot be opened or used.
    #[error("device: {0}")]
    Device(#[from] DeviceError),
    /// An input without an image.
    #[error("no image was given for pipeline input '@{name}' (read by '{task}'); call set_input first")]
    MissingInput {
        /// The input.
        name: String,
        /// The first task that reads it.
        task: String,
    },
    /// A frame of a batch that differs from the first.
    #[error(
        "frame {index} of the batch is {given}, but frame 0 is {expected}; a batch needs frames of one shape"
    )]
    MixedBatch {
        /// Index of the first frame that differs.
        index: usize,
        /// Its shape.
        given: String,
        /// The first frame's shape.
        expected: String,
    },
    /// A batch given to a pipeline that takes several inputs, or a batched image given to `execute`.
    #[error("{0}")]
    Usage(String),
    /// A setting out of range, or one that this version does not have yet.
    #[error("`{setting}` is {given}, but must be {allowed}")]
    Config {
        /// The setting of [`crate::PipelineConfig`].
        setting: &'static str,
        /// The value given.
        given: String,
        /// What is allowed.
        allowed: Cow<'static, str>,
    },
    /// A frame of a stream that did not get through.
    #[error("frame {number}: {error}")]
    Frame {
        /// Its number in the stream, counted from 0.
        number: u64,
        /// What happened.
        error: Box<Error>,
    },
    /// A pipeline file that the operating system does not let us read.
    #[error("cannot read {path}: {reason}")]
    PipelineFile {
        /// The file.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// An image file that could not be read or written.
    #[cfg(feature = "io")]
    #[error(transparent)]
    Io(#[from] FileError),
    /// A parameter that was asked for as another type than it has.
    #[error("parameter '{parameter}' was asked for as {given}, but it is {allowed}: {meaning}")]
    ParamType {
        /// Task and parameter (`soft.sigma`).
        parameter: String,
        /// The type asked for.
        given: &'static str,
        /// The types that it can be asked for as.
        allowed: String,
        /// What values it takes.
        meaning: String,
    },
    /// A JPEG file that the GPU does not decode.
    #[cfg(feature = "cuda")]
    #[error(transparent)]
    Jpeg(#[from] mip_cuda::jpeg::JpegError),
    /// A video that the GPU does not decode.
    #[cfg(feature = "cuda")]
    #[error(transparent)]
    Video(#[from] mip_cuda::video::VideoError),
    /// No output to read.
    #[error("task '{task}' has no output to read: {reason}")]
    NoOutput {
        /// The task.
        task: String,
        /// Why there is none, and what to do.
        reason: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// Whether there was not enough memory: a smaller batch, or what others give back, may help.
    pub const fn is_out_of_memory(&self) -> bool {
        match self {
            Self::Frame { error, .. } => error.is_out_of_memory(),
            Self::Graph(GraphError::MemoryLimit { .. }) | Self::Image(ImageError::OutOfMemory { .. }) => true,
            Self::Run(
                RuntimeError::Task { error, .. }
                | RuntimeError::Load { error, .. }
                | RuntimeError::Upload { error, .. }
                | RuntimeError::Download { error, .. }
                | RuntimeError::Allocation { error, .. }
                | RuntimeError::Device { error, .. },
            )
            | Self::Device(error) => matches!(error, DeviceError::OutOfMemory { .. }),
            #[cfg(feature = "cuda")]
            Self::Jpeg(mip_cuda::jpeg::JpegError::Device(error))
            | Self::Video(mip_cuda::video::VideoError::Device(error)) => {
                matches!(error, DeviceError::OutOfMemory { .. })
            }
            _ => false,
        }
    }

    /// Whether the request itself was wrong (exit code 2 of `mip`), rather than something failing while running.
    pub fn is_request(&self) -> bool {
        match self {
            Self::Frame { error, .. } => return error.is_request(),
            #[cfg(feature = "cuda")]
            Self::Jpeg(_) | Self::Video(_) => return false,
            // What was asked for cannot be written, whatever the system does; the others are about files.
            #[cfg(feature = "io")]
            Self::Io(error) => {
                use IoError as E;
                return matches!(
                    **error,
                    E::UnknownExtension { .. }
                        | E::UnknownFormat { .. }
                        | E::Refused { .. }
                        | E::Quality { .. }
                        | E::NoInput { .. }
                );
            }
            _ => {}
        }
        !matches!(
            self,
            Self::Run(
                RuntimeError::Task { .. }
                    | RuntimeError::Load { .. }
                    | RuntimeError::Upload { .. }
                    | RuntimeError::Download { .. }
                    | RuntimeError::Allocation { .. }
                    | RuntimeError::Device { .. }
                    | RuntimeError::Cancelled { .. }
            ) | Self::Device(_)
                | Self::Image(ImageError::OutOfMemory { .. })
        )
    }
}
