use std::sync::Arc;

use mip_plan::GroupId;

use super::run_state::RunState;
use super::{Bindings, LoadedPlan, RunOutcome, SchedulerStats, outcome};
use crate::device::{Command, DeviceError, Launch};

/// One execution being queued.
///
/// A refused command fails the task it belongs to. Where the refused command was to order others, the host
/// waits in its place: a plan leaves out waits that another implies, so one missing would unorder more than its task.
pub(super) struct Submission {
    loaded: Arc<LoadedPlan>,
    bindings: Arc<Bindings>,
    state: Arc<RunState>,
    counted: SchedulerStats,
    /// By input: the lane it is uploaded on, if it is.
    upload_lanes: Vec<Option<usize>>,
    /// By input and lane: whether the lane already comes after the upload.
    arrived: Vec<Vec<bool>>,
    lanes: Vec<Lane>,
}

/// What was queued on a stream beside launches: copies have no observer, their failure shows when waiting.
#[derive(Debug, Clone, Default)]
struct Lane {
    uploads: Vec<usize>,
    downloads: Vec<usize>,
    error: Option<DeviceError>,
}

impl Submission {
    pub(super) fn new(loaded: Arc<LoadedPlan>, bindings: Bindings, state: Arc<RunState>) -> Self {
        let (inputs, lanes) = (loaded.plan().inputs.len(), loaded.streams.len());
        Self {
            loaded,
            bindings: Arc::new(bindings),
            state,
            counted: SchedulerStats { runs: 1, ..SchedulerStats::default() },
            upload_lanes: vec![None; inputs],
            arrived: vec![vec![false; lanes]; inputs],
            lanes: vec![Lane::default(); lanes],
        }
    }

    fn lane(&self, group: GroupId) -> usize {
        self.loaded.plan().groups[group].lane as usize
    }

    fn submit(&mut self, lane: usize, command: Command) -> Result<(), DeviceError> {
        let counter = match &command {
            Command::Launch(_) => &mut self.counted.launches,
            Command::Record(_) => &mut self.counted.events_recorded,
            Command::Wait(_) => &mut self.counted.waits,
            Command::Upload { .. } => &mut self.counted.uploads,
            Command::Download { .. } => &mut self.counted.downloads,
        };
        self.loaded.streams[lane].submit(command)?;
        *counter += 1;
        self.counted.commands += 1;
        Ok(())
    }

    /// The host waits where a refused command would have made a stream wait.
    fn wait_on_host(&mut self, lane: usize) {
        if let Err(error) = self.loaded.streams[lane].synchronize() {
            self.lanes[lane].error.get_or_insert(error);
        }
    }

    /// Copies each input on the lane that reads it first.
    pub(super) fn upload_inputs(&mut self) {
        let bindings = self.bindings.clone();
        for upload in &bindings.uploads {
            let plan = self.loaded.plan().clone();
            let Some(input) = self.loaded.input_of(upload.buffer) else { continue };
            let Some(&first) = plan.buffers[upload.buffer].consumers.first() else { continue };
            let lane = self.lane(first);
            self.upload_lanes[input] = Some(lane);
            self.arrived[input][lane] = true;
            let to = self.bindings.buffers[upload.buffer].clone();
            if let Err(error) = self.submit(lane, Command::Upload { from: upload.from.clone(), to }) {
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
    pub(super) fn wait_for_inputs(&mut self, group: GroupId) {
        let lane = self.lane(group);
        for buffer in self.loaded.plan().groups[group].reads() {
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
    pub(super) fn wait_for_groups(&mut self, group: GroupId) {
        let plan = self.loaded.plan().clone();
        for on in plan.waits_of(group) {
            let Some(event) = self.loaded.events[on].clone() else { continue };
            if let Err(error) = self.submit(self.lane(group), Command::Wait(event)) {
                self.state.fail(group, error);
                self.wait_on_host(self.lane(on));
            }
        }
    }

    pub(super) fn launch(&mut self, group: GroupId) {
        let planned = &self.loaded.plan().groups[group];
        let buffer = |id: usize| self.bindings.buffers[id].clone();
        let workspace =
            planned.workspace.and_then(|w| Some((self.bindings.arena.clone()?, w.offset, w.bytes)));
        let launch = Launch {
            executable: self.loaded.executables[group].clone(),
            group,
            inputs: planned.reads().into_iter().map(buffer).collect(),
            outputs: planned.writes().into_iter().map(buffer).collect(),
            workspace,
            uniforms: self.bindings.uniforms[group].clone(),
            observer: self.state.clone(),
        };
        if let Err(error) = self.submit(planned.lane as usize, Command::Launch(launch)) {
            self.state.fail(group, error);
        }
    }

    /// Records the group's event, if anybody waits for it; also after a failure, for what came before it.
    pub(super) fn record(&mut self, group: GroupId) {
        let Some(event) = self.loaded.events[group].clone() else { return };
        let lane = self.lane(group);
        if let Err(error) = self.submit(lane, Command::Record(event)) {
            self.state.fail(group, error);
            self.wait_on_host(lane);
        }
    }

    pub(super) fn download_outputs(&mut self, group: GroupId) {
        let lane = self.lane(group);
        let bindings = self.bindings.clone();
        for download in &bindings.downloads {
            if self.loaded.plan().buffers[download.buffer].producer != Some(group) {
                continue;
            }
            let from = self.bindings.buffers[download.buffer].clone();
            match self.submit(lane, Command::Download { from, to: download.to.clone() }) {
                Ok(()) => self.lanes[lane].downloads.push(download.buffer),
                Err(error) => self.state.fail_download(download.buffer, error),
            }
        }
    }

    pub(super) fn finish(self) -> (PendingRun, SchedulerStats) {
        let Self { loaded, bindings, state, lanes, counted, .. } = self;
        (PendingRun { state, lanes, loaded, _bindings: bindings, joined: false }, counted)
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
        for (index, (stream, lane)) in self.loaded.streams.iter().zip(&mut self.lanes).enumerate() {
            let waited = stream.synchronize();
            if let Some(error) = lane.error.take().or(waited.err()) {
                Self::attribute(&self.state, index, lane, &error);
            }
        }
        self.state.fail_unreported();
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
