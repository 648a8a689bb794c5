//! One case on a device: memory, loaded group, commands.

use std::sync::{Arc, Mutex};

use mip_core::{BatchLayout, ImageBuffer};
use mip_plan::{GroupId, Plan};
use mip_runtime::device::{
    BufferMemory, BufferRef, Command, Device, DeviceError, Executable, Launch, LaunchDecision,
    LaunchObserver, Space, Stream,
};

/// Keeps the first failure.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<Option<DeviceError>>);

impl LaunchObserver for Watch {
    fn begin(&self, _group: GroupId) -> LaunchDecision {
        LaunchDecision::Run
    }

    fn end(&self, _group: GroupId, result: Result<(), DeviceError>) {
        if let (Err(error), Ok(mut first)) = (result, self.0.lock()) {
            first.get_or_insert(error);
        }
    }
}

impl Watch {
    pub(crate) fn result(&self) -> Result<(), DeviceError> {
        self.0.lock().ok().and_then(|mut first| first.take()).map_or(Ok(()), Err)
    }
}

/// A plan of one group or of several, its buffers in memory of their own.
pub(crate) struct Rig {
    pub(crate) plan: Plan,
    pub(crate) stream: Arc<dyn Stream>,
    executables: Vec<Arc<dyn Executable>>,
    pub(crate) buffers: Vec<BufferRef>,
    pub(crate) watch: Arc<Watch>,
}

impl Rig {
    pub(crate) fn new(
        device: &dyn Device,
        plan: Plan,
        executable: Arc<dyn Executable>,
        stream: Arc<dyn Stream>,
    ) -> Result<Self, DeviceError> {
        Self::of_groups(device, plan, vec![executable], stream)
    }

    pub(crate) fn of_groups(
        device: &dyn Device,
        plan: Plan,
        executables: Vec<Arc<dyn Executable>>,
        stream: Arc<dyn Stream>,
    ) -> Result<Self, DeviceError> {
        let allocate = |buffer: &mip_plan::Buffer| {
            let memory = BufferMemory::Block(device.allocate(Space::Device, buffer.layout.span())?);
            Ok(BufferRef { memory, offset: 0, layout: buffer.layout })
        };
        let buffers = plan.buffers.iter().map(allocate).collect::<Result<_, DeviceError>>()?;
        Ok(Self { plan, stream, executables, buffers, watch: Arc::default() })
    }

    pub(crate) fn upload(&self, buffer: usize, image: ImageBuffer) -> Result<(), DeviceError> {
        self.stream.submit(Command::Upload { from: image, to: self.buffers[buffer].clone() })
    }

    pub(crate) fn launch(&self) -> Result<(), DeviceError> {
        (0..self.executables.len()).try_for_each(|group| self.launch_group(group))
    }

    fn launch_group(&self, index: usize) -> Result<(), DeviceError> {
        let group = &self.plan.groups[index];
        let buffers = |ids: Vec<usize>| ids.into_iter().map(|id| self.buffers[id].clone()).collect();
        self.stream.submit(Command::Launch(Launch {
            executable: self.executables[index].clone(),
            group: index,
            inputs: buffers(group.reads()),
            outputs: buffers(group.writes()),
            workspace: None,
            uniforms: group.stages.iter().map(|s| s.uniforms.clone()).collect(),
            observer: self.watch.clone(),
        }))
    }

    /// The bytes of a buffer, padding zero.
    pub(crate) fn download(&self, device: &dyn Device, buffer: usize) -> Result<Vec<u8>, DeviceError> {
        let layout: BatchLayout = self.buffers[buffer].layout;
        let pinned = device.allocate(Space::Pinned, layout.span())?;
        let to = BufferRef { memory: BufferMemory::Block(pinned.clone()), offset: 0, layout };
        self.stream.submit(Command::Download { from: self.buffers[buffer].clone(), to })?;
        self.stream.synchronize()?;
        self.watch.result()?;
        let host = pinned
            .host()
            .ok_or_else(|| DeviceError::Unsupported("pinned memory without host access".to_owned()))?;
        Ok(host.read(0..layout.span())?.to_vec())
    }
}
