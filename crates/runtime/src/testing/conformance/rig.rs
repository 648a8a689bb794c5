use std::sync::{Arc, Mutex};

use mip_core::{BatchLayout, ImageBuffer, ImageDesc};
use mip_plan::{BufferId, GroupId, Plan};

use crate::device::{
    BufferMemory, BufferRef, Command, Device, DeviceError, Executable, Launch, LaunchDecision,
    LaunchObserver, Memory, Space, Stream,
};

/// A plan loaded by hand, each buffer in a block of its own.
#[derive(Debug)]
pub(super) struct Rig {
    pub(super) device: Arc<dyn Device>,
    pub(super) plan: Arc<Plan>,
    pub(super) blocks: Vec<Arc<dyn Memory>>,
    executables: Vec<Arc<dyn Executable>>,
}

impl Rig {
    pub(super) fn new(device: &Arc<dyn Device>, plan: Arc<Plan>) -> Self {
        let load = |group| device.load(&plan, group).expect("a group of simple kernels loads");
        let allocate = |buffer: &mip_plan::Buffer| {
            device.allocate(Space::Device, buffer.layout.span()).expect("a little device memory")
        };
        let executables = (0..plan.groups.len()).map(load).collect();
        let blocks = plan.buffers.iter().map(allocate).collect();
        Self { device: device.clone(), plan, blocks, executables }
    }

    pub(super) fn buffer(&self, id: BufferId) -> BufferRef {
        let memory = BufferMemory::Block(self.blocks[id].clone());
        BufferRef { memory, offset: 0, layout: self.plan.buffers[id].layout }
    }

    pub(super) fn launch(&self, group: GroupId, log: &Arc<Log>) -> Launch {
        let planned = &self.plan.groups[group];
        Launch {
            executable: self.executables[group].clone(),
            group,
            inputs: planned.reads().into_iter().map(|id| self.buffer(id)).collect(),
            outputs: planned.writes().into_iter().map(|id| self.buffer(id)).collect(),
            workspace: None,
            uniforms: planned.stages.iter().map(|stage| stage.uniforms.clone()).collect(),
            observer: log.clone(),
        }
    }

    pub(super) fn submit_launch(&self, stream: &dyn Stream, group: GroupId, log: &Arc<Log>) {
        stream.submit(Command::Launch(self.launch(group, log))).expect("a launch is queued");
    }

    /// Uploads an image all of whose samples are `value`.
    pub(super) fn upload(&self, stream: &dyn Stream, id: BufferId, value: u8) {
        let from = filled(self.plan.buffers[id].layout.desc, value);
        stream.submit(Command::Upload { from, to: self.buffer(id) }).expect("an upload is queued");
    }

    /// Queues a download; the pinned memory it goes to.
    pub(super) fn download(&self, stream: &dyn Stream, id: BufferId) -> Arc<dyn Memory> {
        download(&*self.device, stream, self.buffer(id))
    }

    /// The value of all samples of a buffer.
    ///
    /// Waits for `stream`.
    pub(super) fn value(&self, stream: &dyn Stream, id: BufferId) -> u8 {
        let pinned = self.download(stream, id);
        stream.synchronize().expect("a download succeeds");
        uniform_value(&pinned, self.plan.buffers[id].layout)
    }
}

pub(super) fn download(device: &dyn Device, stream: &dyn Stream, from: BufferRef) -> Arc<dyn Memory> {
    let layout = from.layout;
    let pinned = device.allocate(Space::Pinned, layout.span()).expect("a little pinned memory");
    let to = BufferRef { memory: BufferMemory::Block(pinned.clone()), offset: 0, layout };
    stream.submit(Command::Download { from, to }).expect("a download is queued");
    pinned
}

pub(super) fn filled(desc: ImageDesc, value: u8) -> ImageBuffer {
    let mut image = ImageBuffer::new(desc).expect("a small image");
    image.view_mut().data_mut().fill(value);
    image
}

/// The images in pinned memory.
pub(super) fn read(pinned: &Arc<dyn Memory>, layout: BatchLayout) -> ImageBuffer {
    let host = pinned.host().expect("pinned memory is host memory");
    let bytes = host.read(0..layout.span()).expect("a finished copy holds no borrow");
    let mut image = ImageBuffer::with_layout(layout).expect("a small image");
    image.view_mut().data_mut().copy_from_slice(&bytes);
    image
}

/// The value that all samples of a gray u8 image in pinned memory have.
pub(super) fn uniform_value(pinned: &Arc<dyn Memory>, layout: BatchLayout) -> u8 {
    let bytes = read(pinned, layout).to_bytes();
    assert!(bytes.iter().all(|&b| b == bytes[0]), "one sample differs from another that was computed alike");
    bytes[0]
}

/// What a device tells its observer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Observed {
    Begin(GroupId),
    End(GroupId, Result<(), DeviceError>),
}

/// Records what it observes; lets `skip` be left out.
#[derive(Debug, Default)]
pub(super) struct Log {
    observed: Mutex<Vec<Observed>>,
    skip: Option<GroupId>,
}

impl Log {
    pub(super) fn new(skip: Option<GroupId>) -> Arc<Self> {
        Arc::new(Self { observed: Mutex::default(), skip })
    }

    pub(super) fn observed(&self) -> Vec<Observed> {
        self.observed.lock().expect("no observer panics").clone()
    }
}

impl LaunchObserver for Log {
    fn begin(&self, group: GroupId) -> LaunchDecision {
        self.observed.lock().expect("no observer panics").push(Observed::Begin(group));
        if self.skip == Some(group) { LaunchDecision::Skip } else { LaunchDecision::Run }
    }

    fn end(&self, group: GroupId, result: Result<(), DeviceError>) {
        self.observed.lock().expect("no observer panics").push(Observed::End(group, result));
    }
}
