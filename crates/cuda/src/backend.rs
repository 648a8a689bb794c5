use std::sync::Arc;

use mip_runtime::device::{Backend, Device, DeviceError, DeviceKind};

use crate::{CudaDevice, CudaOptions, probe};

/// Opens [`CudaDevice`]s.
#[derive(Debug, Clone, Default)]
pub struct CudaBackend(pub CudaOptions);

impl Backend for CudaBackend {
    fn kind(&self) -> DeviceKind {
        DeviceKind::CUDA
    }

    fn usable(&self, index: usize) -> Result<(), String> {
        probe().usable(index).map(drop).map_err(|missing| missing.to_string())
    }

    fn open(&self, index: usize, synchronous: bool) -> Result<Arc<dyn Device>, DeviceError> {
        let synchronous = synchronous || self.0.synchronous;
        Ok(CudaDevice::open(index, CudaOptions { synchronous, ..self.0.clone() })?)
    }
}
