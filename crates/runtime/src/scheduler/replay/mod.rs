//! Graph replay: when a run may be replayed, when a graph is given up and why, what a recording consists of.

mod recording;
mod signature;
mod state;

use std::collections::BTreeMap;
use std::sync::Arc;

use mip_plan::GroupId;
use serde::Serialize;

use crate::device::{Graph, Timestamp};
pub(super) use recording::{record, refusal};
pub(super) use signature::Signature;
pub(super) use state::{Decision, ReplayState};

/// Why a captured graph is no longer what has to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DirtyReason {
    /// Tasks were added or taken away.
    TaskCount,
    /// The same tasks read other results than before.
    Dependencies,
    /// Other tasks, outputs or streams.
    Topology,
    /// Other widths or heights.
    Shapes,
    /// Other pixel formats, dtypes or layouts.
    Formats,
    /// A kernel needs other code or other tables, as after a change of a structural parameter.
    Kernels,
    /// Rows, planes or frames of an input lie at other distances.
    Strides,
    /// Intermediates lie at other addresses. (Inputs and outputs may: their addresses are patched.)
    MemoryAddresses,
    /// An operator asked for recapture.
    OperatorRequest,
    /// The device refused to replay.
    ReplayRefused,
}

impl DirtyReason {
    /// The name in reports: `task_count`, `shapes`, ...
    pub const fn name(self) -> &'static str {
        match self {
            Self::TaskCount => "task_count",
            Self::Dependencies => "dependencies",
            Self::Topology => "topology",
            Self::Shapes => "shapes",
            Self::Formats => "formats",
            Self::Kernels => "kernels",
            Self::Strides => "strides",
            Self::MemoryAddresses => "memory_addresses",
            Self::OperatorRequest => "operator_request",
            Self::ReplayRefused => "replay_refused",
        }
    }
}

/// How executions were submitted. Every run counts once: as a capture, a replay or a direct run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct GraphStats {
    /// Runs that were captured and then replayed for the first time.
    pub captures: u64,
    /// Runs that replayed what was captured before.
    pub replays: u64,
    /// Runs submitted task by task.
    pub direct_runs: u64,
    /// How often what was captured no longer fitted, by reason.
    pub invalidations: BTreeMap<DirtyReason, u64>,
    /// Captures that the device refused; those runs went direct.
    pub failed_captures: u64,
    /// Why replay was asked for but the last run went direct, where that is the device's doing.
    pub reason: Option<String>,
}

impl GraphStats {
    /// Adds what another device of the same pipeline counted.
    pub fn add(&mut self, other: &Self) {
        self.captures += other.captures;
        self.replays += other.replays;
        self.direct_runs += other.direct_runs;
        for (reason, count) in &other.invalidations {
            *self.invalidations.entry(*reason).or_default() += count;
        }
        self.failed_captures += other.failed_captures;
        if self.reason.is_none() {
            self.reason.clone_from(&other.reason);
        }
    }
}

/// A session's place for its captured graph.
#[derive(Debug, Default)]
pub struct GraphSlot {
    captured: Option<Captured>,
}

#[derive(Debug)]
struct Captured {
    graph: Arc<dyn Graph>,
    signature: Signature,
    /// Where the run is profiled.
    timestamps: Vec<GroupTimestamps>,
}

/// Points of a graph right before and after a group.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "profiling"), allow(dead_code, reason = "read by profiles"))]
pub(crate) struct GroupTimestamps {
    pub(crate) group: GroupId,
    pub(crate) begin: Arc<dyn Timestamp>,
    pub(crate) end: Arc<dyn Timestamp>,
}

impl GraphSlot {
    /// Whether a graph is held.
    pub const fn is_captured(&self) -> bool {
        self.captured.is_some()
    }

    pub(super) fn graph(&self) -> Option<Arc<dyn Graph>> {
        self.captured.as_ref().map(|captured| captured.graph.clone())
    }

    /// The points in the graph whose times are taken.
    pub(super) fn timestamps(&self) -> &[GroupTimestamps] {
        self.captured.as_ref().map_or(&[], |captured| &captured.timestamps)
    }

    pub(super) fn keep(
        &mut self,
        graph: Arc<dyn Graph>,
        signature: Signature,
        timestamps: Vec<GroupTimestamps>,
    ) {
        self.captured = Some(Captured { graph, signature, timestamps });
    }

    pub(super) fn clear(&mut self) {
        self.captured = None;
    }
}
