// README opens and saves files and runs on the CPU; without these its programs would not build.
#![cfg_attr(all(feature = "cpu", feature = "io"), doc = include_str!("../../../README.md"))]
#![cfg_attr(
    not(all(feature = "cpu", feature = "io")),
    doc = "A DAG-native image-processing pipeline runtime for the CPU and NVIDIA GPUs."
)]
#![forbid(unsafe_code)]

mod backends;
mod config;
#[cfg(any(feature = "image", feature = "ndarray"))]
pub mod convert;
mod details;
mod device;
mod error;
#[cfg(feature = "io")]
mod files;
mod pipeline;
mod report;

pub use mip_core::{BatchLayout, DType, ImageBuffer, ImageDesc, Layout, PixelFormat};
pub use mip_runtime::CancelToken;

pub use backends::Backends;
pub use config::PipelineConfig;
pub use details::ErrorDetails;
pub use device::Device;
pub use error::Error;
#[cfg(feature = "io")]
pub use files::{FileError, open, save};
pub use pipeline::{
    DeviceFrame, FrameError, FrameResult, FrameResults, FrameSource, FrameStream, Param, ParamType, Pipeline,
    PipelineBuilder, StreamOptions, StreamedFrame,
};
pub use report::{AllocatorReport, ExecutionReport};

/// What functions here return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

pub mod video {
    //! Formats and frames of YUV video: see [`crate::Pipeline::read_video`].

    pub use mip_core::video::{ChromaSampling, Matrix, Range, Siting, VideoColor, VideoFormat, VideoFrame};

    pub use crate::DeviceFrame;
}

#[cfg(feature = "profiling")]
pub mod profiling {
    //! What [`crate::Pipeline::take_profile`] hands out: a timeline of host and streams, and its summary.

    pub use mip_runtime::profiling::{
        HostRow, Kind, Mark, Overlap, Place, Profile, Row, Span, StageRow, StreamRow, Summary, TaskRow, Work,
    };
}

pub mod prelude {
    //! What a program that builds and runs pipelines needs. Nothing in it is named like something of the standard library;
    //! [`crate::Error`], [`crate::Result`], [`crate::Layout`] and [`crate::video`] are one level up.

    pub use mip_core::{BatchLayout, DType, ImageBuffer, ImageDesc, PixelFormat};
    #[cfg(feature = "cpu")]
    pub use mip_cpu::{CpuConfig, SimdLevel};
    #[cfg(feature = "cuda")]
    pub use mip_cuda::CudaOptions;
    pub use mip_graph::{PipelineSpec, TaskGraph, TaskHandle};
    pub use mip_ops::operators::*;
    pub use mip_ops::{Change, Operator, Value};
    pub use mip_plan::{Border, CustomError, CustomKernel};
    pub use mip_runtime::{CancelToken, DeviceImage, TaskState};

    pub use crate::{
        Device, ExecutionReport, FrameResult, FrameStream, Pipeline, PipelineBuilder, PipelineConfig,
        StreamOptions,
    };
    #[cfg(feature = "io")]
    pub use crate::{open, save};
}

// The layers, each a crate of its own.
#[cfg(feature = "cpu")]
pub use mip_cpu as cpu;
#[cfg(feature = "cuda")]
pub use mip_cuda as cuda;
#[cfg(feature = "io")]
pub use mip_io as io;
pub use {mip_core as types, mip_graph as graph, mip_ops as ops, mip_plan as plan, mip_runtime as runtime};

/// The book's programs, run as tests.
#[cfg(all(doctest, feature = "cpu", feature = "cuda", feature = "io"))]
mod book {
    #[doc = include_str!("../../../docs/getting-started.md")]
    mod getting_started {}
    #[doc = include_str!("../../../docs/execution-model.md")]
    mod execution_model {}
    #[doc = include_str!("../../../docs/memory.md")]
    mod memory {}
    #[doc = include_str!("../../../docs/graph-replay.md")]
    mod graph_replay {}
    #[doc = include_str!("../../../docs/expressions.md")]
    mod expressions {}
    #[doc = include_str!("../../../docs/own-operators.md")]
    mod own_operators {}
}
