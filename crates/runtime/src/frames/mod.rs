//! Frame streams: several frames under way at once, results in order.
//!
//! ```text
//! InFlight         at most K frames under way; waits for the oldest when full; numbers them
//!   SessionRing    sessions of one plan taken in turn, so that neighbouring frames share nothing but kernels
//! ```

mod in_flight;
mod ring;
#[cfg(test)]
mod tests;

pub use in_flight::{Finished, InFlight};
pub use ring::SessionRing;
