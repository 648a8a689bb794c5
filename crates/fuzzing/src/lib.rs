//! What must hold for any input at all: one function of bytes for each kind of input.
//!
//! libFuzzer calls them through `fuzz/fuzz_targets`, and the test `replay` calls them with every file under
//! `fuzz/seeds` and `fuzz/found`, so that what was found once stays mended. A target panics when something does not
//! hold, as [`measured`] does when it took too much memory; it tells whether the input was accepted or refused, so
//! that seeds that reach nothing are noticed.
//!
//! A new kind of input (another file format) gets a function here, a line in [`TARGETS`],
//! a file in `fuzz/fuzz_targets` and seeds.
//!
//! [`dag`] makes random graphs of all operators; tests that compare ways of running share it with [`run`].

#![forbid(unsafe_code)]

mod checksums;
pub mod dag;
mod fitting;
mod image_files;
mod odd;
mod run;
mod single;
mod text;
mod video;

pub use image_files::{avif, jpeg, jxl, picture, png};
pub use peak_alloc::PeakAlloc;
pub use run::run;
pub use single::{calls, operator, run_operator};
pub use text::{expression, pipeline_line, pipeline_toml};
pub use video::y4m;

/// Whether an input was good for anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was read, or run.
    Accepted,
    /// It was refused, with an error that says why.
    Refused,
}

/// Bytes in, panics when something does not hold.
pub type Target = fn(&[u8]) -> Outcome;

/// Every target under the name that its files have in `fuzz/`.
pub const TARGETS: [(&str, Target); 10] = [
    ("pipeline_toml", pipeline_toml),
    ("pipeline_line", pipeline_line),
    ("expression", expression),
    ("avif", avif),
    ("png", png),
    ("jpeg", jpeg),
    ("jxl", jxl),
    ("picture", picture),
    ("y4m", y4m),
    ("run", run),
];

/// Largest `width * height` that the targets let a file have. Small, so that a fuzzer tries much and whatever takes
/// more memory than these pixels need stands out.
pub const MAX_PIXELS: u64 = 1 << 16;

/// Bytes that one input may take. Far above what [`MAX_PIXELS`] need, far below what a file can claim.
pub const MAX_MEMORY: usize = 128 << 20;

/// Calls a target and counts what it takes. `memory` has to be the global allocator, of which there is one in a program.
///
/// # Panics
/// When the target does, or takes more than [`MAX_MEMORY`].
pub fn measured(memory: &PeakAlloc, target: Target, bytes: &[u8]) -> Outcome {
    let before = memory.current_usage();
    memory.reset_peak_usage();
    let outcome = target(bytes);
    let taken = memory.peak_usage().saturating_sub(before);
    assert!(taken <= MAX_MEMORY, "it takes {taken} bytes of memory");
    outcome
}

/// An error is text for people: something, and not a page of it.
fn refused(error: &dyn std::fmt::Display) -> Outcome {
    assert!(!error.to_string().is_empty(), "an error without a text");
    Outcome::Refused
}
