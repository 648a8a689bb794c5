//! All results of a run as rows of one array of NumPy's, or of several that have so many rows each, with an index of the files
//! that rows are of.
//!
//! ```text
//! ArrayTarget   names, decided before the run
//! ArraySink     a thread that writes rows as they come, in the order of the inputs
//!   Arrays      the arrays that it has finished, and those that it has begun
//! Finished      what became of them; Index is what of it is written beside the arrays
//! ```

mod index;
mod sink;
mod target;

pub(crate) use index::{Finished, Shard};
pub(super) use sink::{ArraySink, Arrays, Row};
pub(super) use target::check_alike;
pub(crate) use target::{ArrayRequest, ArrayTarget};
