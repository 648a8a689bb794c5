use std::ffi::c_int;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUdevice_attribute as A};

use super::DriverError;

/// Prepares the driver; needed once before anything else, harmless when repeated.
pub(crate) fn initialise() -> Result<(), DriverError> {
    // SAFETY: no preconditions but the library's presence, which `library` has established.
    unsafe { call!(cuInit(0)) }
}

/// The newest CUDA version the driver supports: 13000 for 13.0.
pub(crate) fn driver_version() -> Result<u32, DriverError> {
    let mut version: c_int = 0;
    // SAFETY: writes one integer.
    unsafe { call!(cuDriverGetVersion(&raw mut version)) }?;
    Ok(version as u32)
}

/// Number of devices the driver shows.
pub(crate) fn device_count() -> Result<usize, DriverError> {
    let mut count: c_int = 0;
    // SAFETY: writes one integer.
    unsafe { call!(cuDeviceGetCount(&raw mut count)) }?;
    Ok(count as usize)
}

/// What a device is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub name: String,
    pub total_memory: u64,
    /// Compute capability: (9, 0).
    pub capability: (u32, u32),
    pub multiprocessors: u32,
    /// Whether stream-ordered allocation is supported.
    pub memory_pools: bool,
}

fn device(index: usize) -> Result<sys::CUdevice, DriverError> {
    let mut device = 0;
    // SAFETY: writes one handle; an index out of range is an error.
    unsafe { call!(cuDeviceGet(&raw mut device, index as c_int)) }?;
    Ok(device)
}

impl Attributes {
    /// Asks the driver about a device, without making a context on it.
    pub(crate) fn of(index: usize) -> Result<Self, DriverError> {
        let device = device(index)?;
        let mut name = [0_u8; 256];
        // SAFETY: writes at most the given number of bytes, the terminating zero included.
        unsafe { call!(cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as c_int, device)) }?;
        let length = name.iter().position(|&b| b == 0).unwrap_or(name.len());
        let mut total_memory = 0;
        // SAFETY: writes one size.
        unsafe { call!(cuDeviceTotalMem_v2(&raw mut total_memory, device)) }?;
        let attribute = |which| {
            let mut value: c_int = 0;
            // SAFETY: writes one integer.
            unsafe { call!(cuDeviceGetAttribute(&raw mut value, which, device)) }?;
            Ok::<u32, DriverError>(value as u32)
        };
        Ok(Self {
            name: String::from_utf8_lossy(&name[..length]).into_owned(),
            total_memory: total_memory as u64,
            capability: (
                attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            memory_pools: attribute(A::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? != 0,
        })
    }
}

/// A device's primary context, kept for as long as this lives.
#[derive(Debug)]
pub(crate) struct Context {
    device: sys::CUdevice,
    raw: sys::CUcontext,
}

// SAFETY: a context may be made current on any thread, on several at once; the handle itself is never written.
unsafe impl Send for Context {}
// SAFETY: as for `Send`.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn retain(index: usize) -> Result<Arc<Self>, DriverError> {
        let device = device(index)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: writes one handle; released in `drop`.
        unsafe { call!(cuDevicePrimaryCtxRetain(&raw mut raw, device)) }?;
        Ok(Arc::new(Self { device, raw }))
    }

    /// Makes this the calling thread's context.
    pub(crate) fn bind(&self) -> Result<(), DriverError> {
        // SAFETY: the context is retained until `drop`.
        unsafe { call!(cuCtxSetCurrent(self.raw)) }
    }

    /// Free and total bytes of device memory.
    pub(crate) fn memory_info(&self) -> Result<(usize, usize), DriverError> {
        self.bind()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: writes two sizes.
        unsafe { call!(cuMemGetInfo_v2(&raw mut free, &raw mut total)) }?;
        Ok((free, total))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // A failure here (the process is ending, the device is gone) leaves nothing to be done.
        // SAFETY: retained in `retain`; everything made in the context holds an `Arc` of it and is gone.
        let _ = unsafe { call!(cuDevicePrimaryCtxRelease_v2(self.device)) };
    }
}
