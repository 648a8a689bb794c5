//! Diagrams of plans: the graph on its streams, and the arena over time.
//!
//! Every stream is a column and time runs downwards, so that what a diagram says first is what runs beside
//! what. The layout is our own, in three steps: `place` gives each task a row in its stream's column, `route`
//! leads edges around tasks along tracks, `graph` draws. (Layout crates for Rust know neither columns that
//! are given nor boxes around nodes.)

mod graph;
mod memory;
mod place;
mod route;
mod tracks;

pub use graph::render_svg;
pub use memory::render_memory_svg;

/// Width that text of this many characters takes at most, in a sans-serif face of 12 pixels.
fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * 7.0
}

/// Text that fits into so many characters.
fn shortened(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    text.chars().take(max - 1).chain(['…']).collect()
}

/// One decimal place.
fn px(value: f64) -> String {
    format!("{value:.1}")
}
