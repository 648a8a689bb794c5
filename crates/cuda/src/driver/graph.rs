use std::sync::Arc;

use cudarc::driver::sys;

use super::{Context, DriverError, Function, LaunchShape, RawEvent, RawStream};

/// A graph under construction. Kept beside what is made of it: its nodes name the kernels there.
#[derive(Debug)]
pub(crate) struct RawGraph {
    context: Arc<Context>,
    raw: sys::CUgraph,
}

/// A kernel of a graph, or a point whose time is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GraphNode(sys::CUgraphNode);

// SAFETY: only a name; every use goes through the graph it belongs to.
unsafe impl Send for GraphNode {}
// SAFETY: as for `Send`.
unsafe impl Sync for GraphNode {}

/// A graph that can be launched.
#[derive(Debug)]
pub(crate) struct RawGraphExec {
    graph: RawGraph,
    raw: sys::CUgraphExec,
}

// SAFETY: graphs may be used from any thread, by one at a time: building takes the graph by `&mut`, changing and
// launching the executable one takes it by `&mut`.
unsafe impl Send for RawGraph {}
// SAFETY: nothing can be done with a shared reference.
unsafe impl Sync for RawGraph {}
// SAFETY: as for `RawGraph`.
unsafe impl Send for RawGraphExec {}
// SAFETY: as for `RawGraph`.
unsafe impl Sync for RawGraphExec {}

/// Calls `use_it` with the driver's description of a launch.
fn with_parameters<R>(
    function: &Function,
    shape: LaunchShape,
    parameter: &[u64],
    use_it: impl FnOnce(&sys::CUDA_KERNEL_NODE_PARAMS) -> R,
) -> R {
    let mut parameters = [parameter.as_ptr().cast_mut().cast()];
    let description = sys::CUDA_KERNEL_NODE_PARAMS {
        func: function.raw(),
        gridDimX: shape.grid[0],
        gridDimY: shape.grid[1],
        gridDimZ: shape.grid[2],
        blockDimX: shape.block[0],
        blockDimY: shape.block[1],
        blockDimZ: 1,
        sharedMemBytes: shape.shared,
        kernelParams: parameters.as_mut_ptr(),
        extra: std::ptr::null_mut(),
        kern: std::ptr::null_mut(),
        ctx: std::ptr::null_mut(),
    };
    use_it(&description)
}

impl RawGraph {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, DriverError> {
        let _bound = context.bind()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: writes one handle; destroyed in `drop`.
        unsafe { call!(cuGraphCreate(&raw mut raw, 0)) }?;
        Ok(Self { context: context.clone(), raw })
    }

    /// Adds a launch that starts when all of `after` have ended.
    pub(crate) fn add(
        &mut self,
        function: &Function,
        shape: LaunchShape,
        parameter: &[u64],
        after: &[GraphNode],
    ) -> Result<GraphNode, DriverError> {
        let _bound = self.context.bind()?;
        let after: Vec<sys::CUgraphNode> = after.iter().map(|node| node.0).collect();
        let mut node = std::ptr::null_mut();
        with_parameters(function, shape, parameter, |description| {
            // SAFETY: graph and nodes live; the driver copies the parameter, whose size is that of the function's
            // parameter struct (as for a launch), before it returns. Nothing runs yet.
            unsafe {
                call!(cuGraphAddKernelNode_v2(
                    &raw mut node,
                    self.raw,
                    after.as_ptr(),
                    after.len(),
                    description
                ))
            }
        })?;
        Ok(GraphNode(node))
    }

    /// Adds a point where an event is recorded when all of `after` have ended. The caller keeps the event for as
    /// long as what is made of the graph.
    pub(crate) fn add_record(
        &mut self,
        event: &RawEvent,
        after: &[GraphNode],
    ) -> Result<GraphNode, DriverError> {
        let _bound = self.context.bind()?;
        let after: Vec<sys::CUgraphNode> = after.iter().map(|node| node.0).collect();
        let mut node = std::ptr::null_mut();
        // SAFETY: graph, nodes and event live; nothing runs yet.
        unsafe {
            call!(cuGraphAddEventRecordNode(&raw mut node, self.raw, after.as_ptr(), after.len(), event.raw))
        }?;
        Ok(GraphNode(node))
    }

    /// Makes it launchable.
    pub(crate) fn instantiate(self) -> Result<RawGraphExec, DriverError> {
        let mut raw = std::ptr::null_mut();
        {
            let _bound = self.context.bind()?;
            // SAFETY: the graph lives; writes one handle, destroyed in `drop`.
            unsafe { call!(cuGraphInstantiateWithFlags(&raw mut raw, self.raw, 0)) }?;
        }
        Ok(RawGraphExec { graph: self, raw })
    }
}

impl RawGraphExec {
    /// Gives a kernel other parameters (or another function of the same kind) for the launches to come.
    pub(crate) fn set(
        &mut self,
        node: GraphNode,
        function: &Function,
        shape: LaunchShape,
        parameter: &[u64],
    ) -> Result<(), DriverError> {
        let _bound = self.graph.context.bind()?;
        with_parameters(function, shape, parameter, |description| {
            // SAFETY: the node is one of this graph's; launches already queued keep what they were queued with.
            unsafe { call!(cuGraphExecKernelNodeSetParams_v2(self.raw, node.0, description)) }
        })
    }

    /// Queues everything. The caller keeps what the kernels use until the stream is past it, as for a launch.
    pub(crate) fn launch(&mut self, stream: &RawStream) -> Result<(), DriverError> {
        let _bound = self.graph.context.bind()?;
        // SAFETY: graph and stream live; the memory named by the parameters is kept by the stream's in-flight
        // list.
        unsafe { call!(cuGraphLaunch(self.raw, stream.raw)) }
    }

    /// Makes the device hold the graph already, so that the first launch is like the others.
    pub(crate) fn upload(&mut self, stream: &RawStream) -> Result<(), DriverError> {
        let _bound = self.graph.context.bind()?;
        // SAFETY: graph and stream live.
        unsafe { call!(cuGraphUpload(self.raw, stream.raw)) }
    }
}

impl Drop for RawGraph {
    fn drop(&mut self) {
        // On a lost device this fails, and there is nothing left to free.
        // SAFETY: created in `new`.
        let _ = self.context.bind().and_then(|_bound| unsafe { call!(cuGraphDestroy(self.raw)) });
    }
}

impl Drop for RawGraphExec {
    fn drop(&mut self) {
        // On a lost device this fails, and there is nothing left to free.
        // SAFETY: created in `instantiate`; launches under way are finished before the driver frees it.
        let _ = self.graph.context.bind().and_then(|_bound| unsafe { call!(cuGraphExecDestroy(self.raw)) });
    }
}
