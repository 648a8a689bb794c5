use std::sync::{Arc, Mutex, PoisonError};

use mip_cpu::{CpuConfig, CpuDevice};
use mip_cuda::{CudaDevice, CudaOptions};
use mip_runtime::device::{Device as RuntimeDevice, DeviceInfo};
use mip_runtime::memory::{ManagerOptions, MemoryManager};

use crate::Error;

/// A device that pipelines run on. Clones are the same device: they share its memory.
#[derive(Debug, Clone)]
pub struct Device {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    choice: Choice,
    opened: Mutex<Opened>,
}

#[derive(Debug)]
enum Choice {
    Cpu(CpuConfig),
    Cuda(usize, CudaOptions),
    Given(Arc<dyn RuntimeDevice>),
}

#[derive(Debug, Default)]
struct Opened {
    device: Option<Arc<dyn RuntimeDevice>>,
    /// One memory manager for each way of managing memory that somebody asked for.
    managers: Vec<(ManagerOptions, Arc<MemoryManager>)>,
}

impl Device {
    /// Threads of this machine, as many as it has cores. Opened at first use.
    pub fn cpu() -> Self {
        Self::cpu_with(CpuConfig::default())
    }

    /// Threads of this machine, with a number of threads and a SIMD level of your choice.
    pub fn cpu_with(config: CpuConfig) -> Self {
        Self::of(Choice::Cpu(config))
    }

    /// The NVIDIA GPU with that index. Opened at first use.
    pub fn cuda(index: usize) -> Self {
        Self::cuda_with(index, CudaOptions::default())
    }

    /// The NVIDIA GPU with that index, with options of your choice.
    pub fn cuda_with(index: usize, options: CudaOptions) -> Self {
        Self::of(Choice::Cuda(index, options))
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
        let (device, reason) = match mip_cuda::probe().usable(0) {
            Ok(_) => (Self::cuda(0), None),
            Err(missing) => (Self::cpu(), Some(missing.to_string())),
        };
        device.open()?;
        Ok((device, reason))
    }

    /// A device made elsewhere (a test's null device, another backend).
    pub fn from_runtime(device: Arc<dyn RuntimeDevice>) -> Self {
        Self::of(Choice::Given(device))
    }

    fn of(choice: Choice) -> Self {
        Self { shared: Arc::new(Shared { choice, opened: Mutex::default() }) }
    }

    /// What it is and can do; opens it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn info(&self) -> Result<DeviceInfo, Error> {
        Ok(self.open()?.info().clone())
    }

    /// The device as the runtime sees it; opens it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(&self) -> Result<Arc<dyn RuntimeDevice>, Error> {
        let mut opened = self.shared.opened.lock().unwrap_or_else(PoisonError::into_inner);
        self.open_locked(&mut opened)
    }

    fn open_locked(&self, opened: &mut Opened) -> Result<Arc<dyn RuntimeDevice>, Error> {
        if let Some(device) = &opened.device {
            return Ok(device.clone());
        }
        let device: Arc<dyn RuntimeDevice> = match &self.shared.choice {
            Choice::Cpu(config) => CpuDevice::new(*config)?,
            Choice::Cuda(index, options) => CudaDevice::open(*index, options.clone())?,
            Choice::Given(device) => device.clone(),
        };
        opened.device = Some(device.clone());
        Ok(device)
    }

    /// The memory manager that all pipelines with the same wishes share on this device.
    pub(crate) fn memory(&self, config: &ManagerOptions) -> Result<Arc<MemoryManager>, Error> {
        let mut opened = self.shared.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, manager)) = opened.managers.iter().find(|(c, _)| c == config) {
            return Ok(manager.clone());
        }
        let device = self.open_locked(&mut opened)?;
        let manager = MemoryManager::new(device, config.clone());
        opened.managers.push((config.clone(), manager.clone()));
        Ok(manager)
    }
}
