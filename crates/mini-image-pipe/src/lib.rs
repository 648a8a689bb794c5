#![doc = include_str!("../../../README.md")]
#![forbid(unsafe_code)]

mod config;
mod device;
mod error;
mod pipeline;
mod report;

pub use mip_runtime::CancelToken;

pub use config::PipelineConfig;
pub use device::Device;
pub use error::Error;
pub use pipeline::{
    DeviceFrame, FrameError, FrameResult, FrameResults, FrameSource, FrameStream, Pipeline, StreamOptions,
    StreamedFrame,
};
pub use report::{AllocatorReport, ExecutionReport};

#[cfg(feature = "profiling")]
pub mod profiling {
    //! What [`crate::Pipeline::take_profile`] hands out: a timeline of host and streams, and its summary.

    pub use mip_runtime::profiling::{
        HostRow, Kind, Mark, Overlap, Place, Profile, Row, Span, StageRow, StreamRow, Summary, TaskRow, Work,
    };
}

pub mod prelude {
    //! What a program that builds and runs pipelines needs.

    pub use mip_core::video::{ChromaSampling, Matrix, Range, Siting, VideoColor, VideoFormat, VideoFrame};
    pub use mip_core::{BatchLayout, DType, ImageBuffer, ImageDesc, Layout, PixelFormat};
    pub use mip_cpu::{CpuConfig, SimdLevel};
    pub use mip_cuda::CudaOptions;
    pub use mip_graph::{PipelineSpec, TaskGraph, TaskHandle};
    pub use mip_ops::operators::*;
    pub use mip_ops::{Change, Operator, Value};
    pub use mip_plan::{Border, CustomError, CustomKernel};
    pub use mip_runtime::{CancelToken, DeviceImage, TaskState};

    pub use crate::{
        Device, DeviceFrame, Error, ExecutionReport, FrameResult, FrameStream, Pipeline, PipelineConfig,
        StreamOptions,
    };
}

pub use {
    mip_core as core, mip_cuda as cuda, mip_graph as graph, mip_ops as ops, mip_plan as plan,
    mip_runtime as runtime,
};

/// The book's programs, run as tests.
#[cfg(doctest)]
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
