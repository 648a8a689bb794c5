//! Times by the device's own clock.

use mip_runtime::device::{DeviceError, Stream};

use crate::CudaDevice;
use crate::driver::{DeviceMemory, RawEvent, RawStream};

impl CudaDevice {
    /// Milliseconds between the start and the end of what `work` queues on a stream made by this device.
    /// Needs a driver of CUDA 12.8 or newer.
    ///
    /// # Errors
    /// What `work` says, what the driver says, or that the driver is too old.
    pub fn time(
        &self,
        stream: &dyn Stream,
        work: impl FnOnce() -> Result<(), DeviceError>,
    ) -> Result<f32, DeviceError> {
        let raw = crate::device::raw_stream(stream)?;
        self.time_raw(raw, work)
    }

    fn time_raw(
        &self,
        raw: &RawStream,
        work: impl FnOnce() -> Result<(), DeviceError>,
    ) -> Result<f32, DeviceError> {
        let shared = self.shared();
        if !crate::driver::driver_version().is_ok_and(|v| v >= 12_080) {
            return Err(DeviceError::Unsupported(
                "timing by events needs a driver for CUDA 12.8 or newer".to_owned(),
            ));
        }
        let event = || shared.check(RawEvent::new(&shared.context, true));
        let (start, end) = (event()?, event()?);
        shared.check(raw.record(&start))?;
        work()?;
        shared.check(raw.record(&end))?;
        shared.check(end.synchronize())?;
        shared.check(end.milliseconds_since(&start))
    }

    /// The device's own copy bandwidth in bytes a second, read and written bytes counted, as the median of
    /// copies of `bytes` bytes.
    ///
    /// # Errors
    /// When memory is short or the driver refuses.
    pub fn copy_bandwidth(&self, bytes: usize) -> Result<f64, DeviceError> {
        let shared = self.shared();
        let memory = || shared.check(DeviceMemory::allocate(&shared.context, bytes));
        let (from, to) = (memory()?, memory()?);
        let stream = shared.check(RawStream::new(&shared.context))?;
        shared.check(from.fill(&stream, 0x5A))?;
        let mut times = Vec::new();
        for _ in 0..15 {
            times.push(self.time_raw(&stream, || shared.check(stream.copy_device(&from, &to)))?);
        }
        shared.check(stream.synchronize())?;
        times.sort_by(f32::total_cmp);
        Ok(2.0 * bytes as f64 / (f64::from(times[times.len() / 2]) / 1e3))
    }
}
