use std::io;

/// What can go wrong with a NUT stream. Every message names the stream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NutError {
    /// The operating system does not let us read.
    #[error("cannot read {name}: {source}")]
    Read {
        /// The stream.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// The stream ends inside a header or a frame.
    #[error("{name} ends in the middle of frame {frame}")]
    Truncated {
        /// The stream.
        name: String,
        /// The frame, counted from 0.
        frame: u64,
    },
    /// Something other than a NUT stream of one raw video.
    #[error("{name} is no NUT stream of raw video: {reason}")]
    Damaged {
        /// The stream.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The operating system does not let us write.
    #[error("cannot write {name}: {source}")]
    Write {
        /// The stream.
        name: String,
        /// What the system said.
        source: io::Error,
    },
}
