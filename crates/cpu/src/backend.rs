use std::sync::Arc;

use mip_runtime::device::{Backend, Device, DeviceError, DeviceKind};

use crate::{CpuConfig, CpuDevice};

/// Opens the [`CpuDevice`].
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuBackend(pub CpuConfig);

impl Backend for CpuBackend {
    fn kind(&self) -> DeviceKind {
        DeviceKind::CPU
    }

    fn has_index(&self) -> bool {
        false
    }

    fn usable(&self, _index: usize) -> Result<(), String> {
        Ok(())
    }

    fn open(&self, _index: usize, _synchronous: bool) -> Result<Arc<dyn Device>, DeviceError> {
        Ok(CpuDevice::new(self.0)?)
    }
}
