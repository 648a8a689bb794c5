//! Frame streams: several frames under way at once, results in order.
//!
//! ```text
//! InFlight         at most K frames under way; waits for the oldest when full; numbers them
//! stream_ends      the same with an end for starting frames and one, on another thread, where each comes out when done
//!   SessionRing    sessions of one plan taken in turn, so that neighbouring frames share nothing but kernels
//! ```

mod ends;
mod in_flight;
mod ring;
#[cfg(test)]
mod tests;

pub use ends::{Completions, Submissions, stream_ends};
pub use in_flight::{Finished, InFlight};
pub use ring::SessionRing;
