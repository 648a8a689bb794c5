//! Graphs of the driver, built from the commands of a run.
//!
//! They are built node by node rather than captured from streams: the commands say what depends on what, no
//! stream is ever in a state in which other calls fail, and nothing that happens to allocate or to load on another
//! thread can break them. Each node is known by its launch, so that new addresses and numbers are patched into it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use mip_plan::GroupId;
use mip_runtime::device::{
    Command, DeviceError, Event, Executable, Graph, Launch, LaunchDecision, Recording, Timestamp,
    check_launches,
};

use super::executable::{CudaExecutable, Prepared};
use super::shared::Shared;
use super::stream::CudaStream;
use super::timestamp::CudaTimestamp;
use crate::driver::{GraphNode, LaunchShape, RawGraph, RawGraphExec};

/// A graph that can be launched again and again.
#[derive(Debug)]
pub(super) struct CudaGraph {
    shared: Arc<Shared>,
    /// Where it is launched: the stream that the recording begins and ends on.
    stream: Arc<dyn mip_runtime::device::Stream>,
    groups: Vec<GroupId>,
    /// Kept for the functions that nodes refer to.
    _executables: Vec<Arc<dyn Executable>>,
    /// Kept for the events that nodes record.
    _timestamps: Vec<Arc<dyn Timestamp>>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    exec: RawGraphExec,
    /// In the order of the launches' kernels.
    nodes: Vec<Node>,
}

/// A kernel with what it was last given.
#[derive(Debug)]
struct Node {
    handle: GraphNode,
    function: usize,
    shape: LaunchShape,
    parameter: Vec<u64>,
}

impl Node {
    fn new(handle: GraphNode, kernel: &Prepared<'_>) -> Self {
        let Prepared { function, shape, parameter } = kernel;
        Self { handle, function: function.id(), shape: *shape, parameter: parameter.clone() }
    }

    fn is_given(&self, kernel: &Prepared<'_>) -> bool {
        self.function == kernel.function.id()
            && self.shape == kernel.shape
            && self.parameter == kernel.parameter
    }
}

/// Who comes after whom while commands are read: by stream, what the next kernel has to wait for.
#[derive(Debug, Default)]
struct Order {
    frontiers: Vec<Vec<GraphNode>>,
    /// By event: what had to be waited for when it was recorded.
    events: HashMap<usize, Vec<GraphNode>>,
}

impl Order {
    fn record(&mut self, stream: usize, event: &Arc<dyn Event>) {
        self.events.insert(address(event), self.frontiers[stream].clone());
    }

    fn wait(&mut self, stream: usize, event: &Arc<dyn Event>) {
        // An event never recorded is complete.
        let recorded = self.events.get(&address(event)).cloned().unwrap_or_default();
        let frontier = &mut self.frontiers[stream];
        frontier.extend(recorded.into_iter().filter(|node| !frontier.contains(node)).collect::<Vec<_>>());
    }
}

fn address(event: &Arc<dyn Event>) -> usize {
    Arc::as_ptr(event).cast::<()>().addr()
}

fn own(executable: &Arc<dyn Executable>) -> Result<&CudaExecutable, DeviceError> {
    let unsupported = || DeviceError::Unsupported("an executable of another kind of device".to_owned());
    executable.as_any().downcast_ref().ok_or_else(unsupported)
}

impl CudaGraph {
    pub(super) fn new(shared: &Arc<Shared>, recording: Recording) -> Result<Self, DeviceError> {
        shared.alive()?;
        let stream = recording.streams.first().cloned().ok_or_else(|| {
            DeviceError::Unsupported("a recording without streams cannot be captured".to_owned())
        })?;
        let mut graph = shared.check(RawGraph::new(&shared.context))?;
        let mut order = Order { frontiers: vec![Vec::new(); recording.streams.len()], ..Order::default() };
        let (mut nodes, mut groups) = (Vec::new(), Vec::new());
        let (mut executables, mut timestamps) = (Vec::new(), Vec::new());
        for (stream, command) in recording.commands {
            match command {
                Command::Record(event) => order.record(stream, &event),
                Command::Wait(event) => order.wait(stream, &event),
                Command::Timestamp(timestamp) => {
                    let event = CudaTimestamp::of(&*timestamp)?.queue();
                    let frontier = &mut order.frontiers[stream];
                    *frontier = vec![shared.check(graph.add_record(event, frontier))?];
                    timestamps.push(timestamp);
                }
                Command::Launch(launch) => {
                    let kernels = own(&launch.executable)?.prepare(&launch)?;
                    for kernel in &kernels {
                        let Prepared { function, shape, parameter } = kernel;
                        let frontier = &mut order.frontiers[stream];
                        let node = shared.check(graph.add(function, *shape, parameter, frontier))?;
                        *frontier = vec![node];
                        nodes.push(Node::new(node, kernel));
                    }
                    drop(kernels);
                    groups.push(launch.group);
                    executables.push(launch.executable);
                }
                Command::Upload { .. } | Command::Download { .. } | Command::Free(_) => {
                    let text = "only launches, records, waits and timestamps can be captured";
                    return Err(DeviceError::Unsupported(text.to_owned()));
                }
            }
        }
        let mut exec = shared.check(graph.instantiate())?;
        shared.check(exec.upload(CudaStream::of(&*stream)?.raw()))?;
        let state = Mutex::new(State { exec, nodes });
        Ok(Self {
            shared: shared.clone(),
            stream,
            groups,
            _executables: executables,
            _timestamps: timestamps,
            state,
        })
    }
}

impl State {
    /// Gives every kernel that changed what it needs now.
    fn patch(&mut self, shared: &Shared, launches: &[Launch]) -> Result<(), DeviceError> {
        let mut nodes = self.nodes.iter_mut();
        for launch in launches {
            for kernel in own(&launch.executable)?.prepare(launch)? {
                let other = || DeviceError::Conflict("a launch with more kernels than captured".to_owned());
                let node = nodes.next().ok_or_else(other)?;
                if node.is_given(&kernel) {
                    continue;
                }
                let Prepared { function, shape, parameter } = &kernel;
                shared.check(self.exec.set(node.handle, function, *shape, parameter))?;
                *node = Node::new(node.handle, &kernel);
            }
        }
        Ok(())
    }
}

impl Graph for CudaGraph {
    fn replay(&self, launches: Vec<Launch>) -> Result<(), DeviceError> {
        self.shared.alive()?;
        check_launches(&self.groups, &launches)?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.patch(&self.shared, &launches)?;
        for launch in &launches {
            if launch.observer.begin(launch.group) == LaunchDecision::Skip {
                let text = "a captured run is replayed as a whole; nothing of it can be left out";
                return Err(DeviceError::Unsupported(text.to_owned()));
            }
        }
        CudaStream::of(&*self.stream)?.replay(&mut state.exec, launches)
    }
}
