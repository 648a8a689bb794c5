//! Everything decided before a device exists.
//!
//! A [`TaskGraph`] holds operators under unique names and the edges between them. [`plan`] turns it, for given
//! input shapes, into a [`mip_plan::Plan`] by an ordered list of passes; [`check`] proves a plan right without
//! knowing how it was made. Graphs are also written down, as files or in one line: [`PipelineSpec`].
//!
//! ```
//! use mip_core::{DType, ImageDesc, PixelFormat};
//! use mip_graph::{PipelineSpec, PlanRequest, check, plan, render_text};
//!
//! let line = "gray:color_convert to=gray ! soft:gaussian_blur ! edges:sobel inputs=gray ! blend inputs=soft,edges";
//! let graph = PipelineSpec::parse_line(line)?.build()?;
//! let photo = [ImageDesc::new(640, 480, PixelFormat::Rgb, DType::U8)?];
//! let request = PlanRequest { streams: 4, ..PlanRequest::new(&photo) };
//! let fused = plan(&graph, &request)?;
//! assert_eq!(fused.groups.len(), 1);
//! assert_eq!(check(&fused), Ok(()));
//! println!("{}", render_text(&fused));
//! let unfused = plan(&graph, &PlanRequest { fuse: false, ..request })?;
//! assert_eq!((unfused.groups.len(), unfused.streams, unfused.waits.len()), (4, 2, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod bits;
mod check;
mod error;
mod graph;
mod names;
mod planner;
mod print;
#[cfg(test)]
mod properties;
mod spec;
#[cfg(test)]
mod testing;
mod uniforms;

pub use check::{PlanFault, check};
pub use error::GraphError;
pub use graph::{Derived, MAX_TASKS, Source, TaskGraph, TaskHandle, VideoInput, VideoOutput};
pub use planner::{PlanRequest, passes, plan};
pub use print::{
    FusionSummary, InferredTask, LaunchTraffic, MemorySummary, Traffic, check_report, render_dot,
    render_json, render_memory_svg, render_mermaid, render_svg, render_text, render_tiles,
};
pub use spec::{Located, PipelineSpec, Position, TaskSpec, json_schema};
pub use uniforms::uniforms;

/// README's program, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
