//! Executing a group: row stages pull the rows they need through small caches, a band of rows at a time.

mod bands;
mod capacity;
mod merge;
mod program;
mod run;
mod runner;
mod shared;
mod steps;
mod tiling;
mod whole;
mod worker;

pub use runner::{GroupRunner, execute_group};
pub use tiling::tiling;
