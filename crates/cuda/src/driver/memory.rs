use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_uint;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cudarc::driver::sys::{self, CUmemorytype, CUpointer_attribute, CUresult};
use mip_core::ALIGNMENT;
use mip_runtime::memory::HostBlock;

use super::{BorrowedMemory, Context, DriverError, MemoryPool, RawStream};

/// Device memory.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    context: Arc<Context>,
    address: sys::CUdeviceptr,
    len: usize,
    origin: Origin,
}

/// Whose device memory is, and so who frees it.
#[derive(Debug)]
enum Origin {
    /// Allocated for itself.
    Own,
    /// Of the stream-ordered allocator.
    Ordered(Ordered),
    /// Somebody else's, whose owner is dropped with it.
    Borrowed { _memory: BorrowedMemory },
}

/// Where stream-ordered memory comes from, and whether it went back.
#[derive(Debug)]
struct Ordered {
    _pool: Arc<MemoryPool>,
    stream: Arc<RawStream>,
    freed: AtomicBool,
}

impl DeviceMemory {
    /// At least `len` bytes, rounded up so that whole words around the last byte are inside.
    pub(crate) fn allocate(context: &Arc<Context>, len: usize) -> Result<Self, DriverError> {
        let _bound = context.bind()?;
        let bytes = len.max(1).checked_next_multiple_of(ALIGNMENT).unwrap_or(usize::MAX);
        let mut address = 0;
        // SAFETY: writes one address; freed in `drop`.
        unsafe { call!(cuMemAlloc_v2(&raw mut address, bytes)) }?;
        Ok(Self { context: context.clone(), address, len, origin: Origin::Own })
    }

    /// Memory of somebody else, as long as this lives.
    pub(crate) fn borrow(context: &Arc<Context>, memory: &BorrowedMemory) -> Self {
        let origin = Origin::Borrowed { _memory: memory.clone() };
        Self { context: context.clone(), address: memory.address(), len: memory.len(), origin }
    }

    /// As [`DeviceMemory::allocate`], in the order of a stream.
    pub(crate) fn allocate_ordered(
        pool: &Arc<MemoryPool>,
        stream: &Arc<RawStream>,
        len: usize,
    ) -> Result<Self, DriverError> {
        let context = pool.context();
        let _bound = context.bind()?;
        let bytes = len.max(1).checked_next_multiple_of(ALIGNMENT).unwrap_or(usize::MAX);
        let mut address = 0;
        // SAFETY: writes one address; freed by `free_ordered` or in `drop`.
        unsafe { call!(cuMemAllocFromPoolAsync(&raw mut address, bytes, pool.raw, stream.raw)) }?;
        let ordered = Ordered { _pool: pool.clone(), stream: stream.clone(), freed: false.into() };
        Ok(Self { context: context.clone(), address, len, origin: Origin::Ordered(ordered) })
    }

    /// Gives stream-ordered memory back when `stream` gets here; `false` when it is none, or went back before.
    pub(crate) fn free_ordered(&self, stream: &RawStream) -> Result<bool, DriverError> {
        let Origin::Ordered(ordered) = &self.origin else { return Ok(false) };
        let _bound = self.context.bind()?;
        if ordered.freed.swap(true, Ordering::SeqCst) {
            return Ok(false);
        }
        // SAFETY: allocated in `allocate_ordered`, freed once (the mark above). Whoever frees it on a stream has
        // ordered all uses before; later ones are refused (`is_freed`).
        unsafe { call!(cuMemFreeAsync(self.address, stream.raw)) }?;
        Ok(true)
    }

    /// Whether it went back in stream order: nothing may use it any more.
    pub(crate) fn is_freed(&self) -> bool {
        matches!(&self.origin, Origin::Ordered(ordered) if ordered.freed.load(Ordering::SeqCst))
    }

    /// Memory with the given contents, there when this returns.
    pub(crate) fn with_contents(context: &Arc<Context>, bytes: &[u8]) -> Result<Self, DriverError> {
        let memory = Self::allocate(context, bytes.len())?;
        if !bytes.is_empty() {
            // SAFETY: the destination is as long as the source; returns after the source has been read.
            unsafe { call!(cuMemcpyHtoD_v2(memory.address, bytes.as_ptr().cast(), bytes.len())) }?;
        }
        Ok(memory)
    }

    pub(crate) const fn address(&self) -> u64 {
        self.address
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Queues setting every byte.
    pub(crate) fn fill(&self, stream: &RawStream, value: u8) -> Result<(), DriverError> {
        let _bound = self.context.bind()?;
        // SAFETY: the range is the allocation; the caller keeps both until the stream is past it.
        unsafe { call!(cuMemsetD8Async(self.address, value, self.len, stream.raw)) }
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        match &self.origin {
            Origin::Ordered(ordered) => {
                // Every command that used it has ended: on whatever stream it goes back, that is soon enough.
                let _ = self.free_ordered(&ordered.stream);
            }
            Origin::Own => {
                // On a lost device this fails, and there is nothing left to free.
                // SAFETY: allocated in `allocate`; the driver waits for work that uses it.
                let _ = self.context.bind().and_then(|_bound| unsafe { call!(cuMemFree_v2(self.address)) });
            }
            Origin::Borrowed { .. } => {}
        }
    }
}

/// Host memory that the device copies from and to at full speed, and that the host reads as fast as any other
/// (not write-combined). The process's own memory, registered with the driver: it outlives its context, so that
/// results stay readable when a fault costs the context.
#[derive(Debug)]
pub(crate) struct PinnedMemory {
    block: Arc<HostBlock>,
    /// For kernels.
    address: Option<u64>,
}

/// Frees the memory.
#[derive(Debug)]
struct PinnedOwner {
    context: Arc<Context>,
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the pointer is only kept to free the memory; access goes through `HostBlock`'s guards.
unsafe impl Send for PinnedOwner {}
// SAFETY: as for `Send`.
unsafe impl Sync for PinnedOwner {}

impl Drop for PinnedOwner {
    fn drop(&mut self) {
        let unregistered = match self.context.bind() {
            // SAFETY: registered in `PinnedMemory::allocate`; the block that gave access to it is gone.
            Ok(_bound) => unsafe { call!(cuMemHostUnregister(self.start.as_ptr().cast())) }.is_ok(),
            Err(_) => self.context.is_discarded(),
        };
        // What a lost device may still know is not given to anybody else.
        if unregistered {
            // SAFETY: allocated in `PinnedMemory::allocate` with this layout.
            unsafe { dealloc(self.start.as_ptr(), self.layout) };
        }
    }
}

/// Pinning goes by whole pages: two blocks on one page would be registered twice.
const PAGE: usize = 4096;

impl PinnedMemory {
    pub(crate) fn allocate(context: &Arc<Context>, len: usize) -> Result<Self, DriverError> {
        const PORTABLE: c_uint = 1; // pinned for every context, not only this one
        const MAPPED: c_uint = 2; // kernels reach it
        let none = DriverError::no_host_memory;
        let bytes = len.max(1).checked_next_multiple_of(PAGE).ok_or_else(none)?;
        let layout = Layout::from_size_align(bytes, PAGE).map_err(|_| none())?;
        let _bound = context.bind()?;
        // SAFETY: the size is at least a page.
        let start = NonNull::new(unsafe { alloc(layout) }).ok_or_else(none)?;
        #[cfg(target_os = "linux")]
        if let Some(node) = context.numa_node() {
            // Memory that lies elsewhere is as right, only slower.
            let _refused = super::numa::prefer(start, bytes, node);
        }
        // SAFETY: freshly allocated, `bytes` long, reached by nobody else.
        let registered = unsafe {
            start.write_bytes(0, bytes);
            call!(cuMemHostRegister_v2(start.as_ptr().cast(), bytes, PORTABLE | MAPPED))
        };
        if let Err(error) = registered {
            // SAFETY: allocated above with this layout; the driver refused it.
            unsafe { dealloc(start.as_ptr(), layout) };
            return Err(error);
        }
        let mut address = 0;
        // SAFETY: registered above; writes one address.
        let mapped =
            unsafe { call!(cuMemHostGetDevicePointer_v2(&raw mut address, start.as_ptr().cast(), 0)) };
        let address = mapped.is_ok().then_some(address);
        let owner = Box::new(PinnedOwner { context: context.clone(), start, layout });
        // SAFETY: initialised above, reached through the block alone, freed when the owner is dropped.
        let block = unsafe { HostBlock::from_foreign(start, len, owner) };
        Ok(Self { block, address })
    }

    pub(crate) const fn block(&self) -> &Arc<HostBlock> {
        &self.block
    }

    /// Where it begins for kernels, if the driver says.
    pub(crate) const fn address(&self) -> Option<u64> {
        self.address
    }
}

/// Whether host memory is pinned, by whomever: then the device copies from it directly.
pub(crate) fn is_pinned(context: &Context, bytes: &[u8]) -> bool {
    let kind_at = |pointer: *const u8| {
        let mut kind: c_uint = 0;
        let mut attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        let mut value = (&raw mut kind).cast();
        // The plural call: for an address the driver does not know it answers 0, where the singular one reports
        // an error that tools such as compute-sanitizer count.
        // SAFETY: one attribute, one place for its integer, both alive during the call.
        let result = unsafe {
            sys::cuPointerGetAttributes(
                1,
                &raw mut attribute,
                &raw mut value,
                pointer.addr() as sys::CUdeviceptr,
            )
        };
        result == CUresult::CUDA_SUCCESS && kind == CUmemorytype::CU_MEMORYTYPE_HOST as c_uint
    };
    let Ok(_bound) = context.bind() else { return false };
    bytes.last().is_some_and(|last| kind_at(bytes.as_ptr()) && kind_at(last))
}

/// The device that holds the memory at an address; `None` for an address that the driver does not know.
pub(crate) fn device_of(context: &Context, address: u64) -> Option<usize> {
    let _bound = context.bind().ok()?;
    let (mut kind, mut device): (c_uint, c_uint) = (0, 0);
    let mut attributes = [
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    ];
    let mut values = [(&raw mut kind).cast(), (&raw mut device).cast()];
    // SAFETY: two attributes, a place for the integer of each, all alive during the call.
    let result =
        unsafe { sys::cuPointerGetAttributes(2, attributes.as_mut_ptr(), values.as_mut_ptr(), address) };
    let on_device = kind == CUmemorytype::CU_MEMORYTYPE_DEVICE as c_uint;
    (result == CUresult::CUDA_SUCCESS && on_device).then_some(device as usize)
}
