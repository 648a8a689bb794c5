use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

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
    /// The node of the host's memory that is nearest; `None` where the driver knows none.
    pub numa_node: Option<u32>,
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
            numa_node: numa_node(device),
        })
    }
}

/// Drivers before 12.2 do not know the question, and -1 says that there are no nodes.
fn numa_node(device: sys::CUdevice) -> Option<u32> {
    let mut node: c_int = -1;
    // SAFETY: writes one integer.
    unsafe { call!(cuDeviceGetAttribute(&raw mut node, A::CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, device)) }
        .ok()?;
    u32::try_from(node).ok()
}

/// The contexts in use. A process has one primary context a device, so everything opened on a device shares it.
static IN_USE: Mutex<Vec<(usize, Weak<Context>)>> = Mutex::new(Vec::new());

/// A device's primary context, kept for as long as this lives.
#[derive(Debug)]
pub(crate) struct Context {
    device: sys::CUdevice,
    raw: sys::CUcontext,
    /// Where host memory is nearest.
    numa_node: Option<u32>,
    /// Whether it was thrown away: handles made in it must not reach the driver any more, which may have given
    /// their addresses to new ones.
    discarded: AtomicBool,
    /// Calls under way.
    calls: AtomicUsize,
}

// SAFETY: a context may be made current on any thread, on several at once; the handle itself is never written.
unsafe impl Send for Context {}
// SAFETY: as for `Send`.
unsafe impl Sync for Context {}

/// A context that is current on this thread, and is not thrown away, while this lives.
pub(crate) struct Bound<'a> {
    context: &'a Context,
    /// What was current before, where that was another library's choice: "the current device" of the CUDA runtime.
    before: Option<sys::CUcontext>,
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // Where it is gone meanwhile, its own library says so.
            // SAFETY: the driver gave this handle for this thread, and says when it is none any more.
            let _ = unsafe { call!(cuCtxSetCurrent(before)) };
        }
        self.context.calls.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Context {
    /// The device's context; made when nobody has it.
    pub(crate) fn retain(index: usize) -> Result<Arc<Self>, DriverError> {
        let device = device(index)?;
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        in_use.retain(|(_, context)| context.strong_count() > 0);
        let mut same =
            in_use.iter().filter(|(i, _)| *i == index).filter_map(|(_, context)| context.upgrade());
        if let Some(context) = same.find(|context| !context.is_discarded()) {
            return Ok(context);
        }
        let mut raw = std::ptr::null_mut();
        // SAFETY: writes one handle; released in `drop`.
        unsafe { call!(cuDevicePrimaryCtxRetain(&raw mut raw, device)) }?;
        let context = Arc::new(Self {
            device,
            raw,
            numa_node: numa_node(device),
            discarded: false.into(),
            calls: 0.into(),
        });
        in_use.push((index, Arc::downgrade(&context)));
        Ok(context)
    }

    /// Makes this the calling thread's context. Keep what is returned until the calls that need it are made. A thread that
    /// has the context of another device gets that one back then.
    pub(crate) fn bind(&self) -> Result<Bound<'_>, DriverError> {
        // Counted before looking, so that `discard` waits for whoever did not see its mark.
        self.calls.fetch_add(1, Ordering::SeqCst);
        let mut bound = Bound { context: self, before: None };
        if self.is_discarded() {
            return Err(DriverError::discarded());
        }
        let mut current = std::ptr::null_mut();
        // SAFETY: writes one handle.
        unsafe { call!(cuCtxGetCurrent(&raw mut current)) }?;
        if current != self.raw {
            // SAFETY: the context is retained until `drop`.
            unsafe { call!(cuCtxSetCurrent(self.raw)) }?;
            bound.before = (!current.is_null()).then_some(current);
        }
        Ok(bound)
    }

    /// The device's number at the driver.
    pub(super) const fn device(&self) -> sys::CUdevice {
        self.device
    }

    /// The node of the host's memory that is nearest to the device.
    pub(super) const fn numa_node(&self) -> Option<u32> {
        self.numa_node
    }

    /// Whether the context was thrown away.
    pub(crate) fn is_discarded(&self) -> bool {
        self.discarded.load(Ordering::SeqCst)
    }

    /// Throws the device's context away with everything in it, so that the next `retain` makes a fresh one. This
    /// one fails from now on. For a context that a fault made useless: also other libraries' handles go.
    pub(crate) fn discard(&self) -> Result<(), DriverError> {
        const LONGEST: Duration = Duration::from_secs(10);
        let _nobody_retains = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        if self.discarded.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        // On a faulted device calls return at once.
        let start = Instant::now();
        while self.calls.load(Ordering::SeqCst) > 0 {
            if start.elapsed() > LONGEST {
                return Err(DriverError::busy());
            }
            std::thread::yield_now();
        }
        // SAFETY: no call is under way and none begins, `bind` refuses. Memory that the host still reads is its
        // own (`PinnedMemory`), only registered here.
        unsafe { call!(cuDevicePrimaryCtxReset_v2(self.device)) }
    }

    /// Free and total bytes of device memory.
    pub(crate) fn memory_info(&self) -> Result<(usize, usize), DriverError> {
        let _bound = self.bind()?;
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
