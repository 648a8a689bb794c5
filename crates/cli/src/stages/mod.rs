//! What each stage of a run takes, and which of them holds the others up.

mod images;
mod stream;
mod watch;

use std::fmt;
use std::time::Duration;

use serde::Serialize;

pub(crate) use images::{Computing, ImageTimes};
pub(crate) use stream::StreamTimes;
pub(crate) use watch::{Meter, Step, Watch};

/// A stage that is busy for so much of the time holds the others up.
const BUSY: f64 = 0.75;

/// The stages of a run, in their order. Keys may be added, never changed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Stages {
    #[serde(rename = "stages")]
    pub(crate) all: Vec<Stage>,
    /// The stage that the others wait for: `device` is upload, compute and download together where they were not timed.
    /// Nothing when frames wait for each other.
    pub(crate) bottleneck: Option<&'static str>,
    /// How the line for people goes on behind the rates.
    #[serde(skip)]
    finding: String,
}

/// One stage.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Stage {
    /// `read`, `decode`, `upload`, `compute`, `download`, `encode` or `write`.
    #[serde(rename = "stage")]
    pub(crate) name: &'static str,
    /// Threads that work at it.
    pub(crate) threads: usize,
    /// Time that it works on a frame.
    pub(crate) us_per_frame: f64,
    /// Frames that it could do alone, with its threads.
    pub(crate) frames_per_second: f64,
    /// How much of the time its threads work.
    pub(crate) busy: f64,
}

impl Stage {
    /// `total` is what its threads together took for all frames, `steady` how long the run took.
    fn new(name: &'static str, total: Duration, threads: usize, frames: u64, steady: Duration) -> Self {
        let us = |time: Duration| time.as_secs_f64() * 1e6;
        let (each, us_per_frame) = (threads.max(1) as f64, us(total) / frames.max(1) as f64);
        Self {
            name,
            threads,
            us_per_frame,
            frames_per_second: 1e6 * each / us_per_frame.max(1e-3),
            busy: (us(total) / (us(steady) * each).max(1e-3)).min(1.0),
        }
    }
}

impl fmt::Display for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, stage) in self.all.iter().enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            write!(f, "{comma}{} {:.0}", stage.name, stage.frames_per_second)?;
        }
        write!(f, " {}", self.finding)
    }
}
