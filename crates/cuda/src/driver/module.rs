use std::ffi::CString;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUfunction_attribute};

use super::{Context, DriverError, RawStream};

/// A loaded cubin.
#[derive(Debug)]
pub(crate) struct Module {
    context: Arc<Context>,
    raw: sys::CUmodule,
}

// SAFETY: the driver synchronises calls on a module; the handle is never written after creation.
unsafe impl Send for Module {}
// SAFETY: as for `Send`.
unsafe impl Sync for Module {}

impl Module {
    /// Loads machine code for the context's device. Code for another device, or damaged code, is an error.
    pub(crate) fn load(context: &Arc<Context>, cubin: &[u8]) -> Result<Arc<Self>, DriverError> {
        let _bound = context.bind()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the image is a complete ELF file (the cache checks its length and checksum), copied by the call.
        unsafe { call!(cuModuleLoadData(&raw mut raw, cubin.as_ptr().cast())) }?;
        Ok(Arc::new(Self { context: context.clone(), raw }))
    }

    /// A kernel by name, loaded eagerly: nothing is left to do at its first launch.
    pub(crate) fn function(self: &Arc<Self>, name: &str) -> Result<Function, DriverError> {
        let _bound = self.context.bind()?;
        let text = CString::new(name).unwrap_or_default();
        let mut raw = std::ptr::null_mut();
        // SAFETY: the module lives; the name ends in a zero.
        unsafe { call!(cuModuleGetFunction(&raw mut raw, self.raw, text.as_ptr())) }?;
        let function = Function { module: self.clone(), raw };
        function.attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?;
        Ok(function)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // On a lost device this fails, and there is nothing left to free.
        // SAFETY: loaded in `load`; functions hold an `Arc` of the module.
        let _ = self.context.bind().and_then(|_bound| unsafe { call!(cuModuleUnload(self.raw)) });
    }
}

/// A kernel.
#[derive(Debug)]
pub(crate) struct Function {
    module: Arc<Module>,
    raw: sys::CUfunction,
}

// SAFETY: the driver synchronises calls on a function; the handle is never written after creation.
unsafe impl Send for Function {}
// SAFETY: as for `Send`.
unsafe impl Sync for Function {}

/// Blocks and threads of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaunchShape {
    pub grid: [u32; 3],
    pub block: [u32; 2],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
}

impl Function {
    pub(super) const fn raw(&self) -> sys::CUfunction {
        self.raw
    }

    /// Tells functions apart.
    pub(crate) fn id(&self) -> usize {
        self.raw.addr()
    }

    fn attribute(&self, which: CUfunction_attribute) -> Result<i32, DriverError> {
        let _bound = self.module.context.bind()?;
        let mut value = 0;
        // SAFETY: the function lives; writes one integer.
        unsafe { call!(cuFuncGetAttribute(&raw mut value, which, self.raw)) }?;
        Ok(value)
    }

    /// Queues a launch with one parameter: the bytes of the kernel's parameter struct.
    ///
    /// The caller keeps every address in it allocated until the stream is past the launch (streams do that
    /// through their in-flight lists), and plans order launches that use the same memory.
    pub(crate) fn launch(
        &self,
        stream: &RawStream,
        shape: LaunchShape,
        parameter: &[u64],
    ) -> Result<(), DriverError> {
        let _bound = self.module.context.bind()?;
        let LaunchShape { grid, block, shared } = shape;
        let mut parameters = [parameter.as_ptr().cast_mut().cast()];
        // SAFETY: text and bytes of the parameter struct come from the same generator, so that the driver
        // reads no more than is there, and it copies them before it returns. What the kernel touches lies
        // inside the memory its parameters name, which the device's in-flight lists keep.
        unsafe {
            call!(cuLaunchKernel(
                self.raw,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                1,
                shared,
                stream.raw,
                parameters.as_mut_ptr(),
                std::ptr::null_mut(),
            ))
        }
    }
}
