use std::io;

/// What can go wrong with a Y4M stream. Every message names the stream, and the frame where there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Y4mError {
    /// The operating system does not let us read.
    #[error("cannot read {name}: {source}")]
    Read {
        /// The stream.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// Something other than Y4M.
    #[error(
        "{name} {found}; expected a Y4M stream, as `ffmpeg -i FILE -pix_fmt yuv420p -f yuv4mpegpipe -` writes it"
    )]
    NotY4m {
        /// The stream.
        name: String,
        /// What it looks like instead ("is empty").
        found: String,
    },
    /// A header that cannot be understood.
    #[error("{name} has a damaged Y4M header: {reason}")]
    Header {
        /// The stream.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// Video of a kind that is not handled.
    #[error("{name} holds {what}, which is not supported; {remedy}")]
    Unsupported {
        /// The stream.
        name: String,
        /// What it holds.
        what: String,
        /// How to turn it into something supported.
        remedy: &'static str,
    },
    /// The stream ends inside a frame.
    #[error("{name} is truncated: frame {frame} ends after {got} of {needed} bytes")]
    Truncated {
        /// The stream.
        name: String,
        /// The frame, counted from 0.
        frame: u64,
        /// Bytes of the frame that are there, its header line included.
        got: usize,
        /// Bytes a frame has.
        needed: usize,
    },
    /// Something other than a frame where one should begin.
    #[error("{name} is damaged: frame {frame} should begin with `FRAME`, but there is {found}")]
    Frame {
        /// The stream.
        name: String,
        /// The frame, counted from 0.
        frame: u64,
        /// What is there.
        found: String,
    },
    /// The operating system does not let us write. The kind of `source` tells a reader that has gone.
    #[error("cannot write {name}: {source}")]
    Write {
        /// The stream.
        name: String,
        /// What the system said.
        source: io::Error,
    },
}
