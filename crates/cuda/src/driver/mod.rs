//! Safe wrappers over the CUDA driver, NVRTC, nvJPEG and NVDEC: the only place that calls them.
//!
//! The libraries are looked for when a program runs; [`library`] must say that they are present before
//! anything else here is called. Every wrapper makes its context current on the calling thread first, so
//! that handles may be used and dropped on any thread.

#[macro_use]
mod error;
#[macro_use]
mod functions;
mod borrowed;
mod context;
mod copy;
mod event;
mod fill;
mod graph;
mod jpeg;
pub(crate) mod library;
mod mark;
mod memory;
mod module;
#[cfg(target_os = "linux")]
mod numa;
mod nvcuvid;
mod nvdec;
mod nvjpeg;
mod nvrtc;
#[cfg(feature = "profiling")]
mod nvtx;
mod pool;
mod stream;

pub use borrowed::{BorrowedMemory, BorrowedStream};
pub(crate) use context::{Attributes, Context, device_count, driver_version, initialise};
pub(crate) use copy::Rows;
pub(crate) use error::DriverError;
pub(crate) use event::RawEvent;
pub(crate) use fill::fill_past_caches;
pub(crate) use graph::{GraphNode, RawGraph, RawGraphExec};
pub(crate) use jpeg::{
    JpegBackend, JpegHandle, JpegHeader, JpegInfo, JpegJob, JpegOutput, JpegRefusal, JpegState,
};
pub(crate) use mark::Mark;
pub(crate) use memory::{DeviceMemory, PinnedMemory, device_of, is_pinned};
pub(crate) use module::{Function, LaunchShape, Module};
pub(crate) use nvcuvid::Nvcuvid;
pub use nvdec::VideoCodec;
pub(crate) use nvdec::{PictureKind, Pictures, PlaneTarget, VideoRefusal, VideoSession, engines};
pub(crate) use nvjpeg::{NVJPEG_VARIABLE, Nvjpeg};
pub(crate) use nvrtc::{compile, nvrtc_version};
#[cfg(feature = "profiling")]
pub(crate) use nvtx::Nvtx;
pub(crate) use pool::MemoryPool;
pub(crate) use stream::RawStream;
