//! The device: streams, events, memory and executables over the driver.
//!
//! # Completion
//! Commands are queued on the driver's streams by whoever submits them: an observer's `begin` is called at
//! that time, on that thread. What a command uses (memory, borrows of host blocks, staging) is kept in its
//! stream's in-flight list. The list is settled when the driver says that work is done: in
//! `Stream::synchronize`, `Event::synchronize`, and `Event::is_complete`; then `end` is called, in stream
//! order, and what was kept is let go. Nothing is reported complete before that.
//!
//! # Faults
//! A fault of a running kernel makes the whole context useless. The first call that meets it marks the device
//! lost; from then on every call says [`DeviceError::Lost`](mip_runtime::device::DeviceError::Lost), with the
//! call that met the fault. Which launch it was, the driver does not say: each stream marks the end of its launches
//! in the host's memory, and a fault is attributed to the one launch that had begun and not ended. Where
//! several had, or a graph was replayed, they are listed; with [`CudaOptions::synchronous`] each launch is
//! waited for, and the fault is attributed to it.
//! [`CudaDevice::discard_context`] makes room for a fresh device; host memory of the lost one stays readable.

mod borrowed;
pub(crate) mod copy_out;
mod event;
mod executable;
mod fault;
mod graph;
mod in_flight;
pub mod jpeg;
mod load;
mod memory;
mod options;
#[cfg(feature = "profiling")]
mod ranges;
mod ring;
mod shared;
mod staging;
mod stream;
mod timestamp;
pub mod video;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use mip_core::BatchLayout;
use mip_plan::{Group, Plan};
use mip_runtime::DeviceImage;
use mip_runtime::device::{
    Device, DeviceError, DeviceInfo, DeviceKind, Event, Executable, Graph, Memory, Recording, Space, Stream,
};

pub use options::CudaOptions;

use crate::codegen::{MORE_PARAMETER_BYTES, PARAMETER_BYTES, Target, workspace};
use crate::compile::{Compiler, KernelCache};
use crate::driver::{BorrowedMemory, BorrowedStream, Context, DriverError, MemoryPool, RawStream, device_of};
use crate::probe::{CudaDeviceProbe, CudaVersion, Missing, probe};
use shared::Shared;

/// An NVIDIA GPU.
#[derive(Debug)]
pub struct CudaDevice {
    info: DeviceInfo,
    probe: CudaDeviceProbe,
    shared: Arc<Shared>,
    streams: Mutex<Vec<Weak<stream::CudaStream>>>,
}

impl CudaDevice {
    /// Opens device `cuda:index`.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] with what is missing and what to install; [`DeviceError::Driver`] when the
    /// driver refuses.
    pub fn open(index: usize, options: CudaOptions) -> Result<Arc<Self>, DeviceError> {
        let status = probe();
        let unsupported = |missing: Missing| DeviceError::Unsupported(missing.to_string());
        let found = status.usable(index).map_err(unsupported)?.clone();
        let context = Context::retain(index)?;
        // Whether the device answers: a fault that somebody else's work met shows here.
        context.memory_info()?;
        let named = options.cache_folder.clone();
        let cache =
            named.map_or_else(KernelCache::in_default_folder, |folder| Ok(KernelCache::new(Some(folder))));
        let cache = cache.map_err(DeviceError::Unsupported)?;
        let options = options.with_environment();
        let macros: &[&str] = if options.exact_copies { &["EXACT_COPIES"] } else { &[] };
        let compiler = Compiler::new(cache, found.capability, macros);
        let compiler = compiler.map_err(DeviceError::Unsupported)?;
        let large = CudaVersion { major: 12, minor: 1 };
        let driver = status.driver.is_ok_and(|version| version >= large);
        let compiles = compiler.version() >= (large.major, large.minor);
        let parameter_bytes = if driver && compiles { MORE_PARAMETER_BYTES } else { PARAMETER_BYTES };
        let target = Target { multiprocessors: found.multiprocessors, parameter_bytes, branches: 1 };
        let pools = || format!("{} does not support memory pools", found.name);
        let pool = if found.stream_ordered {
            let refused = |error: DriverError| format!("the driver refuses a memory pool: {error}");
            MemoryPool::new(&context).map_err(refused)
        } else {
            Err(pools())
        };
        let synchronous = "each launch is waited for by itself (MIP_CUDA_SYNC), which a graph cannot do";
        let info = DeviceInfo {
            kind: DeviceKind::CUDA,
            index,
            name: found.name.clone(),
            total_memory: Some(found.total_memory),
            stream_ordered: pool.as_ref().map(|_| ()).map_err(Clone::clone),
            graph_replay: if options.synchronous { Err(synchronous.to_owned()) } else { Ok(()) },
            unified_memory: false,
        };
        let shared = Shared::new(context, compiler, target, options, pool);
        Ok(Arc::new(Self { info, probe: found, shared: Arc::new(shared), streams: Mutex::default() }))
    }

    /// What the driver says of each device; empty without a driver. See [`probe`] for the rest.
    pub fn enumerate() -> Vec<Result<CudaDeviceProbe, Missing>> {
        probe().devices
    }

    /// What the driver says of this device.
    pub const fn probe(&self) -> &CudaDeviceProbe {
        &self.probe
    }

    /// Why compiled kernels could not be kept on disk, if that happened.
    pub fn cache_problem(&self) -> Option<String> {
        self.shared.compiler.cache().problem()
    }

    /// Where compiled kernels are kept, if they are.
    pub fn cache_folder(&self) -> Option<&std::path::Path> {
        self.shared.compiler.cache().folder()
    }

    /// Free and total bytes of device memory.
    ///
    /// # Errors
    /// When the driver refuses or the device is lost.
    pub fn memory_info(&self) -> Result<(usize, usize), DeviceError> {
        self.shared.check(self.shared.context.memory_info())
    }

    /// Memory of another library on this GPU, for images that kernels read in place
    /// ([`mip_runtime::DeviceImage::in_memory`]).
    ///
    /// # Errors
    /// When the device is lost.
    pub fn borrow(&self, memory: &BorrowedMemory) -> Result<Arc<dyn Memory>, DeviceError> {
        Ok(memory::CudaMemory::borrow(&self.shared, memory)?)
    }

    /// The `CUdeviceptr` of an image in this kind of device's memory, for other libraries on the GPU to read: what was
    /// computed there is complete once the execution that made it is. `None` for memory of another kind of device.
    pub fn address(image: &DeviceImage) -> Option<u64> {
        let start = memory::device_memory(&**image.memory()).ok()?.address();
        Some(start + image.offset() as u64)
    }

    /// A stream of another library on this GPU, to record events on and to let wait for them
    /// ([`mip_runtime::device::Command`]).
    ///
    /// # Errors
    /// When the device is lost.
    pub fn borrow_stream(&self, stream: &BorrowedStream) -> Result<Arc<dyn Stream>, DeviceError> {
        Ok(borrowed::TheirStream::new(&self.shared, stream)?)
    }

    /// The `CUstream` of a stream of this kind of device, for other libraries to order their work by; it is one for as long
    /// as the stream lives. `None` for streams of other kinds of devices.
    pub fn stream_handle(stream: &dyn Stream) -> Option<u64> {
        let any = stream.as_any();
        let own = any.downcast_ref::<stream::CudaStream>().map(stream::CudaStream::raw);
        own.or_else(|| any.downcast_ref().map(borrowed::TheirStream::raw)).map(RawStream::handle)
    }

    /// The index of the GPU that holds the memory at an address; `None` for what is no memory of a GPU.
    pub fn device_of(&self, address: u64) -> Option<usize> {
        device_of(&self.shared.context, address)
    }

    /// Whether a fault has made the device useless: every call says [`DeviceError::Lost`] then.
    pub fn is_lost(&self) -> bool {
        self.shared.is_lost()
    }

    /// Whether each launch is waited for, so that faults are attributed to the kernel that caused them.
    pub fn is_synchronous(&self) -> bool {
        self.shared.options.synchronous
    }

    /// Throws the context of a lost device away, so that the GPU can be opened again in this process. All that was
    /// made by this or another device on the GPU says [`DeviceError::Lost`] from then on; pinned memory, and with
    /// it every result, stays readable. Handles of other libraries on the GPU (their context was as useless)
    /// are gone as well.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] when the device is not lost; [`DeviceError::Driver`] when the driver refuses:
    /// only another process can use the GPU then. After an illegal address it refuses when the GPU is opened again.
    pub fn discard_context(&self) -> Result<(), DeviceError> {
        if !self.is_lost() {
            let text = "the device is in order; only the context of a lost one is thrown away";
            return Err(DeviceError::Unsupported(text.to_owned()));
        }
        Ok(self.shared.context.discard()?)
    }

    pub(crate) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

/// The driver's stream behind a stream of this kind of device.
pub(crate) fn raw_stream(stream: &dyn Stream) -> Result<&crate::driver::RawStream, DeviceError> {
    let own = stream.as_any().downcast_ref::<stream::CudaStream>();
    own.map(stream::CudaStream::raw)
        .ok_or_else(|| DeviceError::Unsupported("a stream of another kind of device".to_owned()))
}

impl Device for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn create_stream(&self, label: &str) -> Result<Arc<dyn Stream>, DeviceError> {
        let stream = stream::CudaStream::new(&self.shared, label)?;
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|stream| stream.strong_count() > 0);
        streams.push(Arc::downgrade(&stream));
        Ok(stream)
    }

    fn create_event(&self) -> Result<Arc<dyn Event>, DeviceError> {
        Ok(event::CudaEvent::new(&self.shared)?)
    }

    fn allocate(&self, space: Space, bytes: usize) -> Result<Arc<dyn Memory>, DeviceError> {
        Ok(memory::CudaMemory::allocate(&self.shared, space, bytes)?)
    }

    fn capture(&self, recording: Recording) -> Result<Arc<dyn Graph>, DeviceError> {
        self.info.graph_replay.clone().map_err(DeviceError::Unsupported)?;
        Ok(Arc::new(graph::CudaGraph::new(&self.shared, recording)?))
    }

    fn is_lost(&self) -> bool {
        Self::is_lost(self)
    }

    fn discard(&self) -> Result<(), DeviceError> {
        self.discard_context()
    }

    #[cfg(feature = "profiling")]
    fn ranges(&self) -> Option<Arc<dyn mip_runtime::device::Ranges>> {
        Some(Arc::new(ranges::NvtxRanges(crate::driver::Nvtx::get()?)))
    }

    fn stream_ordered_reserved(&self) -> usize {
        let reserved = self.shared.pool.as_ref().map(|pool| pool.reserved());
        reserved.ok().and_then(Result::ok).unwrap_or(0)
    }

    fn trim_stream_ordered(&self) -> usize {
        let before = self.stream_ordered_reserved();
        if let Ok(pool) = &self.shared.pool {
            // A pool that cannot be trimmed holds as much as before.
            let _ = self.shared.check(pool.trim());
        }
        before.saturating_sub(self.stream_ordered_reserved())
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|stream| stream.strong_count() > 0);
        let alive: Vec<_> = streams.iter().filter_map(Weak::upgrade).collect();
        drop(streams);
        // One by one, so that each lets go of what its commands held.
        alive.iter().try_for_each(|stream| stream.synchronize())
    }

    fn workspace_bytes(&self, group: &Group, layouts: &[BatchLayout]) -> usize {
        workspace(group, layouts, self.shared.target)
    }

    fn fuses_horizontally(&self) -> bool {
        true
    }

    fn load(&self, plan: &Plan, group: usize) -> Result<Arc<dyn Executable>, DeviceError> {
        Ok(load::load(&self.shared, plan, group)?)
    }

    fn load_threads(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}
