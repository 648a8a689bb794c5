#[cfg(feature = "cuda")]
use std::any::Any;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

#[cfg(feature = "cuda")]
use mip_core::BatchLayout;
use mip_core::ImageBuffer;
#[cfg(feature = "cpu")]
use mip_cpu::{CpuBackend, CpuConfig};
#[cfg(feature = "cuda")]
use mip_cuda::jpeg::JpegDecoder;
#[cfg(feature = "cuda")]
use mip_cuda::video::{VideoCodec, VideoDecoder};
#[cfg(feature = "cuda")]
use mip_cuda::{BorrowedMemory, BorrowedStream, CudaBackend, CudaDevice, CudaOptions};
#[cfg(feature = "cuda")]
use mip_runtime::device::Stream;
use mip_runtime::device::{Backend, Device as RuntimeDevice, DeviceError, DeviceInfo};
use mip_runtime::memory::{ManagerOptions, MemoryManager};
use mip_runtime::{DeviceImage, download_image};

use crate::backends::{Given, Opener};
use crate::{Backends, Error};

/// A device that pipelines run on. Clones are the same device: they share its memory.
#[derive(Debug, Clone)]
pub struct Device {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    backend: Arc<dyn Backend>,
    index: usize,
    opened: Mutex<Opened>,
}

#[derive(Debug, Default)]
struct Opened {
    device: Option<Arc<dyn RuntimeDevice>>,
    /// One memory manager for each way of managing memory that somebody asked for.
    managers: Vec<(ManagerOptions, Arc<MemoryManager>)>,
    /// Made when first asked for: that takes a while.
    #[cfg(feature = "cuda")]
    jpeg: Option<Arc<JpegDecoder>>,
}

impl FromStr for Device {
    type Err = Error;

    /// `auto` (the first GPU if one can be used, else the CPU), `cpu`, `cuda` or `cuda:N`, as `mip --device` takes them:
    /// what [`Backends::default`] knows.
    ///
    /// ```
    /// # #[cfg(all(feature = "cpu", feature = "cuda"))] {
    /// use mini_image_pipe::Device;
    ///
    /// let device: Device = "cpu".parse()?;
    /// assert!(device.info()?.unified_memory);
    /// let refused = "gpu".parse::<Device>().unwrap_err();
    /// assert_eq!(refused.to_string(), "`device` is gpu, but must be auto, cpu, cuda or cuda:N");
    /// # }
    /// # Ok::<(), mini_image_pipe::Error>(())
    /// ```
    fn from_str(name: &str) -> Result<Self, Error> {
        Backends::default().device(name)
    }
}

impl Default for Device {
    /// The CPU. Without the feature `cpu`: the first device of the backend that there is; opening it fails where there
    /// is none.
    fn default() -> Self {
        let first = Backends::default().iter().next().cloned();
        Self::of(first.unwrap_or_else(|| Arc::new(crate::backends::Nothing)), 0)
    }
}

impl Device {
    /// Threads of this machine, as many as it has cores. Opened at first use.
    #[cfg(feature = "cpu")]
    pub fn cpu() -> Self {
        Self::cpu_with(CpuConfig::default())
    }

    /// Threads of this machine, with a number of threads and a SIMD level of your choice.
    #[cfg(feature = "cpu")]
    pub fn cpu_with(config: CpuConfig) -> Self {
        Self::of(Arc::new(CpuBackend(config)), 0)
    }

    /// The NVIDIA GPU with that index. Opened at first use.
    #[cfg(feature = "cuda")]
    pub fn cuda(index: usize) -> Self {
        Self::cuda_with(index, CudaOptions::default())
    }

    /// The NVIDIA GPU with that index, with options of your choice.
    #[cfg(feature = "cuda")]
    pub fn cuda_with(index: usize, options: CudaOptions) -> Self {
        Self::of(Arc::new(CudaBackend(options)), index)
    }

    /// The first NVIDIA GPU if one can be used, else the CPU. [`Device::info`] tells which it is.
    ///
    /// # Errors
    /// When the device chosen cannot be opened.
    pub fn auto() -> Result<Self, Error> {
        Ok(Self::auto_with_reason()?.0)
    }

    /// As [`Device::auto`], with the reason why it is not a GPU where it is none.
    ///
    /// # Errors
    /// When the device chosen cannot be opened.
    pub fn auto_with_reason() -> Result<(Self, Option<String>), Error> {
        Backends::default().auto()
    }

    /// A device made elsewhere (a test's null device, another backend).
    pub fn from_runtime(device: Arc<dyn RuntimeDevice>) -> Self {
        Self::of(Arc::new(Given(device)), 0)
    }

    /// A device made elsewhere that can be made anew: after a fault has cost the device, `open` is called again.
    /// Its argument is whether each launch has to be waited for, so that a fault is attributed to the task it
    /// belongs to.
    pub fn from_opener(
        open: impl Fn(bool) -> Result<Arc<dyn RuntimeDevice>, DeviceError> + Send + Sync + 'static,
    ) -> Self {
        Self::of(Arc::new(Opener(open)), 0)
    }

    /// Device `index` of a backend. Opened at first use.
    pub fn of(backend: Arc<dyn Backend>, index: usize) -> Self {
        Self { shared: Arc::new(Shared { backend, index, opened: Mutex::default() }) }
    }

    /// What it is and can do; opens it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn info(&self) -> Result<DeviceInfo, Error> {
        Ok(self.open()?.info().clone())
    }

    /// Whether both have the same kind and index.
    pub(crate) fn is_named_as(&self, other: &Self) -> bool {
        let name = |device: &Self| (device.shared.backend.kind(), device.shared.index);
        name(self) == name(other)
    }

    /// What names it on a command line, also before it is opened: `cpu`, `cuda:0`.
    pub(crate) fn id(&self) -> String {
        let Shared { backend, index, .. } = &*self.shared;
        if backend.has_index() { format!("{}:{index}", backend.kind()) } else { backend.kind().to_string() }
    }

    /// The device, if it has been opened; does not wait for somebody who is opening it.
    pub(crate) fn opened(&self) -> Option<Arc<dyn RuntimeDevice>> {
        match self.shared.opened.try_lock() {
            Ok(opened) => opened.device.clone(),
            Err(TryLockError::Poisoned(opened)) => opened.into_inner().device.clone(),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The device as the runtime sees it; opens it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(&self) -> Result<Arc<dyn RuntimeDevice>, Error> {
        self.open_locked(&mut self.lock())
    }

    /// Images in memory of another library on this GPU (a decoder's surface, a tensor), which pipelines on it read in place:
    /// one for each layout, with the byte at which it begins. The memory is not let go of before the last of them is no longer
    /// in use.
    ///
    /// # Errors
    /// When this is no CUDA device, it cannot be opened, or an image does not lie inside the memory.
    #[cfg(feature = "cuda")]
    pub fn borrow_cuda<const N: usize>(
        &self,
        memory: &BorrowedMemory,
        images: [(BatchLayout, usize); N],
    ) -> Result<[DeviceImage; N], Error> {
        let memory = self.with_cuda(|cuda| cuda.borrow(memory))?;
        let made = images.map(|(layout, offset)| DeviceImage::in_memory(memory.clone(), layout, offset));
        let mut whole = Vec::with_capacity(N);
        for image in made {
            whole.push(image?);
        }
        Ok(whole.try_into().expect("as many as there were"))
    }

    /// A stream of another library on this GPU: what is recorded there tells [`crate::Pipeline::run_on_device`] when images are
    /// complete, and it can be made to wait for a run's end, without the host waiting for either.
    ///
    /// # Errors
    /// When this is no CUDA device, or it cannot be opened.
    #[cfg(feature = "cuda")]
    pub fn borrow_cuda_stream(&self, stream: &BorrowedStream) -> Result<Arc<dyn Stream>, Error> {
        self.with_cuda(|cuda| cuda.borrow_stream(stream))
    }

    /// nvJPEG on this device, made when first asked for.
    #[cfg(feature = "cuda")]
    pub(crate) fn jpeg_decoder(&self) -> Result<Arc<JpegDecoder>, Error> {
        if let Some(decoder) = &self.lock().jpeg {
            return Ok(decoder.clone());
        }
        let decoder = self.with_cuda(CudaDevice::jpeg_decoder)?;
        self.lock().jpeg = Some(decoder.clone());
        Ok(decoder)
    }

    /// NVDEC on this device, for one stream.
    #[cfg(feature = "cuda")]
    pub(crate) fn video_decoder(
        &self,
        codec: VideoCodec,
        manager: &Arc<MemoryManager>,
    ) -> Result<VideoDecoder, Error> {
        self.with_cuda(|cuda| cuda.video_decoder(codec, manager))
    }

    #[cfg(feature = "cuda")]
    fn with_cuda<T>(&self, ask: impl FnOnce(&CudaDevice) -> Result<T, DeviceError>) -> Result<T, Error> {
        let device = self.open()?;
        let any: &dyn Any = &*device;
        let cuda = any.downcast_ref::<CudaDevice>().ok_or_else(|| {
            Error::Usage(
                "this takes a CUDA device, which decodes JPEG files and video and borrows memory and streams of a GPU; it was given another"
                    .to_owned(),
            )
        })?;
        Ok(ask(cuda)?)
    }

    /// Copies an image (batch) that is complete from this device's memory to the host's, and waits for that.
    ///
    /// # Errors
    /// When it is another device's, or there is no memory.
    pub fn download(&self, image: &DeviceImage) -> Result<ImageBuffer, Error> {
        Ok(download_image(&*self.memory(&ManagerOptions::default())?, image)?)
    }

    /// Opens the device anew in place of `old`, whose sessions and memory managers have been let go of; what a lost
    /// one holds is given up. Does nothing when another pipeline did that before.
    ///
    /// # Errors
    /// When it cannot be opened again in this process.
    pub(crate) fn reopen(&self, old: &Arc<dyn RuntimeDevice>, synchronous: bool) -> Result<(), Error> {
        let mut opened = self.lock();
        if opened.device.as_ref().is_some_and(|now| !same(now, old)) {
            return Ok(());
        }
        self.shared.backend.reopens()?;
        let lost = opened.device.take().filter(|device| device.is_lost());
        *opened = Opened::default();
        lost.map_or(Ok(()), |device| device.discard())?;
        self.open_as(&mut opened, synchronous).map(drop)
    }

    fn lock(&self) -> MutexGuard<'_, Opened> {
        self.shared.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_locked(&self, opened: &mut Opened) -> Result<Arc<dyn RuntimeDevice>, Error> {
        if let Some(device) = &opened.device {
            return Ok(device.clone());
        }
        self.open_as(opened, false)
    }

    /// Opens it; `synchronous` with a wait for each launch, where the device knows that.
    fn open_as(&self, opened: &mut Opened, synchronous: bool) -> Result<Arc<dyn RuntimeDevice>, Error> {
        let device = self.shared.backend.open(self.shared.index, synchronous)?;
        opened.device = Some(device.clone());
        Ok(device)
    }

    /// The memory manager that all pipelines with the same wishes share on this device.
    pub(crate) fn memory(&self, config: &ManagerOptions) -> Result<Arc<MemoryManager>, Error> {
        let mut opened = self.lock();
        if let Some((_, manager)) = opened.managers.iter().find(|(c, _)| c == config) {
            return Ok(manager.clone());
        }
        let device = self.open_locked(&mut opened)?;
        let manager = MemoryManager::new(device, config.clone());
        opened.managers.push((config.clone(), manager.clone()));
        Ok(manager)
    }
}

/// Whether `device`, which gave `error`, cannot be used any more.
pub(crate) fn is_lost(device: &dyn RuntimeDevice, error: &DeviceError) -> bool {
    matches!(error, DeviceError::Lost(_)) || device.is_lost()
}

/// Whether two handles are of one device.
pub(crate) fn same(a: &Arc<dyn RuntimeDevice>, b: &Arc<dyn RuntimeDevice>) -> bool {
    std::ptr::addr_eq(Arc::as_ptr(a), Arc::as_ptr(b))
}
