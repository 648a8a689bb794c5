//! Y4M (YUV4MPEG2): uncompressed video as `ffmpeg -f yuv4mpegpipe` and `mjpegtools` write it into pipes.
//!
//! One header line, then for each frame a line `FRAME` and its planes. Sizes, chroma sampling and frame rate are in
//! the header; the colour matrix is nowhere, so it has to come from outside (see [`mip_core::video::Matrix`]).

mod error;
mod header;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use error::Y4mError;
pub use header::Y4mHeader;
pub use reader::Y4mReader;
pub(crate) use reader::fill;
pub use writer::Y4mWriter;
