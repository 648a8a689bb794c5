//! Everything decided before a device exists.
//!
//! A [`TaskGraph`] holds operators under unique names and the edges between them. [`plan`] turns it, for given
//! input shapes, into a [`mip_plan::Plan`] by an ordered list of passes; [`check`] proves a plan right without
//! knowing how it was made.

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
pub use graph::{MAX_TASKS, Source, TaskGraph, TaskHandle};
pub use planner::{PlanRequest, passes, plan};
pub use print::{MemorySummary, TaskReport, check_report, render_json, render_text};
pub use spec::{Located, PipelineSpec, Position, TaskSpec, json_schema};
pub use uniforms::uniforms;
