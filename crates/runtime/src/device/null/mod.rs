//! A device that records the commands it gets, for tests: it runs commands on the calling thread, in order or
//! in any order that streams and events allow, fails where asked to, and computes only if given a function.

mod engine;
mod fault;
mod graph;
mod memory;
mod record;
mod stream;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use mip_core::BatchLayout;
use mip_plan::{Group, Plan};

use super::{
    Device, DeviceError, DeviceInfo, DeviceKind, Event, Executable, Graph, Launch, Memory, Ranges, Recording,
    Space, Stream,
};
use engine::Engine;
#[cfg(any(test, feature = "testing"))]
pub(crate) use engine::{with_pixels, with_pixels_mut};
pub use fault::{CommandKind, Site};
pub use memory::host_of;
pub use record::Record;

/// When commands run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Execution {
    /// While they are submitted.
    #[default]
    Immediate,
    /// When somebody waits: then one by one, each from a stream picked at random among those that may go on.
    Shuffled {
        /// Each seed gives one order, the same every time.
        seed: u64,
    },
}

/// What runs in place of a group's kernels.
pub type LaunchFn = dyn Fn(&Launch, &Group) -> Result<(), DeviceError> + Send + Sync;

/// What a [`NullDevice`] pretends to be.
#[derive(Clone)]
pub struct NullOptions {
    /// When commands run.
    pub execution: Execution,
    /// Whether kernels work on host memory; if not, device memory is hidden from the host.
    pub unified_memory: bool,
    /// Stream-ordered allocation: `Ok` or the reason why not.
    pub stream_ordered: Result<(), String>,
    /// Graph replay: `Ok` or the reason why not.
    pub graph_replay: Result<(), String>,
    /// Bytes of both kinds of memory together.
    pub memory_limit: Option<usize>,
    /// Scratch bytes every group asks for.
    pub workspace_bytes: usize,
    /// Whether branches of the same program share groups.
    pub horizontal_fusion: bool,
    /// Threads that groups are loaded on.
    pub load_threads: usize,
    /// Called for each launch that runs; without it a launch does nothing.
    pub on_launch: Option<Arc<LaunchFn>>,
    /// Gets the names of what the host does, when a run is profiled.
    pub ranges: Option<Arc<dyn Ranges>>,
}

impl Default for NullOptions {
    fn default() -> Self {
        let missing = |what: &str| Err(format!("the null device has no {what}"));
        Self {
            execution: Execution::Immediate,
            unified_memory: true,
            stream_ordered: missing("stream-ordered allocation"),
            graph_replay: Ok(()),
            memory_limit: None,
            workspace_bytes: 0,
            horizontal_fusion: false,
            load_threads: 1,
            on_launch: None,
            ranges: None,
        }
    }
}

impl fmt::Debug for NullOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NullOptions")
            .field("execution", &self.execution)
            .field("unified_memory", &self.unified_memory)
            .field("memory_limit", &self.memory_limit)
            .finish_non_exhaustive()
    }
}

/// The device. Records everything that happens to it.
#[derive(Debug)]
pub struct NullDevice {
    info: DeviceInfo,
    engine: Arc<Engine>,
}

impl NullDevice {
    /// A device that pretends to be what `options` say.
    pub fn new(options: NullOptions) -> Arc<Self> {
        let info = DeviceInfo {
            kind: DeviceKind::NULL,
            index: 0,
            name: "null".to_owned(),
            total_memory: options.memory_limit.map(|limit| limit as u64),
            stream_ordered: options.stream_ordered.clone(),
            graph_replay: options.graph_replay.clone(),
            unified_memory: options.unified_memory,
        };
        Arc::new(Self { info, engine: Engine::new(options) })
    }

    /// Everything that happened so far, in order of happening.
    pub fn records(&self) -> Vec<Record> {
        self.engine.records.lock().clone()
    }

    /// Takes the records out, so that the next call sees only what is new.
    pub fn take_records(&self) -> Vec<Record> {
        std::mem::take(&mut *self.engine.records.lock())
    }

    /// From now on `site` fails with `error`, each time it is reached ([`Site::Allocation`]: once).
    pub fn inject(&self, site: Site, error: DeviceError) {
        self.engine.faults.lock().inject(site, error);
    }

    /// Takes all injected faults away.
    pub fn clear_faults(&self) {
        self.engine.faults.lock().clear();
    }

    /// Bytes allocated and not freed yet.
    pub fn allocated(&self) -> usize {
        *self.engine.allocated.lock()
    }
}

impl Device for NullDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn create_stream(&self, label: &str) -> Result<Arc<dyn Stream>, DeviceError> {
        self.engine.faults.lock().check(&Site::CreateStream)?;
        Ok(stream::NullStream::create(&self.engine, label))
    }

    fn create_event(&self) -> Result<Arc<dyn Event>, DeviceError> {
        self.engine.faults.lock().check(&Site::CreateEvent)?;
        Ok(stream::NullEvent::create(&self.engine))
    }

    fn allocate(&self, space: Space, bytes: usize) -> Result<Arc<dyn Memory>, DeviceError> {
        memory::NullMemory::allocate(&self.engine, space, bytes)
    }

    fn workspace_bytes(&self, _group: &Group, _layouts: &[BatchLayout]) -> usize {
        self.engine.options.workspace_bytes
    }

    fn fuses_horizontally(&self) -> bool {
        self.engine.options.horizontal_fusion
    }

    fn load(&self, plan: &Plan, group: usize) -> Result<Arc<dyn Executable>, DeviceError> {
        self.engine.faults.lock().check(&Site::Load(group))?;
        self.engine.record(Record::Load { group });
        Ok(Arc::new(NullExecutable { group: plan.groups[group].clone() }))
    }

    fn load_threads(&self) -> usize {
        self.engine.options.load_threads
    }

    fn capture(&self, recording: Recording) -> Result<Arc<dyn Graph>, DeviceError> {
        self.engine.options.graph_replay.clone().map_err(DeviceError::Unsupported)?;
        self.engine.faults.lock().check(&Site::Capture)?;
        graph::NullGraph::capture(&self.engine, recording)
    }

    fn ranges(&self) -> Option<Arc<dyn Ranges>> {
        self.engine.options.ranges.clone()
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.engine.drain_all();
        Ok(())
    }

    fn stream_ordered_reserved(&self) -> usize {
        self.engine.ordered.lock().reserved()
    }

    fn trim_stream_ordered(&self) -> usize {
        self.engine.ordered.lock().trim()
    }
}

/// A group as it was when it was loaded.
#[derive(Debug)]
struct NullExecutable {
    group: Group,
}

impl Executable for NullExecutable {
    fn as_any(&self) -> &dyn Any {
        self
    }
}
