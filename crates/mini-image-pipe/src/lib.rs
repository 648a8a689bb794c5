//! A DAG-native image-processing pipeline runtime for the CPU and NVIDIA GPUs.
//!
//! A [`Pipeline`] is a graph of operators ([`ops`]), described in Rust, on one line or in a TOML file. It is
//! checked, and shapes, fusion, streams and memory are planned, before it runs: over single images
//! ([`Pipeline::run`]), batches of one shape ([`Pipeline::run_batch`]) or frames in order ([`Pipeline::run_stream`]), on a
//! [`Device`]. Every number of threads, SIMD level, number of streams and device gives the same bytes.
//!
//! ```
//! # #[cfg(feature = "cpu")] {
//! use mini_image_pipe::prelude::*;
//!
//! let photo = ImageBuffer::new(ImageDesc::new(640, 480, PixelFormat::Rgb, DType::U8)?)?;
//!
//! // On one line.
//! let edges = Pipeline::parse("resize width=320 ! color_convert to=gray ! sobel")?.run(&photo)?;
//! assert_eq!(edges.desc().to_string(), "320x240 gray u8");
//!
//! // With types, a graph that forks, and a number that changes without a new plan.
//! let mut pipeline = Pipeline::builder()
//!     .then("small", Resize::width(320))
//!     .then("soft", GaussianBlur::new(5))
//!     .join("edges", Sobel::new(), ["small"])
//!     .outputs(["soft", "edges"])
//!     .build()?;
//! pipeline.param::<f64>("soft.sigma")?.set(1.4)?;
//! pipeline.set_named_input("input", &photo)?;
//! pipeline.execute()?;
//! assert_eq!(pipeline.outputs().count(), 2);
//! # }
//! # Ok::<(), mini_image_pipe::Error>(())
//! ```
//!
//! # Layers
//! Underneath, each a crate of its own: [`types`] (images), [`ops`] (operators), [`graph`] ([`graph::TaskGraph`], pipeline
//! files, the planner), [`plan`] (what devices execute), [`runtime`] ([`runtime::DagScheduler`], [`runtime::MemoryManager`],
//! sessions), and the devices `cpu` and `cuda`. Another kind of device is a [`runtime::device::Backend`] in
//! [`Backends`].
//!
//! # Features
//! All but `avif`, `jxl` and the last two are on by default, and each only adds.
//! * `cpu`, `cuda`: where pipelines run. CUDA is looked for when a program runs.
//! * `io`: image files, with `open` and `save`, and the module `io`.
//! * `exr`, `webp`: files of these formats. `avif`, `jxl`: AVIF and JPEG XL, only read.
//! * `profiling`: timelines of runs that ask for one.
//! * `image`, `ndarray`: images of these crates in and out without copying pixels where memory allows, in `convert`.
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
mod spread;

pub use mip_core::{BatchLayout, DType, ImageBuffer, ImageDesc, Layout, PixelFormat};
pub use mip_runtime::CancelToken;

pub use backends::Backends;
pub use config::PipelineConfig;
pub use details::ErrorDetails;
pub use device::Device;
pub use error::Error;
#[cfg(feature = "io")]
pub use files::{FileError, open, save};
#[cfg(feature = "cuda")]
pub use pipeline::{DecodedFrame, DeviceJpegDecoder, DeviceJpegLane, DeviceVideoDecoder};
pub use pipeline::{
    DeviceFrame, DeviceRun, FrameError, FrameMemory, FrameResult, FrameResults, FrameSource, FrameStream,
    Param, ParamType, Pipeline, PipelineBuilder, StreamOptions, StreamedFrame,
};
pub use report::{AllocatorReport, DeviceReport, ExecutionReport};
pub use spread::devices_starting;

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

/// The programs of README and of the book, run as tests. README opens and saves files; without these features it would not build.
#[cfg(all(doctest, feature = "cpu", feature = "cuda", feature = "io"))]
mod book {
    #[doc = include_str!("../README.md")]
    mod readme {}
    #[doc = include_str!("../docs/getting-started.md")]
    mod getting_started {}
    #[doc = include_str!("../docs/execution-model.md")]
    mod execution_model {}
    #[doc = include_str!("../docs/memory.md")]
    mod memory {}
    #[doc = include_str!("../docs/graph-replay.md")]
    mod graph_replay {}
    #[doc = include_str!("../docs/expressions.md")]
    mod expressions {}
    #[doc = include_str!("../docs/devices.md")]
    mod devices {}
    #[doc = include_str!("../docs/own-operators.md")]
    mod own_operators {}
}
