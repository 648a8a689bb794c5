use std::ffi::c_int;
use std::sync::Arc;

use cudarc::driver::sys::{
    self, CUmemAllocationHandleType, CUmemAllocationType, CUmemLocationType, CUmemPool_attribute as Attribute,
};

use super::{Context, DriverError};

/// A pool of the driver's stream-ordered allocator. Its own, not the device's default one: other libraries of the
/// process use that.
#[derive(Debug)]
pub(crate) struct MemoryPool {
    context: Arc<Context>,
    pub(super) raw: sys::CUmemoryPool,
}

// SAFETY: the driver synchronises calls on a pool; the handle is never written after creation.
unsafe impl Send for MemoryPool {}
// SAFETY: as for `Send`.
unsafe impl Sync for MemoryPool {}

impl MemoryPool {
    /// A pool that keeps what was given back to it until it is trimmed.
    pub(crate) fn new(context: &Arc<Context>) -> Result<Arc<Self>, DriverError> {
        let _bound = context.bind()?;
        // SAFETY: plain data for which all zeros is a value: no handles, no limit.
        let mut properties: sys::CUmemPoolProps = unsafe { std::mem::zeroed() };
        properties.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.handleTypes = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
        properties.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        properties.location.id = context.device() as c_int;
        let mut raw = std::ptr::null_mut();
        // SAFETY: writes one handle; destroyed in `drop`.
        unsafe { call!(cuMemPoolCreate(&raw mut raw, &raw const properties)) }?;
        let pool = Arc::new(Self { context: context.clone(), raw });
        // By default a pool gives everything back at each synchronisation.
        let mut threshold = u64::MAX;
        // SAFETY: the pool lives; reads one 64-bit integer.
        unsafe {
            call!(cuMemPoolSetAttribute(
                raw,
                Attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                (&raw mut threshold).cast()
            ))
        }?;
        Ok(pool)
    }

    pub(super) const fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Bytes held from the driver.
    pub(crate) fn reserved(&self) -> Result<usize, DriverError> {
        let _bound = self.context.bind()?;
        let mut bytes = 0_u64;
        // SAFETY: the pool lives; writes one 64-bit integer.
        unsafe {
            call!(cuMemPoolGetAttribute(
                self.raw,
                Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
                (&raw mut bytes).cast()
            ))
        }?;
        Ok(bytes as usize)
    }

    /// Gives back what nobody uses.
    pub(crate) fn trim(&self) -> Result<(), DriverError> {
        let _bound = self.context.bind()?;
        // SAFETY: the pool lives.
        unsafe { call!(cuMemPoolTrimTo(self.raw, 0)) }
    }
}

impl Drop for MemoryPool {
    fn drop(&mut self) {
        // On a lost device this fails, and there is nothing left to free.
        // SAFETY: created in `new`; memory of it holds an `Arc` of it and was freed.
        let _ = self.context.bind().and_then(|_bound| unsafe { call!(cuMemPoolDestroy(self.raw)) });
    }
}
