//! What each stage of a stream takes, and which of them holds the others up.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mini_image_pipe::profiling::{Kind, Summary};
use serde::Serialize;

/// Time that one thread spends at work, for another to read.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter(Arc<AtomicU64>);

impl Meter {
    /// Does something and adds its time.
    pub(super) fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.0.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }

    pub(super) fn total(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// A stage that is busy for so much of the time holds the others up.
const BUSY: f64 = 0.75;

/// What was measured of a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) frames: u64,
    /// From the first result to the last: without planning and loading.
    pub(super) steady: Duration,
    /// Where one thread reads, and one writes.
    pub(super) read: Option<Duration>,
    pub(super) write: Option<Duration>,
}

/// The stages of a stream, in their order. Keys may be added, never changed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Stages {
    pub(crate) stages: Vec<Stage>,
    /// The stage that the others wait for: `device` is upload, compute and download together where they were not timed.
    /// Nothing when frames wait for each other.
    pub(crate) bottleneck: Option<&'static str>,
}

/// One stage.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Stage {
    /// `read`, `upload`, `compute`, `download` or `write`.
    #[serde(rename = "stage")]
    pub(crate) name: &'static str,
    /// Time that it works on a frame.
    pub(crate) us_per_frame: f64,
    /// Frames that it could do alone.
    pub(crate) frames_per_second: f64,
    /// How much of the time it works.
    pub(crate) busy: f64,
}

impl Stages {
    /// `device` is the profile of the same run, if there is one.
    pub(super) fn new(times: &Times, device: Option<&Summary>) -> Self {
        let steady = times.steady.as_secs_f64() * 1e6;
        let stage = |name: &'static str, total_us: f64| {
            let us_per_frame = total_us / times.frames.max(1) as f64;
            let busy = (total_us / steady.max(1e-3)).min(1.0);
            Stage { name, us_per_frame, frames_per_second: 1e6 / us_per_frame.max(1e-3), busy }
        };
        let us = |time: Duration| time.as_secs_f64() * 1e6;
        let mut stages: Vec<Stage> = times.read.map(|read| stage("read", us(read))).into_iter().collect();
        for kind in [Kind::Upload, Kind::Compute, Kind::Download] {
            let row = device.and_then(|device| device.stages.iter().find(|row| row.kind == kind));
            stages.extend(row.map(|row| stage(kind.name(), row.busy_us)));
        }
        stages.extend(times.write.map(|write| stage("write", us(write))));
        let slowest = stages.iter().max_by(|a, b| a.busy.total_cmp(&b.busy));
        let bottleneck = match slowest {
            Some(slowest) if slowest.busy >= BUSY => Some(slowest.name),
            _ if device.is_none() && times.read.is_some() && times.write.is_some() => Some("device"),
            _ => None,
        };
        Self { stages, bottleneck }
    }
}

impl fmt::Display for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, stage) in self.stages.iter().enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            write!(f, "{comma}{} {:.0}", stage.name, stage.frames_per_second)?;
        }
        match self.bottleneck {
            Some(bottleneck) => write!(f, " frames/s alone; the others wait for: {bottleneck}"),
            None => write!(f, " frames/s alone; frames wait for each other (--frames-in-flight)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(read: u64, write: u64) -> Stages {
        let times = Times {
            frames: 10,
            steady: Duration::from_millis(100),
            read: Some(Duration::from_millis(read)),
            write: Some(Duration::from_millis(write)),
        };
        Stages::new(&times, None)
    }

    #[test]
    fn the_stage_that_is_always_at_work_holds_the_others_up() {
        let found = stages(90, 10);
        assert_eq!((found.bottleneck, found.stages[0].frames_per_second.round()), (Some("read"), 111.0));
        assert_eq!(stages(20, 80).bottleneck, Some("write"));
        let neither = stages(20, 10);
        assert_eq!(neither.bottleneck, Some("device"));
        assert_eq!(neither.to_string(), "read 500, write 1000 frames/s alone; the others wait for: device");
    }

    #[test]
    fn a_meter_adds_up_what_it_times() {
        let meter = Meter::default();
        let other = meter.clone();
        assert_eq!(meter.time(|| 7), 7);
        other.time(|| std::thread::sleep(Duration::from_millis(2)));
        assert!(meter.total() >= Duration::from_millis(2));
    }
}
