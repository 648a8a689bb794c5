//! What happens around the pipeline in `mip run`: pictures are decoded and encoded on their own threads
//! while it computes.

mod arrays;
mod decoders;
mod feed;
mod input;
mod naming;
mod numbers;
mod out;
mod outcome;
mod progress;
mod runner;
mod sink;
mod summary;

use progress::Progress;
use sink::Written;

pub(crate) use arrays::{ArrayRequest, ArrayTarget};
pub(crate) use decoders::Decoders;
use feed::Decoder;
pub(crate) use feed::{DECODED_AT_ONCE, Feed, Limits, Next, read};
pub(crate) use input::{Input, PagesArg};
pub(crate) use naming::{FormatArg, Naming};
use numbers::{Derived, Numbers};
pub(crate) use out::Results;
pub(crate) use outcome::Outcome;
pub(crate) use runner::Runner;
pub(crate) use sink::{Job, Sink};
pub(crate) use summary::{Summary, limit_bytes};

/// Threads for decoding, and as many for encoding: a core each, but no more than keep memory small.
fn workers(files: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    files.clamp(1, cores.min(8))
}

/// `1 image`, `3 images`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
