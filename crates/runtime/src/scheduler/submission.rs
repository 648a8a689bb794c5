use std::sync::Arc;

use mip_plan::GroupId;

use super::run_state::RunState;
use super::{Bindings, LoadedPlan, SchedulerReport, SchedulerStats, outcome};
use crate::device::{Command, DeviceError, Event, Launch};
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
    /// By input: the stream it is uploaded on, if it is.
    upload_streams: Vec<Option<usize>>,
    /// By input and stream: whether the stream already comes after the upload.
    arrived: Vec<Vec<bool>>,
    pub(super) streams: Vec<StreamState>,
    /// Whether [`super::Ordered::done`], if there is one, says when the run has ended.
    done_is_recorded: bool,
    pub(super) profile: RunProbe,
}

/// What was queued on a stream beside launches: copies have no observer, their failure shows when waiting.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamState {
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
        let (inputs, streams) = (loaded.plan().inputs.len(), loaded.streams.len());
        Self {
            loaded,
            bindings: Arc::new(bindings),
            state,
            counted: SchedulerStats { runs: 1, ..SchedulerStats::default() },
            upload_streams: vec![None; inputs],
            arrived: vec![vec![false; streams]; inputs],
            streams: vec![StreamState::default(); streams],
            done_is_recorded: streams > 0,
            profile,
        }
    }

    fn stream(&self, group: GroupId) -> usize {
        self.loaded.plan().groups[group].stream as usize
    }

    pub(super) fn submit(&mut self, stream: usize, command: Command) -> Result<(), DeviceError> {
        let counter = match &command {
            Command::Launch(_) => &mut self.counted.launches,
            Command::Record(_) => &mut self.counted.events_recorded,
            Command::Wait(_) => &mut self.counted.waits,
            Command::Upload { .. } => &mut self.counted.uploads,
            Command::Download { .. } => &mut self.counted.downloads,
            Command::Free(_) => &mut self.counted.frees,
            Command::Timestamp(_) => &mut self.counted.timestamps,
        };
        self.loaded.streams[stream].submit(command)?;
        *counter += 1;
        self.counted.commands += 1;
        Ok(())
    }

    /// Queues something, between two timestamps where the run is profiled.
    #[inline]
    pub(super) fn timed(
        &mut self,
        what: Timed,
        stream: usize,
        queue: impl FnOnce(&mut Self) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        if self.profile.is_recording() { self.between_timestamps(what, stream, queue) } else { queue(self) }
    }

    #[cold]
    fn between_timestamps(
        &mut self,
        what: Timed,
        stream: usize,
        queue: impl FnOnce(&mut Self) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let Some(timed) = self.profile.begin(&self.loaded, stream, what) else { return queue(self) };
        let [begin, end] = timed.timestamps();
        // Where a timestamp is refused, a span is missing in the profile, no more.
        let _refused = self.submit(stream, begin);
        let span = timed.host_span();
        let queued = queue(self);
        span.end();
        let _refused = self.submit(stream, end);
        self.profile.end(timed);
        queued
    }

    /// The host waits where a refused command would have made a stream wait.
    pub(super) fn wait_on_host(&mut self, stream: usize) {
        if let Err(error) = self.loaded.streams[stream].synchronize() {
            self.streams[stream].error.get_or_insert(error);
        }
    }

    /// Queues everything, group by group.
    pub(super) fn run(&mut self) {
        self.wait_for_others();
        self.fork();
        self.upload_inputs();
        self.run_groups();
        self.join_and_free();
    }

    /// Lets nothing begin before what the run comes after. Where the device refuses a wait, the host waits.
    pub(super) fn wait_for_others(&mut self) {
        let bindings = self.bindings.clone();
        for event in bindings.ordered.iter().flat_map(|ordered| &ordered.after) {
            if self.streams.is_empty() || self.submit(0, Command::Wait(event.clone())).is_ok() {
                continue;
            }
            if let Err(error) = event.synchronize() {
                self.streams[0].error.get_or_insert(error);
            }
        }
    }

    /// Lets no stream begin before the first one, on which stream-ordered memory was allocated, gets here.
    fn fork(&mut self) {
        let bindings = self.bindings.clone();
        let Some(fork) = bindings.ordered.as_ref().and_then(|ordered| ordered.fork.clone()) else { return };
        let recorded = self.submit(0, Command::Record(fork.clone()));
        let waits = (1..self.streams.len()).map(|stream| self.submit(stream, Command::Wait(fork.clone())));
        if recorded.is_err() | waits.fold(false, |failed, wait| failed | wait.is_err()) {
            self.wait_on_host(0);
        }
    }

    /// Gives stream-ordered memory back on the first stream, behind all that the others do.
    pub(super) fn join_and_free(&mut self) {
        let bindings = self.bindings.clone();
        let Some(ordered) = &bindings.ordered else { return };
        for (stream, join) in (1..).zip(&ordered.joins) {
            let recorded = self.submit(stream, Command::Record(join.clone()));
            if recorded.and_then(|()| self.submit(0, Command::Wait(join.clone()))).is_err() {
                self.wait_on_host(stream);
            }
        }
        self.free();
        self.record_done();
    }

    /// Records that everything has ended, on the first stream, which comes after all others. Where the device refuses, the
    /// host waits: then nothing is left that the event could be taken to say too early.
    pub(super) fn record_done(&mut self) {
        let bindings = self.bindings.clone();
        let Some(done) = bindings.ordered.as_ref().and_then(|ordered| ordered.done.clone()) else { return };
        if !self.streams.is_empty() && self.submit(0, Command::Record(done)).is_err() {
            (0..self.streams.len()).for_each(|stream| self.wait_on_host(stream));
            self.done_is_recorded = false;
        }
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

    /// Makes a group's stream wait for everything on other streams that the group needs and no earlier wait
    /// implies.
    fn insert_synchronization(&mut self, group: GroupId) {
        self.wait_for_inputs(group);
        self.wait_for_groups(group);
    }

    /// Copies each input on the stream that reads it first.
    fn upload_inputs(&mut self) {
        let bindings = self.bindings.clone();
        for upload in &bindings.uploads {
            let plan = self.loaded.plan().clone();
            let Some(input) = self.loaded.input_of(upload.buffer) else { continue };
            let Some(&first) = plan.buffers[upload.buffer].consumers.first() else { continue };
            let stream = self.stream(first);
            self.upload_streams[input] = Some(stream);
            self.arrived[input][stream] = true;
            let to = self.bindings.buffers[upload.buffer].clone();
            let upload = Command::Upload { from: upload.from.clone(), to };
            if let Err(error) = self.timed(Timed::Upload(input), stream, |run| run.submit(stream, upload)) {
                self.state.fail_input(input, &error);
                continue;
            }
            self.streams[stream].uploads.push(input);
            let Some(event) = self.loaded.upload_events[input].clone() else { continue };
            if let Err(error) = self.submit(stream, Command::Record(event)) {
                self.state.fail_input(input, &error);
                self.wait_on_host(stream);
            }
        }
    }

    /// Waits for uploads made on other streams.
    fn wait_for_inputs(&mut self, group: GroupId) {
        let (stream, loaded) = (self.stream(group), self.loaded.clone());
        for &buffer in loaded.reads(group) {
            let Some(input) = self.loaded.input_of(buffer) else { continue };
            if self.upload_streams[input].is_none() || self.arrived[input][stream] {
                continue;
            }
            let Some(event) = self.loaded.upload_events[input].clone() else { continue };
            self.arrived[input][stream] = true;
            if let Err(error) = self.submit(stream, Command::Wait(event)) {
                self.state.fail(group, error);
                self.wait_on_host(self.upload_streams[input].expect("checked above"));
            }
        }
    }

    /// Waits for groups on other streams, as planned.
    fn wait_for_groups(&mut self, group: GroupId) {
        let plan = self.loaded.plan().clone();
        for on in plan.waits_of(group) {
            let Some(event) = self.loaded.events[on].clone() else { continue };
            if let Err(error) = self.submit(self.stream(group), Command::Wait(event)) {
                self.state.fail(group, error);
                self.wait_on_host(self.stream(on));
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
        let stream = self.stream(group);
        let queue = |run: &mut Self| run.submit(stream, Command::Launch(launch));
        if let Err(error) = self.timed(Timed::Group(group), stream, queue) {
            self.state.fail(group, error);
        }
    }

    /// Records the group's event, if anybody waits for it; also after a failure, for what came before it.
    fn record(&mut self, group: GroupId) {
        let Some(event) = self.loaded.events[group].clone() else { return };
        let stream = self.stream(group);
        if let Err(error) = self.submit(stream, Command::Record(event)) {
            self.state.fail(group, error);
            self.wait_on_host(stream);
        }
    }

    fn download_outputs(&mut self, group: GroupId) {
        if self.state.is_known_to_fail(group) {
            return; // There is nothing to copy.
        }
        let of_group =
            |loaded: &LoadedPlan, buffer: usize| loaded.plan().buffers[buffer].producer == Some(group);
        self.download(self.stream(group), of_group);
    }

    /// Queues the copies of the chosen outputs.
    pub(super) fn download(&mut self, stream: usize, chosen: impl Fn(&LoadedPlan, usize) -> bool) {
        let bindings = self.bindings.clone();
        for download in &bindings.downloads {
            if !chosen(&self.loaded, download.buffer) {
                continue;
            }
            let from = self.bindings.buffers[download.buffer].clone();
            let copy = Command::Download { from, to: download.to.clone() };
            match self.timed(Timed::Download(download.buffer), stream, |run| run.submit(stream, copy)) {
                Ok(()) => self.streams[stream].downloads.push(download.buffer),
                Err(error) => self.state.fail_download(download.buffer, error),
            }
        }
    }

    pub(super) fn finish(self) -> (PendingRun, SchedulerStats) {
        let Self { loaded, bindings, state, streams, counted, done_is_recorded, profile, .. } = self;
        (PendingRun { state, streams, loaded, bindings, done_is_recorded, profile, joined: false }, counted)
    }
}

/// An execution that has been queued. Dropping it waits for it.
#[derive(Debug)]
pub struct PendingRun {
    state: Arc<RunState>,
    streams: Vec<StreamState>,
    // Devices may let go of a command once the hardware has it, so the run itself keeps executables, events and
    // memory until it has ended.
    loaded: Arc<LoadedPlan>,
    bindings: Arc<Bindings>,
    done_is_recorded: bool,
    profile: RunProbe,
    joined: bool,
}

impl PendingRun {
    /// Waits for every stream, then says what became of every task.
    pub fn join(mut self) -> SchedulerReport {
        self.wait();
        outcome::of(&self.state)
    }

    /// Whether events order the run among others of its plan.
    pub(crate) fn is_in_order(&self) -> bool {
        self.done().is_some()
    }

    /// Whether [`PendingRun::join`] would return at once. Only known of runs in order.
    pub(crate) fn is_done(&self) -> bool {
        self.done().is_some_and(|done| !self.done_is_recorded || done.is_complete())
    }

    /// Whether a group is known already to have failed or not to run.
    pub(crate) fn has_failed(&self) -> bool {
        self.state.has_failed()
    }

    fn done(&self) -> Option<&Arc<dyn Event>> {
        self.bindings.ordered.as_ref()?.done.as_ref()
    }

    /// Waits for the end of the run alone, not for what was queued after it. `false` where that does not tell what became of
    /// it: failures of copies come out of streams, and what a lost device did is known to them.
    fn wait_for_done(&self) -> bool {
        let quiet = |stream: &StreamState| {
            stream.uploads.is_empty() && stream.downloads.is_empty() && stream.error.is_none()
        };
        let done = self.done().filter(|_| self.done_is_recorded && self.streams.iter().all(quiet));
        done.is_some_and(|done| done.synchronize().is_ok())
    }

    fn wait(&mut self) {
        self.joined = true;
        let span = self.profile.span(Kind::Wait, "");
        if !self.wait_for_done() {
            self.wait_for_streams();
        }
        self.state.fail_unreported();
        span.end();
        self.profile.finish(|group| self.state.has_run(group));
    }

    fn wait_for_streams(&mut self) {
        // All streams first: on a lost device one of them may know the launch that did it, and what suffers
        // with a stream must not hide that.
        let waited: Vec<_> = self.loaded.streams.iter().map(|stream| stream.synchronize()).collect();
        for (index, (waited, stream)) in waited.into_iter().zip(&mut self.streams).enumerate() {
            if let Some(error) = stream.error.take().or(waited.err()) {
                Self::attribute(&self.state, index, stream, &error);
            }
        }
    }

    /// A stream reports failures of commands without an observer. Which one it was, it does not say: everything
    /// it may have been counts as failed.
    fn attribute(state: &RunState, index: usize, stream: &StreamState, error: &DeviceError) {
        let copies = !stream.uploads.is_empty() || !stream.downloads.is_empty();
        if matches!(error, DeviceError::Lost(_)) || !copies {
            state.fail_stream(index, error);
        }
        for &input in &stream.uploads {
            state.fail_input(input, error);
        }
        for &buffer in &stream.downloads {
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
