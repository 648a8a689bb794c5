use std::ffi::CStr;

use cudarc::driver::sys::{self, CUresult};
use mip_runtime::device::DeviceError;

/// A driver call that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{call} failed: {name} ({code}): {text}")]
pub(crate) struct DriverError {
    /// The call.
    pub call: &'static str,
    /// `CUDA_ERROR_...`.
    pub name: String,
    /// The number behind the name.
    pub code: u32,
    /// What the driver says about it.
    pub text: String,
}

/// Runs a driver call by name and turns its result into a `Result`.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {
        $crate::driver::error::check(stringify!($name), cudarc::driver::sys::$name($($argument),*))
    };
}

pub(super) fn check(call: &'static str, result: CUresult) -> Result<(), DriverError> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    Err(DriverError::new(call, result))
}

impl DriverError {
    fn new(call: &'static str, result: CUresult) -> Self {
        let text = |get: unsafe fn(CUresult, *mut *const std::ffi::c_char) -> CUresult| {
            let mut text = std::ptr::null();
            // SAFETY: the library is present (a call of it returned `result`); the pointer it sets is to a
            // static string, or null for codes it does not know.
            unsafe {
                if get(result, &raw mut text) != CUresult::CUDA_SUCCESS || text.is_null() {
                    return "unknown to this driver".to_owned();
                }
                CStr::from_ptr(text).to_string_lossy().into_owned()
            }
        };
        Self { call, name: text(sys::cuGetErrorName), code: result as u32, text: text(sys::cuGetErrorString) }
    }

    /// The error of whatever was made in a context that was thrown away.
    pub(super) fn discarded() -> Self {
        Self {
            call: "cuCtxSetCurrent",
            name: "CUDA_ERROR_CONTEXT_IS_DESTROYED".to_owned(),
            code: CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED as u32,
            text: "the context was thrown away after a fault; the device has to be opened again".to_owned(),
        }
    }

    /// The error of throwing a context away that somebody does not let go of.
    pub(super) fn busy() -> Self {
        Self {
            call: "cuDevicePrimaryCtxReset",
            name: "CUDA_ERROR_NOT_READY".to_owned(),
            code: CUresult::CUDA_ERROR_NOT_READY as u32,
            text: "another thread is in a call of the driver that does not return".to_owned(),
        }
    }

    /// The error of calling what this driver does not have.
    pub(super) fn no_function(call: &'static str) -> Self {
        Self {
            call,
            name: "CUDA_ERROR_NOT_FOUND".to_owned(),
            code: CUresult::CUDA_ERROR_NOT_FOUND as u32,
            text: "this driver is too old to have the function; install a newer one".to_owned(),
        }
    }

    /// The error of host memory that cannot be had.
    pub(super) fn no_host_memory() -> Self {
        Self {
            call: "cuMemHostRegister",
            name: "CUDA_ERROR_OUT_OF_MEMORY".to_owned(),
            code: CUresult::CUDA_ERROR_OUT_OF_MEMORY as u32,
            text: "the system has no memory left to pin".to_owned(),
        }
    }

    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.code == CUresult::CUDA_ERROR_OUT_OF_MEMORY as u32
    }

    /// Whether code that ran on the device caused it, not the device or the driver.
    pub(crate) fn is_fault_of_a_kernel(&self) -> bool {
        use CUresult as R;
        [
            R::CUDA_ERROR_ILLEGAL_ADDRESS,
            R::CUDA_ERROR_LAUNCH_TIMEOUT,
            R::CUDA_ERROR_ASSERT,
            R::CUDA_ERROR_HARDWARE_STACK_ERROR,
            R::CUDA_ERROR_ILLEGAL_INSTRUCTION,
            R::CUDA_ERROR_MISALIGNED_ADDRESS,
            R::CUDA_ERROR_INVALID_ADDRESS_SPACE,
            R::CUDA_ERROR_INVALID_PC,
            R::CUDA_ERROR_LAUNCH_FAILED,
        ]
        .iter()
        .any(|&fault| fault as u32 == self.code)
    }

    /// Whether the context cannot be used any more: faults of kernels and of the hardware stay for good.
    pub(crate) fn is_fatal(&self) -> bool {
        use CUresult as R;
        let lost = [
            R::CUDA_ERROR_DEINITIALIZED,
            R::CUDA_ERROR_DEVICE_UNAVAILABLE,
            R::CUDA_ERROR_ECC_UNCORRECTABLE,
            R::CUDA_ERROR_NVLINK_UNCORRECTABLE,
            R::CUDA_ERROR_CONTEXT_IS_DESTROYED,
            R::CUDA_ERROR_UNKNOWN,
        ];
        self.is_fault_of_a_kernel() || lost.iter().any(|&fatal| fatal as u32 == self.code)
    }
}

impl From<DriverError> for DeviceError {
    fn from(error: DriverError) -> Self {
        Self::Driver { call: error.call, message: format!("{} ({}): {}", error.name, error.code, error.text) }
    }
}
