//! The stages of a run over files: pictures are read and decoded on some threads, computed, and encoded and written on others.

use std::time::Duration;

use super::{BUSY, Stage, Stages, Step, Watch};

/// What the pipeline does, with the copies to and from its device.
const COMPUTE: &str = "compute";

/// What was measured of a run over files.
#[derive(Debug)]
pub(crate) struct ImageTimes<'a> {
    pub(crate) images: u64,
    /// Of the whole run.
    pub(crate) elapsed: Duration,
    pub(crate) watch: &'a Watch,
    pub(crate) computing: Computing,
    /// Threads that read and decode.
    pub(crate) decoders: usize,
    /// Threads that encode and write.
    pub(crate) encoders: usize,
    /// Whether files are decoded on the cores of this machine.
    pub(crate) decoding_on_cores: bool,
    /// Whether pixels are computed on the cores that decode and encode.
    pub(crate) on_cores: bool,
    /// Cores that there are.
    pub(crate) cores: usize,
}

/// How long executions took: the first one plans and loads as well.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Computing {
    first: Duration,
    first_images: u32,
    others: Duration,
    other_images: u32,
}

impl Computing {
    /// Adds an execution of so many images.
    pub(crate) fn add(&mut self, took: Duration, images: usize) {
        let images = u32::try_from(images).unwrap_or(u32::MAX);
        if self.first_images == 0 {
            (self.first, self.first_images) = (took, images);
        } else {
            self.others += took;
            self.other_images = self.other_images.saturating_add(images);
        }
    }

    /// Images of all executions.
    pub(crate) fn images(&self) -> u64 {
        u64::from(self.first_images) + u64::from(self.other_images)
    }

    /// What the first execution took beyond its share: it happens once.
    fn preparation(&self) -> Duration {
        match self.other_images {
            0 => Duration::ZERO,
            others => self.first.saturating_sub(self.others / others * self.first_images),
        }
    }

    fn total(&self) -> Duration {
        (self.first + self.others).saturating_sub(self.preparation())
    }
}

/// Stages that are done by the same threads one after the other.
struct Lane {
    stages: Vec<Stage>,
    /// Whether its work is done by cores of this machine.
    on_cores: bool,
}

impl Lane {
    fn busy(&self) -> f64 {
        self.stages.iter().map(|stage| stage.busy).sum()
    }

    /// The stage that takes most of its time.
    fn slowest(&self) -> Option<&Stage> {
        self.stages.iter().max_by(|a, b| a.busy.total_cmp(&b.busy))
    }
}

impl Stages {
    /// The stages of a run over files.
    pub(crate) fn of_images(times: &ImageTimes<'_>) -> Self {
        let steady = times.elapsed.saturating_sub(times.computing.preparation());
        let stage = |step: Step, threads: usize| {
            let total = times.watch.total(step);
            let used =
                (!total.is_zero()).then(|| Stage::new(step.name(), total, threads, times.images, steady));
            used.into_iter().collect::<Vec<_>>()
        };
        let pair = |[a, b]: [Step; 2], threads| [stage(a, threads), stage(b, threads)].concat();
        let compute = Stage::new(COMPUTE, times.computing.total(), 1, times.images, steady);
        let lanes = [
            Lane {
                stages: pair([Step::Read, Step::Decode], times.decoders),
                on_cores: times.decoding_on_cores,
            },
            Lane { stages: vec![compute], on_cores: times.on_cores },
            Lane { stages: pair([Step::Encode, Step::Write], times.encoders), on_cores: true },
        ];
        let (bottleneck, finding) = found(&lanes, times.cores);
        let stages = lanes.into_iter().flat_map(|lane| lane.stages).collect();
        Self { all: stages, bottleneck, finding: format!("images/s alone; {finding}") }
    }
}

/// The bottleneck, and the words for it.
fn found(lanes: &[Lane], cores: usize) -> (Option<&'static str>, String) {
    let busiest = lanes.iter().max_by(|a, b| a.busy().total_cmp(&b.busy()));
    if let Some(slowest) = busiest.filter(|lane| lane.busy() >= BUSY).and_then(Lane::slowest) {
        return (Some(slowest.name), format!("the others wait for: {}", slowest.name));
    }
    // No threads are always at work, but all cores may be. What computes on them takes all that it can get.
    let on_cores = lanes.iter().filter(|lane| lane.on_cores).flat_map(|lane| &lane.stages);
    let time = |stage: &&Stage| stage.busy * if stage.name == COMPUTE { cores } else { stage.threads } as f64;
    let all: f64 = on_cores.clone().map(|stage| time(&stage)).sum();
    match on_cores.max_by(|a, b| time(a).total_cmp(&time(b))) {
        Some(most) if all >= BUSY * cores as f64 => {
            (Some(most.name), format!("all cores are at work, most of the time for: {}", most.name))
        }
        _ => (None, "images wait for each other (--batch)".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    /// Ten images in 100 ms on two cores, with two threads to decode and two to encode.
    fn stages(all: [u64; 5], on_cores: bool) -> Stages {
        let watch = Watch::default();
        let [read, decode, compute, encode, write] = all;
        for (step, time) in
            [(Step::Read, read), (Step::Decode, decode), (Step::Encode, encode), (Step::Write, write)]
        {
            watch.add(step, millis(time));
        }
        let mut computing = Computing::default();
        // Planning takes another second.
        computing.add(millis(1000 + compute / 10), 1);
        computing.add(millis(compute * 9 / 10), 9);
        Stages::of_images(&ImageTimes {
            images: 10,
            elapsed: millis(1100),
            watch: &watch,
            computing,
            decoders: 2,
            encoders: 2,
            decoding_on_cores: true,
            on_cores,
            cores: 2,
        })
    }

    #[test]
    fn what_two_stages_of_one_thread_take_together_counts() {
        let found = stages([60, 110, 10, 10, 10], false);
        assert_eq!(found.bottleneck, Some("decode"));
        assert_eq!(
            found.to_string(),
            "read 333, decode 182, compute 1000, encode 2000, write 2000 images/s alone; the others wait for: decode"
        );
        assert_eq!(stages([10, 10, 90, 10, 10], false).bottleneck, Some("compute"), "planning is left out");
        assert_eq!(stages([10, 10, 10, 10, 170], false).bottleneck, Some("write"));
    }

    #[test]
    fn cores_that_stages_share_may_hold_them_all_up() {
        let shared = stages([2, 90, 20, 50, 2], true);
        assert_eq!(shared.bottleneck, Some("decode"));
        assert!(shared.to_string().ends_with("all cores are at work, most of the time for: decode"));
        let idle = stages([2, 20, 20, 20, 2], false);
        assert_eq!(idle.bottleneck, None);
        assert!(idle.to_string().ends_with("images wait for each other (--batch)"), "{idle}");
    }

    #[test]
    fn stages_that_there_are_not_are_left_out() {
        let found = stages([10, 10, 10, 0, 10], false);
        let names: Vec<_> = found.all.iter().map(|stage| stage.name).collect();
        assert_eq!(names, ["read", "decode", "compute", "write"]);
    }
}
