//! Submitting a run by a captured graph.

use mip_plan::GroupId;

use super::replay::{self, GraphSlot, Signature};
use super::submission::Submission;
use crate::device::{Command, Device, Launch};
use crate::profiling::{Kind, Timed};

/// How a run that was to be captured or replayed went to the device.
#[derive(Debug)]
pub(super) enum GraphRun {
    /// Captured and replayed.
    Captured,
    /// Replayed.
    Replayed,
    /// The device refused to replay it: what was not queued has failed. The graph was given up.
    Refused(String),
    /// Task by task after all; with the reason, if the device refused to capture it.
    Direct(Option<String>),
}

impl Submission {
    /// Queues everything: uploads, the graph and downloads, all on the first stream.
    pub(super) fn run_graph(
        &mut self,
        device: &dyn Device,
        slot: &mut GraphSlot,
        signature: Signature,
    ) -> GraphRun {
        self.wait_for_others();
        self.upload_on_first_stream();
        if self.state.has_failed() {
            self.run_groups_after_uploads();
            return GraphRun::Direct(None);
        }
        let launches: Vec<Launch> = self.all_groups().map(|group| self.launch_of(group)).collect();
        let held = slot.graph();
        let captured = held.is_none();
        let capture = || {
            let _span = self.profile.span(Kind::Capture, "");
            let timed = self.profile.is_recording();
            let (recording, timestamps) = replay::record(device, &self.loaded, launches.clone(), timed)?;
            let graph = device.capture(recording)?;
            slot.keep(graph.clone(), signature, timestamps);
            Ok(graph)
        };
        let graph = match held.map_or_else(capture, Ok) {
            Ok(graph) => graph,
            Err(error) => {
                drop(launches);
                self.run_groups_after_uploads();
                return GraphRun::Direct(Some(replay::refusal(&error)));
            }
        };
        if let Err(error) = self.timed(Timed::Graph, 0, |_| graph.replay(launches)) {
            slot.clear();
            // What was queued runs to its end; only then is it known what was not.
            (0..self.loaded.streams.len()).for_each(|stream| self.wait_on_host(stream));
            self.state.fail_unqueued(&error);
            self.record_done();
            return GraphRun::Refused(error.to_string());
        }
        self.profile.replayed(&self.loaded, slot.timestamps());
        self.counted.graph_launches += 1;
        self.counted.commands += 1;
        self.download(0, |_, _| true);
        self.free();
        self.record_done();
        if captured { GraphRun::Captured } else { GraphRun::Replayed }
    }

    fn all_groups(&self) -> std::ops::Range<GroupId> {
        0..self.loaded.plan().groups.len()
    }

    fn upload_on_first_stream(&mut self) {
        let bindings = self.bindings.clone();
        for upload in &bindings.uploads {
            let Some(input) = self.loaded.input_of(upload.buffer) else { continue };
            if self.loaded.plan().buffers[upload.buffer].consumers.is_empty() {
                continue;
            }
            let to = bindings.buffers[upload.buffer].clone();
            let upload = Command::Upload { from: upload.from.clone(), to };
            match self.timed(Timed::Upload(input), 0, |run| run.submit(0, upload)) {
                Ok(()) => self.streams[0].uploads.push(input),
                Err(error) => self.state.fail_input(input, &error),
            }
        }
    }

    /// Goes on task by task. The host orders the uploads before all streams: this is a rare way to go.
    fn run_groups_after_uploads(&mut self) {
        self.wait_on_host(0);
        self.run_groups();
        self.join_and_free();
    }
}
