//! Graph replay on a device that refuses: what is counted, what is reported, and that results stay right.
//!
//! Devices refuse seldom. Here the device to be validated is wrapped in one that refuses when it is told to, so that the
//! streams, kernels and memory behind it are the real ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mini_image_pipe::{Device as AnyDevice, Pipeline, PipelineConfig};
use mip_core::{BatchLayout, ImageBuffer};
use mip_graph::{PipelineSpec, PlanRequest};
use mip_plan::{Group, Plan};
use mip_runtime::device::{
    Device, DeviceError, DeviceInfo, Event, Executable, Graph, Launch, Memory, Ranges, Recording, Space,
    Stream,
};
use mip_runtime::{DirtyReason, GraphStats, RunRequest, Session, SessionOptions};

use super::modes::{DIAMOND, Results, all_same, results, test_image, text};
use super::operators::same;
use super::{Outcome, Pending, Request, counters, if_replayed};

pub(super) fn checks(_: &Request) -> Vec<Pending> {
    let check = |name: &str, run: fn(&Request) -> Result<(), String>| -> Pending {
        (name.to_owned(), Box::new(move |request| if_replayed(request, |r| Outcome::one(run(r)))))
    };
    vec![
        check("tasks that read others: captured anew", dependencies),
        check("no capture, no replay: direct, and why", refused_capture),
        check("a refused replay, then a new capture", refused_replay),
    ]
}

/// What a device refuses.
#[derive(Debug, Default)]
struct Refusals {
    capture: AtomicBool,
    replay: AtomicBool,
}

/// Refuses to capture or to replay; everything else is the other device's.
#[derive(Debug)]
struct Reluctant {
    other: Arc<dyn Device>,
    info: DeviceInfo,
    refusals: Arc<Refusals>,
}

#[derive(Debug)]
struct ReluctantGraph {
    other: Arc<dyn Graph>,
    refusals: Arc<Refusals>,
}

const REFUSED: &str = "refused for validation";

fn refuse(flag: &AtomicBool) -> Result<(), DeviceError> {
    let refused = flag.load(Ordering::Relaxed);
    if refused { Err(DeviceError::Unsupported(REFUSED.to_owned())) } else { Ok(()) }
}

impl Graph for ReluctantGraph {
    fn replay(&self, launches: Vec<Launch>) -> Result<(), DeviceError> {
        refuse(&self.refusals.replay)?;
        self.other.replay(launches)
    }
}

impl Device for Reluctant {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn create_stream(&self, label: &str) -> Result<Arc<dyn Stream>, DeviceError> {
        self.other.create_stream(label)
    }

    fn create_event(&self) -> Result<Arc<dyn Event>, DeviceError> {
        self.other.create_event()
    }

    fn allocate(&self, space: Space, bytes: usize) -> Result<Arc<dyn Memory>, DeviceError> {
        self.other.allocate(space, bytes)
    }

    fn workspace_bytes(&self, group: &Group, layouts: &[BatchLayout]) -> usize {
        self.other.workspace_bytes(group, layouts)
    }

    fn fuses_horizontally(&self) -> bool {
        self.other.fuses_horizontally()
    }

    fn load(&self, plan: &Plan, group: usize) -> Result<Arc<dyn Executable>, DeviceError> {
        self.other.load(plan, group)
    }

    fn load_threads(&self) -> usize {
        self.other.load_threads()
    }

    fn capture(&self, recording: Recording) -> Result<Arc<dyn Graph>, DeviceError> {
        refuse(&self.refusals.capture)?;
        let (other, refusals) = (self.other.capture(recording)?, self.refusals.clone());
        Ok(Arc::new(ReluctantGraph { other, refusals }))
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.other.synchronize()
    }

    fn ranges(&self) -> Option<Arc<dyn Ranges>> {
        self.other.ranges()
    }

    fn stream_ordered_reserved(&self) -> usize {
        self.other.stream_ordered_reserved()
    }

    fn trim_stream_ordered(&self) -> usize {
        self.other.trim_stream_ordered()
    }
}

/// A replayed diamond on a reluctant device, the images it is given, and what it should make of them.
struct Bench {
    pipeline: Pipeline,
    refusals: Arc<Refusals>,
    expected: Results,
}

impl Bench {
    /// `replays` is what the device says of itself.
    fn new(request: &Request, replays: Result<(), String>) -> Result<Self, String> {
        let other = request.device.open().map_err(text)?;
        let info = DeviceInfo { graph_replay: replays, ..other.info().clone() };
        let refusals = Arc::<Refusals>::default();
        let device = Arc::new(Reluctant { other, info, refusals: refusals.clone() });
        let spec = PipelineSpec::parse_line(DIAMOND).map_err(text)?;
        let made = |device, replay| {
            let config = PipelineConfig {
                device,
                enable_graph_replay: replay,
                fuse: false,
                poison: true,
                ..PipelineConfig::default()
            };
            let mut pipeline = Pipeline::from_spec(&spec, config).map_err(text)?;
            pipeline.set_named_input("input", &test_image(193, 109, request.seed)).map_err(text)?;
            Ok::<_, String>(pipeline)
        };
        let mut truth = made(AnyDevice::cpu(), false)?;
        truth.execute().map_err(text)?;
        Ok(Self {
            pipeline: made(AnyDevice::from_runtime(device), true)?,
            refusals,
            expected: results(&truth),
        })
    }

    /// Executes so often, and compares each time.
    fn run(&mut self, times: usize) -> Result<(), String> {
        for _ in 0..times {
            self.pipeline.execute().map_err(text)?;
            all_same(&results(&self.pipeline), &self.expected)?;
        }
        Ok(())
    }

    fn counted(&self, expected: &GraphStats) -> Result<(), String> {
        let stats = self.pipeline.scheduler().graph_stats();
        if stats == *expected {
            Ok(())
        } else {
            Err(format!("counted {} instead of {}", counters(&stats), counters(expected)))
        }
    }
}

/// A device that cannot replay says so in the report; one that refuses a capture is asked again the next time.
fn refused_capture(request: &Request) -> Result<(), String> {
    let mut never = Bench::new(request, Err(REFUSED.to_owned()))?;
    never.run(3)?;
    let reason = Some(REFUSED.to_owned());
    never.counted(&GraphStats { direct_runs: 3, reason, ..GraphStats::default() })?;
    let mut bench = Bench::new(request, Ok(()))?;
    bench.refusals.capture.store(true, Ordering::Relaxed);
    bench.run(2)?;
    bench.refusals.capture.store(false, Ordering::Relaxed);
    bench.run(3)?;
    let stats = bench.pipeline.scheduler().graph_stats();
    let reason = stats.reason.clone().unwrap_or_default();
    if !reason.contains(REFUSED) {
        return Err(format!("the reason is '{reason}'"));
    }
    bench.counted(&GraphStats {
        captures: 1,
        replays: 2,
        direct_runs: 2,
        failed_captures: 2,
        reason: stats.reason,
        ..GraphStats::default()
    })
}

/// The run that is refused fails as a whole, with the reason; the next one captures.
fn refused_replay(request: &Request) -> Result<(), String> {
    let mut bench = Bench::new(request, Ok(()))?;
    bench.run(2)?;
    bench.refusals.replay.store(true, Ordering::Relaxed);
    match bench.pipeline.execute() {
        Err(error) if error.to_string().contains(REFUSED) => {}
        Err(error) => return Err(format!("another error: {error}")),
        Ok(_) => return Err("a run that the device refused was said to have succeeded".to_owned()),
    }
    if bench.pipeline.outputs().any(|(_, images)| !images.is_empty()) {
        return Err("a run that the device refused has results".to_owned());
    }
    bench.refusals.replay.store(false, Ordering::Relaxed);
    bench.run(3)?;
    let stats = bench.pipeline.scheduler().graph_stats();
    bench.counted(&GraphStats {
        captures: 2,
        replays: 4,
        invalidations: [(DirtyReason::ReplayRefused, 1)].into(),
        reason: stats.reason,
        ..GraphStats::default()
    })
}

/// The same tasks with other edges between them. A pipeline's own edges never change, so these are two sessions that
/// share a scheduler, as plans of one program may.
fn dependencies(request: &Request) -> Result<(), String> {
    const BEFORE: &str = "outputs=first,second ! first:flip ! second:flip direction=vertical inputs=@input";
    const AFTER: &str = "outputs=first,second ! first:flip ! second:flip direction=vertical inputs=first";
    let device = request.device.open().map_err(text)?;
    let image = test_image(131, 77, request.seed);
    let manager = Pipeline::new(super::scenarios::config(request)).memory().map_err(text)?;
    let options = SessionOptions { poison: true, replay: true, ..SessionOptions::default() };
    let mut sessions = Vec::new();
    for line in [BEFORE, AFTER] {
        let graph = PipelineSpec::parse_line(line).and_then(|spec| spec.build()).map_err(text)?;
        let inputs = [*image.desc()];
        let request = PlanRequest {
            fuse: false,
            workspace: &|group, layouts| device.workspace_bytes(group, layouts),
            ..PlanRequest::new(&inputs)
        };
        let plan = Arc::new(mip_graph::plan(&graph, &request).map_err(text)?);
        let session = Session::new(device.clone(), manager.clone(), plan, options.clone()).map_err(text)?;
        let mut truth = Pipeline::from_graph(graph, PipelineConfig::default());
        truth.set_named_input("input", &image).map_err(text)?;
        truth.execute().map_err(text)?;
        let expected: Vec<ImageBuffer> = truth.outputs().map(|(_, images)| images[0].clone()).collect();
        sessions.push((session, expected));
    }
    for (session, expected) in &sessions {
        for _ in 0..3 {
            let report = session.execute(RunRequest::new(vec![image.clone()])).map_err(text)?;
            if let Some(error) = report.error {
                return Err(error.to_string());
            }
            for (actual, expected) in report.outputs.iter().zip(expected) {
                same(actual.as_ref().ok_or("an output is missing")?, expected)?;
            }
        }
    }
    let stats = options.scheduler.graph_stats();
    let expected = GraphStats {
        captures: 2,
        replays: 3,
        direct_runs: 1,
        invalidations: [(DirtyReason::Dependencies, 1)].into(),
        ..GraphStats::default()
    };
    if stats == expected { Ok(()) } else { Err(format!("counted {}", counters(&stats))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            device: AnyDevice::cpu(),
            full: false,
            small: true,
            only: String::new(),
            skip: None,
            repeat: 2,
            graphs: 1,
            seed: 1,
            jobs: 1,
        }
    }

    #[test]
    fn refusals_are_counted_and_reported_on_the_cpu() {
        for (name, check) in checks(&request()) {
            let outcome = check(&request());
            assert_eq!((outcome.cases, outcome.failures), (1, Vec::new()), "{name}");
        }
    }

    /// Where each reason to capture anew is provoked. A new one does not compile here until it has a place.
    const fn check_of(reason: DirtyReason) -> &'static str {
        match reason {
            DirtyReason::TaskCount
            | DirtyReason::Topology
            | DirtyReason::Shapes
            | DirtyReason::Formats
            | DirtyReason::Kernels
            | DirtyReason::Strides
            | DirtyReason::MemoryAddresses => "each change has its reason, then a new capture",
            DirtyReason::Dependencies => "tasks that read others: captured anew",
            DirtyReason::OperatorRequest => "an operator that asks for a new capture",
            DirtyReason::ReplayRefused => "a refused replay, then a new capture",
        }
    }

    #[test]
    fn every_reason_to_capture_anew_has_a_check() {
        let request = request();
        let all = [
            super::super::engine::checks(&request),
            super::super::custom::checks(&request),
            checks(&request),
        ];
        let names: Vec<String> = all.into_iter().flatten().map(|(name, _)| name).collect();
        let listed = super::super::engine::CHANGES.map(|(_, reason, _)| reason);
        let others = [DirtyReason::Dependencies, DirtyReason::OperatorRequest, DirtyReason::ReplayRefused];
        for reason in listed.into_iter().chain(others) {
            assert!(names.iter().any(|name| name == check_of(reason)), "{reason:?}");
        }
        let own = listed.iter().filter(|reason| check_of(**reason) == check_of(DirtyReason::Shapes));
        assert_eq!(own.count(), 7, "those that the check names, once each");
    }
}
