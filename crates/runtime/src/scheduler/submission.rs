use std::sync::Arc;

use mip_plan::GroupId;

use super::run_state::RunState;
use super::{Bindings, LoadedPlan, RunOutcome, SchedulerStats, outcome};
use crate::device::{Command, DeviceError, Launch};
use crate::profiling::{Kind, RunProbe, Timed};

/// One execution being queued.
///
/// A refused command fails the task it belongs to. Where the refused command was to order others, the host
/// waits in its place: a plan leaves out waits that another implies, so one missing would unorder more than its task.
pub(super) struct Submission {
    pub(super) loaded: Arc<LoadedPlan>,
    pub(super) bindings: Arc<Bindings>,
    pub(super) state: Arc<RunState>,
    pub(super) counted: SchedulerStats,
    /// By input: the lane it is uploaded on, if it is.
    upload_lanes: Vec<Option<usize>>,
    /// By input and lane: whether the lane already comes after the upload.
    arrived: Vec<Vec<bool>>,
    pub(super) lanes: Vec<Lane>,
    pub(super) profile: RunProbe,
}

/// What was queued on a stream beside launches: copies have no observer, their failure shows when waiting.
#[derive(Debug, Clone, Default)]
pub(super) struct Lane {
    pub(super) uploads: Vec<usize>,
    downloads: Vec<usize>,
    error: Option<DeviceError>,
}

impl Submission {
    pub(super) fn new(
        loaded: Arc<LoadedPlan>,
        bindings: Bindings,
        state: Arc<RunState>,
        profile: RunProbe,
    ) -> Self {
        let (inputs, lanes) = (loaded.plan().inputs.len(), loaded.streams.len());
        Self {
            loaded,
            bindings: Arc::new(bindings),
            state,
            counted: SchedulerStats { runs: 1, ..SchedulerStats::default() },
            upload_lanes: vec![None; inputs],
            arrived: vec![vec![false; lanes]; inputs],
            lanes: vec![Lane::default(); lanes],
            profile,
        }
    }

    fn lane(&self, group: GroupId) -> usize {
        self.loaded.plan().groups[group].lane as usize
    }

    pub(super) fn submit(&mut self, lane: usize, command: Command) -> Result<(), DeviceError> {
        let counter = match &command {
            Command::Launch(_) => &mut self.counted.launches,
            Command::Record(_) => &mut self.counted.events_recorded,
            Command::Wait(_) => &mut self.counted.waits,
            Command::Upload { .. } => &mut self.counted.uploads,
            Command::Download { .. } => &mut self.counted.downloads,
            Command::Free(_) => &mut self.counted.frees,
            Command::Timestamp(_) => &mut self.counted.timestamps,
        };
        self.loaded.streams[lane].submit(command)?;
        *counter += 1;
        self.counted.commands += 1;
        Ok(())
    }

    /// Queues something, between two timestamps where the run is profiled.
    #[inline]
    pub(super) fn timed(
        &mut self,
        what: Timed,
        lane: usize,
        queue: impl FnOnce(&mut Self) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        if self.profile.is_recording() { self.between_timestamps(what, lane, queue) } else { queue(self) }
    }

    #[cold]
    fn between_timestamps(
        &mut self,
        what: Timed,
        lane: usize,
        queue: impl FnOnce(&mut Self) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let Some(timed) = self.profile.begin(&self.loaded, lane, what) else { return queue(self) };
        let [begin, end] = timed.timestamps();
        // Where a timestamp is refused, a span is missing in the profile, no more.
        let _refused = self.submit(lane, begin);
        let span = timed.host_span();
        let queued = queue(self);
        span.end();
        let _refused = self.submit(lane, end);
        self.profile.end(timed);
        queued
    }

    /// The host waits where a refused command would have made a stream wait.
    pub(super) fn wait_on_host(&mut self, lane: usize) {
        if let Err(error) = self.loaded.streams[lane].synchronize() {
            self.lanes[lane].error.get_or_insert(error);
        }
    }

    /// Queues everything, group by group.
    pub(super) fn run(&mut self) {
        self.fork_for_ordered_memory();
        self.upload_inputs();
        self.run_groups();
        self.join_and_free();
    }

    /// Lets no lane touch stream-ordered memory before the first lane, which it was allocated on, has it.
    fn fork_for_ordered_memory(&mut self) {
        let bindings = self.bindings.clone();
        let Some(fork) = bindings.ordered.as_ref().and_then(|ordered| ordered.fork.clone()) else { return };
        let recorded = self.submit(0, Command::Record(fork.clone()));
        let waits = (1..self.lanes.len()).map(|lane| self.submit(lane, Command::Wait(fork.clone())));
        if recorded.is_err() | waits.fold(false, |failed, wait| failed | wait.is_err()) {
            self.wait_on_host(0);
        }
    }

    /// Gives stream-ordered memory back on the first lane, behind all that the others do.
    pub(super) fn join_and_free(&mut self) {
        let bindings = self.bindings.clone();
        let Some(ordered) = &bindings.ordered else { return };
        for (lane, join) in (1..).zip(&ordered.joins) {
            let recorded = self.submit(lane, Command::Record(join.clone()));
            if recorded.and_then(|()| self.submit(0, Command::Wait(join.clone()))).is_err() {
                self.wait_on_host(lane);
            }
        }
        self.free();
    }

    /// Queues the stream-ordered frees. Memory whose free is refused goes back when its last handle is dropped.
    pub(super) fn free(&mut self) {
        let bindings = self.bindings.clone();
        for memory in bindings.ordered.iter().flat_map(|ordered| &ordered.frees) {
            let _refused = self.submit(0, Command::Free(memory.clone()));
        }
    }

    /// Queues everything but the uploads.
    pub(super) fn run_groups(&mut self) {
        for group in 0..self.loaded.plan().groups.len() {
            self.insert_synchronization(group);
            self.launch(group);
            self.record(group);
            self.download_outputs(group);
        }
    }

    /// Makes a group's lane wait for everything on other lanes that the group needs and no earlier wait implies.
    fn insert_synchronization(&mut self, group: GroupId) {
        self.wait_for_inputs(group);
        self.wait_for_groups(group);
    }

    /// Copies each input on the lane that reads it first.
    fn upload_inputs(&mut self) {
        let bindings = self.bindings.clone();
        for upload in &bindings.uploads {
            let plan = self.loaded.plan().clone();
            let Some(input) = self.loaded.input_of(upload.buffer) else { continue };
            let Some(&first) = plan.buffers[upload.buffer].consumers.first() else { continue };
            let lane = self.lane(first);
            self.upload_lanes[input] = Some(lane);
            self.arrived[input][lane] = true;
            let to = self.bindings.buffers[upload.buffer].clone();
            let upload = Command::Upload { from: upload.from.clone(), to };
            if let Err(error) = self.timed(Timed::Upload(input), lane, |run| run.submit(lane, upload)) {
                self.state.fail_input(input, &error);
                continue;
            }
            self.lanes[lane].uploads.push(input);
            let Some(event) = self.loaded.upload_events[input].clone() else { continue };
            if let Err(error) = self.submit(lane, Command::Record(event)) {
                self.state.fail_input(input, &error);
                self.wait_on_host(lane);
            }
        }
    }

    /// Waits for uploads made on other lanes.
    fn wait_for_inputs(&mut self, group: GroupId) {
        let (lane, loaded) = (self.lane(group), self.loaded.clone());
        for &buffer in loaded.reads(group) {
            let Some(input) = self.loaded.input_of(buffer) else { continue };
            if self.upload_lanes[input].is_none() || self.arrived[input][lane] {
                continue;
            }
            let Some(event) = self.loaded.upload_events[input].clone() else { continue };
            self.arrived[input][lane] = true;
            if let Err(error) = self.submit(lane, Command::Wait(event)) {
                self.state.fail(group, error);
                self.wait_on_host(self.upload_lanes[input].expect("checked above"));
            }
        }
    }

    /// Waits for groups on other lanes, as planned.
    fn wait_for_groups(&mut self, group: GroupId) {
        let plan = self.loaded.plan().clone();
        for on in plan.waits_of(group) {
            let Some(event) = self.loaded.events[on].clone() else { continue };
            if let Err(error) = self.submit(self.lane(group), Command::Wait(event)) {
                self.state.fail(group, error);
                self.wait_on_host(self.lane(on));
            }
        }
    }

    /// The launch of a group with this run's memory and uniforms.
    pub(super) fn launch_of(&self, group: GroupId) -> Launch {
        let planned = &self.loaded.plan().groups[group];
        let buffer = |&id: &usize| self.bindings.buffers[id].clone();
        let workspace =
            planned.workspace.and_then(|w| Some((self.bindings.arena.clone()?, w.offset, w.bytes)));
        Launch {
            executable: self.loaded.executables[group].clone(),
            group,
            inputs: self.loaded.reads(group).iter().map(buffer).collect(),
            outputs: self.loaded.writes(group).iter().map(buffer).collect(),
            workspace,
            uniforms: self.bindings.uniforms[group].clone(),
            observer: self.state.clone(),
        }
    }

    fn launch(&mut self, group: GroupId) {
        let launch = self.launch_of(group);
        let lane = self.lane(group);
        let queue = |run: &mut Self| run.submit(lane, Command::Launch(launch));
        if let Err(error) = self.timed(Timed::Group(group), lane, queue) {
            self.state.fail(group, error);
        }
    }

    /// Records the group's event, if anybody waits for it; also after a failure, for what came before it.
    fn record(&mut self, group: GroupId) {
        let Some(event) = self.loaded.events[group].clone() else { return };
        let lane = self.lane(group);
        if let Err(error) = self.submit(lane, Command::Record(event)) {
            self.state.fail(group, error);
            self.wait_on_host(lane);
        }
    }

    fn download_outputs(&mut self, group: GroupId) {
        if self.state.is_known_to_fail(group) {
            return; // There is nothing to copy.
        }
        let of_group =
            |loaded: &LoadedPlan, buffer: usize| loaded.plan().buffers[buffer].producer == Some(group);
        self.download(self.lane(group), of_group);
    }

    /// Queues the copies of the chosen outputs.
    pub(super) fn download(&mut self, lane: usize, chosen: impl Fn(&LoadedPlan, usize) -> bool) {
        let bindings = self.bindings.clone();
        for download in &bindings.downloads {
            if !chosen(&self.loaded, download.buffer) {
                continue;
            }
            let from = self.bindings.buffers[download.buffer].clone();
            let copy = Command::Download { from, to: download.to.clone() };
            match self.timed(Timed::Download(download.buffer), lane, |run| run.submit(lane, copy)) {
                Ok(()) => self.lanes[lane].downloads.push(download.buffer),
                Err(error) => self.state.fail_download(download.buffer, error),
            }
        }
    }

    pub(super) fn finish(self) -> (PendingRun, SchedulerStats) {
        let Self { loaded, bindings, state, lanes, counted, profile, .. } = self;
        (PendingRun { state, lanes, loaded, _bindings: bindings, profile, joined: false }, counted)
    }
}

/// An execution that has been queued. Dropping it waits for it.
#[derive(Debug)]
pub struct PendingRun {
    state: Arc<RunState>,
    lanes: Vec<Lane>,
    // Devices may let go of a command once the hardware has it, so the run itself keeps executables, events and
    // memory until it has ended.
    loaded: Arc<LoadedPlan>,
    _bindings: Arc<Bindings>,
    profile: RunProbe,
    joined: bool,
}

impl PendingRun {
    /// Waits for every lane, then says what became of every task.
    pub fn join(mut self) -> RunOutcome {
        self.wait();
        outcome::of(&self.state)
    }

    fn wait(&mut self) {
        self.joined = true;
        let span = self.profile.span(Kind::Wait, "");
        // All lanes first: on a lost device one of them may know the launch that did it, and what suffers with a lane
        // must not hide that.
        let waited: Vec<_> = self.loaded.streams.iter().map(|stream| stream.synchronize()).collect();
        for (index, (waited, lane)) in waited.into_iter().zip(&mut self.lanes).enumerate() {
            if let Some(error) = lane.error.take().or(waited.err()) {
                Self::attribute(&self.state, index, lane, &error);
            }
        }
        self.state.fail_unreported();
        span.end();
        self.profile.finish(|group| self.state.has_run(group));
    }

    /// A stream reports failures of commands without an observer. Which one it was, it does not say: everything
    /// it may have been counts as failed.
    fn attribute(state: &RunState, index: usize, lane: &Lane, error: &DeviceError) {
        let copies = !lane.uploads.is_empty() || !lane.downloads.is_empty();
        if matches!(error, DeviceError::Lost(_)) || !copies {
            state.fail_lane(index, error);
        }
        for &input in &lane.uploads {
            state.fail_input(input, error);
        }
        for &buffer in &lane.downloads {
            state.fail_download(buffer, error.clone());
        }
    }
}

impl Drop for PendingRun {
    fn drop(&mut self) {
        if !self.joined {
            self.wait();
        }
    }
}
