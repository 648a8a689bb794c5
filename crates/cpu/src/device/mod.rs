//! The device as the runtime sees it: streams on threads, events, memory, loaded groups.

mod copy;
mod event;
mod launch;
mod machine;
mod memory;
mod stream;

use std::any::Any;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use mip_core::BatchLayout;
use mip_plan::{Group, Plan};
use mip_runtime::device::{
    CommandList, Device, DeviceError, DeviceInfo, DeviceKind, Event, Executable, Graph, Memory, Recording,
    Space, Stream,
};

use crate::simd::Level;
use crate::threads::Threads;
use crate::{CpuConfig, GroupRunner};

/// This machine's processors as a device.
///
/// Every stream is a thread that works through its own queue; a launch is shared among the device's threads.
/// Host and device memory are the same, so images are read and written in place.
#[derive(Debug)]
pub struct CpuDevice {
    config: CpuConfig,
    info: DeviceInfo,
    threads: Threads,
    in_use: Arc<AtomicUsize>,
    streams: Mutex<Vec<Weak<stream::CpuStream>>>,
}

impl CpuDevice {
    /// Starts the device's threads, as many as the system has to give: the device's name says when they are fewer than
    /// asked for.
    ///
    /// # Errors
    /// None so far.
    pub fn new(config: CpuConfig) -> Result<Arc<Self>, DeviceError> {
        let threads = Threads::start(&config);
        let count = threads.count;
        let plural = if count == 1 { "" } else { "s" };
        let level = Level::new(config.simd).name();
        let fewer = threads.fewer.as_ref().map_or_else(String::new, |why| format!(", no more: {why}"));
        let info = DeviceInfo {
            kind: DeviceKind::CPU,
            index: 0,
            name: format!("{} ({count} thread{plural}, {level}{fewer})", machine::model()),
            total_memory: machine::memory(),
            stream_ordered: Err("the CPU has no stream-ordered allocation; pools do its work".to_owned()),
            graph_replay: Ok(()),
            unified_memory: true,
        };
        Ok(Arc::new(Self { config, info, threads, in_use: Arc::default(), streams: Mutex::default() }))
    }
}

impl Device for CpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn create_stream(&self, label: &str) -> Result<Arc<dyn Stream>, DeviceError> {
        let stream = Arc::new(stream::CpuStream::new(label)?);
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|stream| stream.strong_count() > 0);
        streams.push(Arc::downgrade(&stream));
        Ok(stream)
    }

    fn create_event(&self) -> Result<Arc<dyn Event>, DeviceError> {
        Ok(Arc::new(event::CpuEvent::default()))
    }

    fn allocate(&self, space: Space, bytes: usize) -> Result<Arc<dyn Memory>, DeviceError> {
        Ok(Arc::new(memory::CpuMemory::new(space, bytes, &self.in_use)?))
    }

    fn workspace_bytes(&self, group: &Group, layouts: &[BatchLayout]) -> usize {
        // A group that cannot be prepared needs nothing; `load` says why it cannot.
        GroupRunner::with_threads(group, |id| layouts[id], &self.config, self.threads.clone())
            .map_or(0, |runner| runner.workspace_bytes())
    }

    fn fuses_horizontally(&self) -> bool {
        self.config.horizontal_fusion
    }

    fn load(&self, plan: &Plan, group: usize) -> Result<Arc<dyn Executable>, DeviceError> {
        let group = &plan.groups[group];
        let layout = |id: usize| plan.buffers[id].layout;
        let runner = GroupRunner::with_threads(group, layout, &self.config, self.threads.clone())?;
        let names: Vec<&str> = group.stages.iter().map(|stage| stage.kernel.name()).collect();
        Ok(Arc::new(CpuExecutable { runner, name: names.join("+") }))
    }

    /// Queueing costs a thread's stream so little that the list of commands is all there is to keep.
    fn capture(&self, recording: Recording) -> Result<Arc<dyn Graph>, DeviceError> {
        Ok(Arc::new(CommandList::new(recording)?))
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|stream| stream.strong_count() > 0);
        let alive: Vec<_> = streams.iter().filter_map(Weak::upgrade).collect();
        drop(streams);
        alive.iter().try_for_each(|stream| stream.reach_end())
    }
}

/// A group made ready for this machine.
#[derive(Debug)]
struct CpuExecutable {
    runner: GroupRunner,
    /// Names of its kernels, for errors.
    name: String,
}

impl Executable for CpuExecutable {
    fn as_any(&self) -> &dyn Any {
        self
    }
}
