//! The stages of a stream of frames.

use std::time::Duration;

use mini_image_pipe::profiling::{Kind, Summary};

use super::{BUSY, Stage, Stages};

/// What was measured of a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamTimes {
    pub(crate) frames: u64,
    /// From the first result to the last: without planning and loading.
    pub(crate) steady: Duration,
    /// Where one thread reads, and one writes.
    pub(crate) read: Option<Duration>,
    pub(crate) write: Option<Duration>,
}

impl Stages {
    /// `device` is the profile of the same run, if there is one.
    pub(crate) fn of_stream(times: &StreamTimes, device: Option<&Summary>) -> Self {
        let stage = |name, total| Stage::new(name, total, 1, times.frames, times.steady);
        let mut stages: Vec<Stage> = times.read.map(|read| stage("read", read)).into_iter().collect();
        for kind in [Kind::Upload, Kind::Compute, Kind::Download] {
            let row = device.and_then(|device| device.stages.iter().find(|row| row.kind == kind));
            stages.extend(
                row.map(|row| stage(kind.name(), Duration::from_secs_f64(row.busy_us.max(0.0) / 1e6))),
            );
        }
        stages.extend(times.write.map(|write| stage("write", write)));
        let slowest = stages.iter().max_by(|a, b| a.busy.total_cmp(&b.busy));
        let bottleneck = match slowest {
            Some(slowest) if slowest.busy >= BUSY => Some(slowest.name),
            _ if device.is_none() && times.read.is_some() && times.write.is_some() => Some("device"),
            _ => None,
        };
        let finding = match bottleneck {
            Some(bottleneck) => format!("frames/s alone; the others wait for: {bottleneck}"),
            None => "frames/s alone; frames wait for each other (--frames-in-flight)".to_owned(),
        };
        Self { all: stages, bottleneck, finding }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(read: u64, write: u64) -> Stages {
        let times = StreamTimes {
            frames: 10,
            steady: Duration::from_millis(100),
            read: Some(Duration::from_millis(read)),
            write: Some(Duration::from_millis(write)),
        };
        Stages::of_stream(&times, None)
    }

    #[test]
    fn the_stage_that_is_always_at_work_holds_the_others_up() {
        let found = stages(90, 10);
        assert_eq!((found.bottleneck, found.all[0].frames_per_second.round()), (Some("read"), 111.0));
        assert_eq!(stages(20, 80).bottleneck, Some("write"));
        let neither = stages(20, 10);
        assert_eq!(neither.bottleneck, Some("device"));
        assert_eq!(neither.to_string(), "read 500, write 1000 frames/s alone; the others wait for: device");
    }
}
