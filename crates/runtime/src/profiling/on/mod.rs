//! What is behind the names with the `profiling` feature.

mod chrome;
mod intervals;
mod labels;
mod probe;
mod profile;
mod profiler;
mod run;
mod summary;
#[cfg(test)]
mod tests;

pub(crate) use labels::PlanLabels;
pub use probe::{HostSpan, Probe};
pub use profile::{Mark, Place, Profile, Row, Span, Work};
pub(crate) use run::RunProbe;
pub use summary::{HostRow, Overlap, StageRow, StreamRow, Summary, TaskRow};
