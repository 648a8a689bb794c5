use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_uint;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::sys::{self, CUresult};

use super::{Context, DriverError, RawStream};

/// Registration goes by whole pages, and a page of its own is never registered twice.
const PAGE: Layout = match Layout::from_size_align(4096, 4096) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

/// A number in the process's own memory that streams write when they get to a point: how far they were stays
/// readable after a fault, when the driver answers nothing any more.
#[derive(Debug)]
pub(crate) struct Mark {
    context: Arc<Context>,
    word: NonNull<AtomicU32>,
    address: sys::CUdeviceptr,
}

// SAFETY: the word is only reached as an atomic, by the host, and by the device through stream memory operations.
unsafe impl Send for Mark {}
// SAFETY: as for `Send`.
unsafe impl Sync for Mark {}

impl Mark {
    /// A mark at 0.
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, DriverError> {
        const PORTABLE_AND_MAPPED: c_uint = 1 | 2;
        let _bound = context.bind()?;
        // SAFETY: the layout is a page.
        let page = NonNull::new(unsafe { alloc_zeroed(PAGE) }).ok_or_else(DriverError::no_host_memory)?;
        let mut address = 0;
        // SAFETY: a page of our own, freed only after it is unregistered; writes one address.
        let mapped = unsafe {
            let start = page.as_ptr().cast();
            call!(cuMemHostRegister_v2(start, PAGE.size(), PORTABLE_AND_MAPPED))
                .and_then(|()| call!(cuMemHostGetDevicePointer_v2(&raw mut address, start, 0)))
        };
        // Dropped with the error, if there is one: what the driver may still know is not freed.
        let mark = Self { context: context.clone(), word: page.cast(), address };
        mapped.map(|()| mark)
    }

    /// The number of the last point reached.
    pub(crate) fn read(&self) -> u32 {
        // SAFETY: the page lives as long as `self` and is aligned; it is only reached as an atomic.
        unsafe { self.word.as_ref() }.load(Ordering::Acquire)
    }
}

impl RawStream {
    /// Writes `value` when everything queued so far has ended well. The caller keeps the mark until then.
    pub(crate) fn write_mark(&self, mark: &Mark, value: u32) -> Result<(), DriverError> {
        let _bound = self.context.bind()?;
        // SAFETY: the address is that of a registered page, aligned; stream and mark live, the mark until the
        // stream is past the write (the stream that owns it waits before it goes).
        let result = unsafe { sys::cuStreamWriteValue32_v2(self.raw, mark.address, value, 0) };
        super::error::check("cuStreamWriteValue32", result)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let page = self.word.as_ptr().cast::<u8>();
        let unregistered = match self.context.bind() {
            Ok(_bound) => {
                // SAFETY: registered in `new`, if that succeeded; else the driver refuses.
                let result = unsafe { sys::cuMemHostUnregister(page.cast()) };
                result == CUresult::CUDA_SUCCESS || result == CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
            }
            Err(_) => self.context.is_discarded(),
        };
        // What a lost device may still know is not given to anybody else.
        if unregistered {
            // SAFETY: allocated in `new` with this layout.
            unsafe { dealloc(page, PAGE) };
        }
    }
}
