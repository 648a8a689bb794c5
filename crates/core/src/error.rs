use crate::ImageDesc;

/// What can be wrong with the description of an image or with the memory offered for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// Width or height is zero.
    #[error("an image of {width}x{height} has no pixels; width and height must be at least 1")]
    Empty {
        /// Width asked for, in pixels.
        width: u32,
        /// Height asked for, in pixels.
        height: u32,
    },
    /// The byte size does not fit in 64-bit signed arithmetic.
    #[error("{what} of {width}x{height} needs more bytes than this machine can address")]
    TooLarge {
        /// What was being measured ("a row", "a batch of 32").
        what: String,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// The system has no memory to give.
    #[error(
        "no memory: {} for {what} cannot be had; use smaller images, end other programs or raise `ulimit -v`",
        crate::byte_text(*.bytes)
    )]
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
        /// What for ("an image of 4x4 rgb u8").
        what: String,
    },
    /// A stride is too small or not a multiple of the sample size.
    #[error("{stride} stride of {given} bytes does not fit {desc}: {rule}")]
    Stride {
        /// Which stride: "row", "plane" or "batch".
        stride: &'static str,
        /// The stride given, in bytes.
        given: usize,
        /// The image it was meant for.
        desc: ImageDesc,
        /// What it has to satisfy.
        rule: String,
    },
    /// The memory offered is shorter than the layout spans.
    #[error("{given} bytes given, but {desc} (batch of {batch}) spans {needed}")]
    ShortData {
        /// Bytes given.
        given: usize,
        /// Bytes the layout spans.
        needed: usize,
        /// The image described.
        desc: ImageDesc,
        /// Number of frames.
        batch: usize,
    },
    /// A name that is none of the known formats, dtypes or layouts.
    #[error("unknown {what} '{given}'; allowed: {allowed}")]
    UnknownName {
        /// What kind of name ("pixel format").
        what: &'static str,
        /// The name given.
        given: String,
        /// The allowed names, comma separated.
        allowed: &'static str,
    },
    /// Planes that are not those of a video frame.
    #[error("the planes {given} are no frame of {frame}, which has {expected}")]
    Planes {
        /// Size and format of the frame.
        frame: String,
        /// The planes given.
        given: String,
        /// The planes that it has.
        expected: String,
    },
}
