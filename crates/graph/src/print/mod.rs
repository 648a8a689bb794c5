//! Plans and graphs for people and for programs to read.

mod dot;
mod fusion;
mod inferred;
mod json;
mod memory;
mod mermaid;
mod model;
mod svg;
mod table;
mod text;
mod tiles;
mod traffic;

pub use dot::render_dot;
pub use fusion::FusionSummary;
pub use inferred::{InferredTask, check_report};
pub use json::render_json;
pub use memory::MemorySummary;
pub use mermaid::render_mermaid;
pub use svg::{render_memory_svg, render_svg};
pub use text::render_text;
pub use tiles::render_tiles;
pub use traffic::{LaunchTraffic, Traffic};

#[cfg(test)]
mod diagram_tests;
#[cfg(test)]
mod tests;
