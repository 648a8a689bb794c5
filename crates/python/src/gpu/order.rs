//! What comes after what on the GPU: our streams, and those of other libraries.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use mini_image_pipe::Device;
use mini_image_pipe::cuda::CudaDevice;
use mini_image_pipe::runtime::device::{Command, Device as RuntimeDevice, DeviceKind, Event, Stream};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::dlpack;
use crate::errors::Failed;

/// The legacy default stream, as the driver and DLPack number it.
pub(crate) const LEGACY: u64 = 1;

/// Streams of other libraries kept; they rarely have more.
const KEPT: usize = 16;

/// A pipeline's side of the order of a GPU.
#[derive(Debug)]
pub(crate) struct Gateway {
    device: Device,
    index: usize,
    runtime: Arc<dyn RuntimeDevice>,
    /// Where producers that we do not know set what is to come before a run.
    entry: Theirs,
    entry_handle: u64,
    theirs: Mutex<Vec<(u64, Theirs)>>,
}

/// A stream, and an event for what is queued there now.
#[derive(Debug, Clone)]
struct Theirs {
    stream: Arc<dyn Stream>,
    now: Arc<dyn Event>,
}

impl Theirs {
    fn new(runtime: &dyn RuntimeDevice, stream: Arc<dyn Stream>) -> Result<Self, Failed> {
        Ok(Self { stream, now: runtime.create_event()? })
    }

    fn now(&self) -> Result<Arc<dyn Event>, Failed> {
        self.stream.submit(Command::Record(self.now.clone()))?;
        Ok(self.now.clone())
    }
}

impl Gateway {
    /// That of a device; `None` where it is no GPU.
    pub(crate) fn new(device: &Device) -> Result<Option<Self>, Failed> {
        let runtime = device.open()?;
        let info = runtime.info();
        if info.kind != DeviceKind::CUDA {
            return Ok(None);
        }
        let index = info.index;
        let entry = runtime.create_stream("entry")?;
        let entry_handle = CudaDevice::stream_handle(&*entry).unwrap_or(LEGACY);
        let entry = Theirs::new(&*runtime, entry)?;
        let theirs = Mutex::default();
        Ok(Some(Self { device: device.clone(), index, runtime, entry, entry_handle, theirs }))
    }

    pub(crate) const fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) const fn index(&self) -> usize {
        self.index
    }

    pub(crate) fn runtime(&self) -> &Arc<dyn RuntimeDevice> {
        &self.runtime
    }

    /// The handle of the stream that producers order their work before.
    pub(crate) const fn entry_handle(&self) -> i64 {
        self.entry_handle.cast_signed()
    }

    /// A stream by whose handle another library learns when `done` is reached.
    pub(crate) fn exit_handle(&self, done: &Arc<dyn Event>) -> Result<u64, Failed> {
        self.entry.stream.submit(Command::Wait(done.clone()))?;
        Ok(self.entry_handle)
    }

    /// Refuses an address that is not this GPU's, as far as the driver knows.
    pub(crate) fn check_address(&self, start: usize, len: usize) -> Result<(), Failed> {
        let any: &dyn Any = &*self.runtime;
        let Some(cuda) = any.downcast_ref::<CudaDevice>() else { return Ok(()) };
        for address in [start, start + len.saturating_sub(1)] {
            let found = cuda.device_of(address as u64);
            if found != Some(self.index) {
                let place =
                    found.map_or_else(|| "no memory of a GPU".to_owned(), |index| format!("on cuda:{index}"));
                return Err(Failed::usage(format!(
                    "this tensor's memory is {place}, but the pipeline runs on cuda:{}; tensor.to(\"cuda:{}\") copies it there",
                    self.index, self.index
                )));
            }
        }
        Ok(())
    }

    /// Another library's stream that is in use now.
    fn theirs(&self, handle: u64) -> Result<Theirs, Failed> {
        let mut known = self.theirs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, theirs)) = known.iter().find(|(of, _)| *of == handle) {
            return Ok(theirs.clone());
        }
        let stream = self.device.borrow_cuda_stream(&dlpack::stream_of(handle, Arc::new(())))?;
        let theirs = Theirs::new(&*self.runtime, stream)?;
        if known.len() == KEPT {
            known.remove(0);
        }
        known.push((handle, theirs.clone()));
        Ok(theirs)
    }
}

/// What a run comes after, and the streams that are to come after it.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    after: Vec<Arc<dyn Event>>,
    on: Vec<u64>,
    entry: bool,
}

impl Orders {
    /// After an event.
    pub(super) fn after(&mut self, event: &Arc<dyn Event>) {
        self.after.push(event.clone());
    }

    /// In the order of a stream of another library: after what is queued there now, before what is queued later.
    pub(super) fn on(&mut self, handle: u64) {
        // The driver's 0 is the legacy default stream to us, as to the libraries that say it.
        let handle = if handle == 0 { LEGACY } else { handle };
        if !self.on.contains(&handle) {
            self.on.push(handle);
        }
    }

    /// After what a producer has ordered before our own stream.
    pub(super) const fn on_entry(&mut self) {
        self.entry = true;
    }

    /// The events to come after.
    pub(crate) fn events(&self, gateway: &Gateway) -> Result<Vec<Arc<dyn Event>>, Failed> {
        let mut events = self.after.clone();
        for handle in &self.on {
            events.push(gateway.theirs(*handle)?.now()?);
        }
        if self.entry {
            events.push(gateway.entry.now()?);
        }
        Ok(events)
    }

    /// Lets the streams come after a run.
    pub(crate) fn end(&self, gateway: &Gateway, done: &Arc<dyn Event>) -> Result<(), Failed> {
        for handle in &self.on {
            gateway.theirs(*handle)?.stream.submit(Command::Wait(done.clone()))?;
        }
        Ok(())
    }
}

/// A module, if the program has imported it.
pub(super) fn imported<'py>(py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    modules.get_item(name)
}

/// The stream that the library of a tensor works on now, where we know how to ask it.
pub(super) fn current_stream(tensor: &Bound<'_, PyAny>, index: usize) -> PyResult<Option<u64>> {
    let py = tensor.py();
    if let Some(torch) = imported(py, "torch")?
        && tensor.is_instance(&torch.getattr("Tensor")?)?
    {
        // What `torch.cuda.current_stream(index).cuda_stream` gives, without an object for it.
        if let Some(raw) = torch.getattr("_C")?.getattr_opt("_cuda_getCurrentRawStream")? {
            return raw.call1((index,))?.extract().map(Some);
        }
        let stream = torch.getattr("cuda")?.getattr("current_stream")?.call1((index,))?;
        return stream.getattr("cuda_stream")?.extract().map(Some);
    }
    if let Some(cupy) = imported(py, "cupy")?
        && tensor.is_instance(&cupy.getattr("ndarray")?)?
    {
        let stream = cupy.getattr("cuda")?.getattr("get_current_stream")?.call1((index,))?;
        return stream.getattr("ptr")?.extract().map(Some);
    }
    Ok(None)
}
