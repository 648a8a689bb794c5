//! What video files say of their samples. What those mean is computed by the operators `yuv_to_rgb` and `rgb_to_yuv`.

mod chroma;
mod sampling;

pub use chroma::{interleave, take_apart};
pub use mip_core::video::{Matrix, Range};
pub use sampling::Sampling;
