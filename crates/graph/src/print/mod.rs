//! Plans and graphs for people and for programs to read.

mod fusion;
mod json;
mod memory;
mod report;
mod table;
mod text;

pub use fusion::FusionSummary;
pub use json::render_json;
pub use memory::MemorySummary;
pub use report::{TaskReport, check_report};
pub use text::render_text;

#[cfg(test)]
mod tests;
