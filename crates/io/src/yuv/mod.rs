//! What video files say of their samples. What those mean is computed by the operators `yuv_to_rgb` and `rgb_to_yuv`.

mod sampling;

pub use mip_core::video::{Matrix, Range};
pub use sampling::Sampling;
