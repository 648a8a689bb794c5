//! YUV video: what its samples mean, and how those of a frame are arranged. To the rest of the runtime the planes of a
//! frame are gray images.

mod color;
mod format;
mod frame;

pub use color::{ChromaFilter, Matrix, Range, Siting, VideoColor};
pub use format::{ChromaSampling, Packing, Plane, VideoFormat};
pub use frame::VideoFrame;
