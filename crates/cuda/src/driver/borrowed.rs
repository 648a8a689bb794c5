use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Device memory that belongs to somebody else: a decoder's surface, another library's tensor.
#[derive(Clone)]
pub struct BorrowedMemory {
    address: u64,
    len: usize,
    _owner: Arc<dyn Any + Send + Sync>,
}

impl BorrowedMemory {
    /// `len` bytes from `address` (a `CUdeviceptr`) on. `owner` is dropped when the last image made of it is no longer in use;
    /// whatever its `Drop` does (giving the surface back) happens then.
    ///
    /// # Safety
    /// The bytes are memory of the GPU that this is given to, reachable from its primary context, until `owner` is dropped. What
    /// was written there is complete (the stream that did it has been waited for), or it is ordered before whatever reads it
    /// here: runs come after an event recorded behind it. Nobody writes there until `owner` is dropped, or what they
    /// write is ordered behind.
    pub unsafe fn new(address: u64, len: usize, owner: Arc<dyn Any + Send + Sync>) -> Self {
        Self { address, len, _owner: owner }
    }

    /// Where it begins.
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// Its length in bytes.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl fmt::Debug for BorrowedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BorrowedMemory({} bytes at {:#x})", self.len, self.address)
    }
}

/// A stream that belongs to somebody else: another library's, which orders its work by it.
#[derive(Clone)]
pub struct BorrowedStream {
    handle: u64,
    _owner: Arc<dyn Any + Send + Sync>,
}

impl BorrowedStream {
    /// The stream behind `handle`: a `CUstream`, 1 for the legacy default stream, 2 for the calling thread's default stream.
    /// `owner` is dropped when the last handle made of it is gone.
    ///
    /// # Safety
    /// Until `owner` is dropped it is a stream of the primary context of the GPU that this is given to, and is not destroyed.
    pub unsafe fn new(handle: u64, owner: Arc<dyn Any + Send + Sync>) -> Self {
        Self { handle, _owner: owner }
    }

    /// The handle.
    pub const fn handle(&self) -> u64 {
        self.handle
    }
}

impl fmt::Debug for BorrowedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BorrowedStream({:#x})", self.handle)
    }
}
